"""Depth, heads as arrays, sums that close as printed, and the loss of the label."""

from __future__ import annotations

import math
import random

import by_hand
import numpy as np
import pytest
from measuring import First
from vit_data import block, rows, run as runs


@pytest.fixture(scope="module")
def truth(first: First) -> dict:
    state = {k: v.double().numpy() for k, v in first.model.state_dict().items()}
    return by_hand.forward(state, first.x()[0].double().numpy()) | {"state": state}


def test_cls_after_every_block(first: First, truth: dict) -> None:
    depth = first.run.dog.depth
    states = np.array([truth["e"][0], *(b["out"][0] for b in truth["blocks"])])
    np.testing.assert_allclose([v.values for v in depth.cls], states[1:], atol=3e-5)
    cosines = states @ states[-1] / np.linalg.norm(states, axis=1) / np.linalg.norm(states[-1])
    np.testing.assert_allclose([depth.start, *depth.cosines], cosines, atol=1e-5)
    assert depth.cosines[-1] == pytest.approx(1)


def test_named_rows(first: First, truth: dict) -> None:
    depth, blocks, state = first.run.dog.depth, truth["blocks"], truth["state"]
    expected = {0: truth["e"], 1: blocks[0]["out"], 2: blocks[1]["out"], 12: blocks[11]["out"]}
    assert set(depth.after) == set(expected)
    for number, matrix in expected.items():
        assert set(depth.after[number]) == {"CLS", "P1", "P196"}
        for name, vector in depth.after[number].items():
            np.testing.assert_allclose(vector.values, matrix[rows.index(name)], atol=3e-5)
    norm = by_hand.norm(blocks[11]["out"], state["norm.weight"], state["norm.bias"])
    for found, matrix in ((depth.norm, norm), (depth.update, blocks[0]["update"]), (depth.middle, blocks[0]["u"])):
        for name, vector in found.items():
            np.testing.assert_allclose(vector.values, matrix[rows.index(name)], atol=3e-5)
    ln2 = by_hand.norm(blocks[0]["u"], state["blocks.0.norm2.weight"], state["blocks.0.norm2.bias"])
    np.testing.assert_allclose(first.run.dog.block1.ln2_cls.values, ln2[0], atol=3e-5)


def test_heads_as_arrays(first: First, truth: dict) -> None:
    one, found = truth["blocks"][0], block.heads(first.run)
    assert len(found) == 3
    for number, head in enumerate(found):
        for part, values in enumerate((head.q, head.k, head.v)):
            np.testing.assert_allclose(values, one["qkv"][:, part * 192 + number * 64:][:, :64], atol=5e-3)
        np.testing.assert_allclose(head.a, one["weights"][number], atol=2e-3)
        np.testing.assert_allclose(head.a.sum(axis=1), 1)
        np.testing.assert_allclose(head.h, one["joined"][:, number * 64:][:, :64], atol=5e-3)


def test_cls_attention_of_every_head(first: First, truth: dict) -> None:
    for number, found in enumerate(first.run.dog.block1.cls_attention, 1):
        assert (found.block, found.head, found.query) == (1, number, "CLS")
        np.testing.assert_allclose(found.values, truth["blocks"][0]["weights"][number - 1][0], atol=1e-6)
        assert rows.index(found.strongest) == 1 + int(np.argmax(found.values[1:]))


@pytest.mark.parametrize("terms, total, digits, decimals", [
    ([-0.704, 1.167], 0.463, 3, (3, 3)),
    ([0.1004, 0.1004], 0.2008, 3, (4, 4)),
    ([-0.001, -0.0066, 15.4822, 0.0017], 15.4763, 4, (4, 4)),
    ([1 / 3, 1 / 3, 1 / 3], 1.0, 2, (6, 5)),
])
def test_closing(terms: list[float], total: float, digits: int, decimals: tuple[int, int]) -> None:
    assert block.closing(terms, total, digits) == decimals


def test_closing_always_closes() -> None:
    dice = random.Random(2)
    for _ in range(3000):
        terms = [dice.gauss(0, 5) for _ in range(dice.randint(2, 5))]
        n, total = block.closing(terms, sum(terms), dice.randint(2, 4))
        assert block.closes(terms, sum(terms), n, total) and total >= 2


def test_products_need_whole_rows() -> None:
    whole, part = runs.Vector.of([1.0, 2.0, -3.0]), runs.Vector(length=3, first=[1.0])
    assert block.products(whole, whole).values == [1.0, 4.0, 9.0]
    assert block.products(whole, part) is None


def test_label_loss(first: First) -> None:
    prediction = first.run.dog.prediction
    name, loss = block.label_loss(prediction)
    share = prediction.known.probability if prediction.known else prediction.top[0].probability
    assert loss == pytest.approx(-math.log(share), abs=1e-4)
    assert name == (prediction.known or prediction.top[0]).label
    unknown = prediction.model_copy(update={"known": None, "loss": None})
    assert block.label_loss(unknown) == (prediction.top[0].label, pytest.approx(-math.log(prediction.top[0].probability)))


def test_gelu() -> None:
    for z in (-3.0, -0.091, 0.0, 0.248, 2.5):
        assert block.gelu(z) == pytest.approx(by_hand.erf(z / math.sqrt(2)) * z / 2 + z / 2)
