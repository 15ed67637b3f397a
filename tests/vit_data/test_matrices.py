"""Whole matrices of a run, and the head worked out from them, against independent formulas."""

from __future__ import annotations

import math

import by_hand
import numpy as np
import pytest
from measuring import First
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from vit_data import head
from vit_data.run import Grid, Matrices


@pytest.fixture(scope="module")
def measured(first: First) -> tuple[Matrices, dict, dict]:
    state = {k: v.double().numpy() for k, v in first.model.state_dict().items()}
    return first.run.dog.matrices, by_hand.forward(state, first.x()[0].double().numpy()), state


def close(grid: Grid, expected: np.ndarray) -> None:
    """Half precision: eleven bits of a number, or a step of the smallest ones."""
    assert grid.array().shape == expected.shape
    np.testing.assert_allclose(grid.array(), expected, rtol=1e-3, atol=4e-5)


def test_matrices_are_those_of_an_independent_pass(measured: tuple) -> None:
    matrices, truth, state = measured
    block = truth["blocks"][0]
    close(matrices.p, state["pos_embed"][0])
    close(matrices.e, truth["e"])
    close(matrices.x, block["ln1"])
    for name, start in (("q", 0), ("k", 192), ("v", 384)):
        close(getattr(matrices, name), block["qkv"][:, start : start + 64])
    close(matrices.out, block["out"])


def test_scores_and_weights_of_the_head(measured: tuple) -> None:
    matrices, truth, _ = measured
    block = truth["blocks"][0]
    q, k = block["qkv"][:, :64], block["qkv"][:, 192:256]
    by_coordinates = sum(np.outer(q[:, i], k[:, i]) for i in range(64)) / 8
    np.testing.assert_allclose(head.scores(matrices), by_coordinates, atol=2e-3)
    weights = head.weights(matrices)
    np.testing.assert_allclose(weights, block["weights"][0], atol=2e-5)
    np.testing.assert_allclose(weights.sum(axis=1), 1)


@given(st.lists(st.lists(st.floats(-60000, 60000), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_grid_keeps_half_precision(values: list[list[float]]) -> None:
    np.testing.assert_allclose(Grid.of(values).array(), values, rtol=2**-11, atol=2**-25)


def test_a_grid_cuts_what_half_precision_cannot_hold() -> None:
    assert Grid.of([[1e9, -1e9]]).array().tolist() == [[65504.0, -65504.0]]


@pytest.mark.parametrize("half", ["AAAA", "AAB8AH4=", "not base64"])
def test_a_grid_refuses_other_sizes_and_infinities(half: str) -> None:
    with pytest.raises(ValidationError):
        Grid(rows=1, columns=2, half=half)


def test_sinusoidal_vectors_follow_the_formula() -> None:
    table = head.sinusoidal(50, 8)
    for position in (0, 1, 7, 49):
        for i in range(4):
            angle = position / 10_000 ** (2 * i / 8)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_the_made_up_step() -> None:
    assert head.EXAMPLE_STEP.new == pytest.approx(-0.01)
