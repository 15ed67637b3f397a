"""Counts of tokens and scores against sums made in other ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vit_data import run
from vit_data.cost import Cost, Head

sizes = st.tuples(st.integers(1, 40), st.integers(1, 64)).map(lambda pair: Cost(pair[0] * pair[1], pair[1]))


@pytest.mark.parametrize(("image", "patch", "tokens", "scores"), [
    (224, 32, 50, 2_500), (224, 16, 197, 38_809), (224, 8, 785, 616_225), (384, 32, 145, 21_025), (384, 16, 577, 332_929), (384, 8, 2_305, 5_313_025),
])
def test_counts(image: int, patch: int, tokens: int, scores: int) -> None:
    cost = Cost(image, patch)
    assert (cost.tokens, cost.scores) == (tokens, scores)


@given(sizes)
def test_rows_and_pairs_counted_one_by_one(cost: Cost) -> None:
    corners = [(y, x) for y in range(0, cost.image, cost.patch) for x in range(0, cost.image, cost.patch)]
    assert cost.patches == len(corners)
    assert cost.tokens == len(["CLS", *corners])
    assert cost.scores == sum(cost.tokens for _ in range(cost.tokens))
    assert cost.patches * cost.patch**2 == cost.image**2


@given(sizes)
def test_half_the_patch_is_as_much_work_as_twice_the_picture(cost: Cost) -> None:
    finer, larger = Cost(2 * cost.image, 2 * cost.patch), Cost(2 * cost.image, cost.patch)
    assert finer.scores == cost.scores
    assert larger.patches == 4 * cost.patches
    assert 4 <= larger.growth(cost) < 16  # sixteen without CLS
    assert larger.growth(finer) == larger.growth(cost)


@pytest.mark.parametrize(("image", "patch"), [(224, 15), (224, 0), (0, 16), (16, 32), (-32, 16)])
def test_sizes_that_do_not_fit(image: int, patch: int) -> None:
    with pytest.raises(ValueError, match="do not fill"):
        Cost(image, patch)


@pytest.mark.parametrize("name", ["published", "standin"])
def test_the_model_agrees(name: str) -> None:
    model = run.load(name).model
    cost = Cost(model.image, model.patch)
    assert (cost.grid, cost.patches, cost.tokens) == (model.grid, model.patches, model.tokens)
    assert cost.scores == model.work.scores_per_head
    assert cost.total(model.heads, model.depth) == model.work.scores_total
    assert Head(model.width, model.classes).total == model.parameters.head


def test_a_head_of_two_classes() -> None:
    head = Head(192, 2)
    assert (head.weights, head.biases, head.total) == (384, 2, 386)
