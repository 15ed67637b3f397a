"""The four-pixel toy against torch's own layer and unfold, and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from vit_data import run, toy

RUNS = ["published", "standin"]


@pytest.fixture(params=["computed", *RUNS])
def example(request: pytest.FixtureRequest) -> run.Toy:
    """The toy as it is computed now, and as the committed runs hold it."""
    return toy.toy() if request.param == "computed" else run.load(request.param).toy


def test_committed_runs_hold_the_toy_of_today() -> None:
    assert [run.load(name).toy for name in RUNS] == [toy.toy()] * len(RUNS)


def test_flatten_order_is_that_of_unfold(example: run.Toy) -> None:
    for patch in example.patches.values():
        image = torch.tensor(patch.pixels, dtype=torch.float64).reshape(1, 2, 2, 3).permute(0, 3, 1, 2)
        assert torch.nn.functional.unfold(image, kernel_size=2, stride=2)[0, :, 0].tolist() == patch.x


def test_flatten_order_of_any_patch() -> None:
    pixels = np.random.default_rng(0).random((4, 3))
    image = torch.from_numpy(pixels).reshape(1, 2, 2, 3).permute(0, 3, 1, 2)
    assert toy.flatten(pixels).tolist() == torch.nn.functional.unfold(image, kernel_size=2)[0, :, 0].tolist()


def test_entries_name_their_values(example: run.Toy) -> None:
    for patch in example.patches.values():
        for entry, value in zip(example.entries, patch.x, strict=True):
            pixel, channel = entry.split(".")
            assert patch.pixels["ABCD".index(pixel)]["RGB".index(channel)] == value


def test_embeddings_are_those_of_a_linear_layer(example: run.Toy) -> None:
    layer = torch.nn.Linear(12, 2, dtype=torch.float64)
    layer.load_state_dict({"weight": torch.tensor(example.weights, dtype=torch.float64), "bias": torch.tensor(example.bias, dtype=torch.float64)})
    rows = torch.tensor([p.x for p in example.patches.values()], dtype=torch.float64)
    assert layer(rows).tolist() == [p.c for p in example.patches.values()]
    assert example.parameters == sum(p.numel() for p in layer.parameters()) == 26


def test_embeddings_are_the_lectures(example: run.Toy) -> None:
    assert {name: p.c for name, p in example.patches.items()} == {"P1": [2.5, -0.5], "P2": [0.5, -2.5]}


@pytest.mark.parametrize("output", [1, 2])
def test_walk_ends_at_the_output(example: run.Toy, output: int) -> None:
    for name, patch in example.patches.items():
        terms, total = toy.walk(example, name, output), 0.0
        for term in terms:
            assert example.entries[term.index - 1] == term.entry
            assert term.x == patch.x[term.index - 1]
            assert term.weight == example.weights[output - 1][term.index - 1] != 0
            total += term.x * term.weight
            assert (term.product, term.total) == (term.x * term.weight, total)
        assert total + example.bias[output - 1] == patch.c[output - 1]
        assert len(terms) == sum(1 for w in example.weights[output - 1] if w)


def test_walk_with_a_changed_weight(example: run.Toy) -> None:
    weights = [list(row) for row in example.weights]
    weights[0][7] = -2.0
    changed = example.model_copy(update={"weights": weights, "patches": {
        name: p.model_copy(update={"products": [[w * x for w, x in zip(row, p.x)] for row in weights]}) for name, p in example.patches.items()}})
    last = toy.walk(changed, "P1", 1)[-1]
    assert (last.index, last.entry, last.product) == (8, "D.G", -2.0 * example.patches["P1"].x[7])
    assert last.total == toy.walk(example, "P1", 1)[-1].total + last.product


@pytest.mark.parametrize(("patch", "output", "error"), [("P3", 1, KeyError), ("P1", 0, IndexError), ("P1", 3, IndexError)])
def test_walk_refuses_what_is_not_there(example: run.Toy, patch: str, output: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        toy.walk(example, patch, output)


def test_message_is_the_lectures(example: run.Toy) -> None:
    assert example.message == run.ToyMessage(weights=[0.6, 0.3, 0.1], values=[[2, 0], [0, 1], [1, 1]],
                                             contributions=[[1.2, 0], [0, 0.3], [0.1, 0.1]], total=[1.3, 0.4])
    assert sum(example.message.weights) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_message_is_a_row_of_the_product_a_v(seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights, values = torch.from_numpy(draw.random(5)).softmax(0), torch.from_numpy(draw.normal(size=(5, 4)))
    found = toy.message(weights.numpy(), values.numpy())
    assert found.total == pytest.approx((weights @ values).tolist(), rel=1e-6)
    for w, value, part in zip(found.weights, found.values, found.contributions, strict=True):
        assert part == pytest.approx([w * v for v in value], rel=1e-6)


def test_printed_message_adds_up(example: run.Toy) -> None:
    """With one decimal, as the slide prints it, nothing is rounded and every column adds up."""
    found = example.message
    for feature, total in enumerate(found.total):
        assert sum(round(10 * part[feature]) for part in found.contributions) == round(10 * total)
        assert all(part[feature] == round(part[feature], 1) for part in found.contributions)
