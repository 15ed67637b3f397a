"""One attention head worked out from its whole matrices, for pictures, and the made-up numbers of the section around it.

Rows and columns of S and A are tokens, CLS first. Half precision goes in, so three digits come out: what a slide
prints comes from the run's own rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .run import Matrices


def scores(matrices: Matrices) -> np.ndarray:
    """S = Q Kᵀ / √width, (197, 197)."""
    q, k = matrices.q.array(), matrices.k.array()
    return q @ k.T / np.sqrt(q.shape[1])


def softmax_rows(values: np.ndarray) -> np.ndarray:
    """Each row turned into shares that sum to one."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def weights(matrices: Matrices) -> np.ndarray:
    """A: the softmax of each row of S, (197, 197)."""
    return softmax_rows(scores(matrices))


@dataclass(frozen=True)
class Step:
    """One made-up step of gradient descent on one entry of a table."""

    old: float
    rate: float
    gradient: float

    @property
    def new(self) -> float:
        return self.old - self.rate * self.gradient


EXAMPLE_STEP = Step(old=0.020, rate=0.1, gradient=0.30)


def sinusoidal(positions: int, width: int) -> np.ndarray:
    """Fixed position vectors (positions, width): sines in even columns, cosines in odd ones, ever slower along the row."""
    turn = np.arange(positions)[:, None] / 10_000 ** (2 * (np.arange(width) // 2) / width)
    return np.where(np.arange(width) % 2 == 0, np.sin(turn), np.cos(turn))
