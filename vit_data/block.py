"""Block 1 and the classifier for the slides: heads as arrays, sums that close as printed, the loss of the label.

Arrays come from half-precision grids and are for pictures; printed numbers come from the run's own vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .head import scores, softmax_rows
from .run import Prediction, Run, Vector


@dataclass(frozen=True)
class Head:
    """One head of block 1; rows and columns of ``s`` and ``a`` are tokens, CLS first."""

    q: np.ndarray  # 197 × 64
    k: np.ndarray
    v: np.ndarray
    s: np.ndarray  # 197 × 197, Q Kᵀ / √64
    a: np.ndarray  # 197 × 197, softmax of each row of S
    h: np.ndarray  # 197 × 64, messages


def heads(run: Run) -> list[Head] | None:
    """The dog's heads in block 1, or None where the run does not hold their matrices."""
    m = run.dog.matrices
    if m is None or m.messages is None or len(m.more_heads) + 1 != run.model.heads:
        return None
    found = []
    for grids, h in zip((m, *m.more_heads), np.split(m.messages.array(), run.model.heads, axis=1), strict=True):
        s = scores(grids)
        found.append(Head(q=grids.q.array(), k=grids.k.array(), v=grids.v.array(), s=s, a=softmax_rows(s), h=h))
    return found


def closing(terms: Sequence[float], total: float, digits: int = 3, most: int = 6) -> tuple[int, int]:
    """Decimals for the terms and for the total of a sum, so that the printed terms add up to the printed total.

    The fewest decimals from ``digits`` on with which they agree, the same for both; where none up to ``most`` do, the
    terms get ``most`` and the total as many as agree.
    """
    for n in range(digits, most + 1):
        if closes(terms, total, n, n):
            return n, n
    return most, next((n for n in range(most - 1, -1, -1) if closes(terms, total, most, n)), 0)


def closes(terms: Sequence[float], total: float, digits: int, total_digits: int) -> bool:
    """Whether terms printed with ``digits`` decimals add up to the total printed with ``total_digits``."""
    added = sum(round(t * 10**digits) for t in terms)  # whole numbers, so that nothing is lost in adding
    scale = 10 ** (digits - total_digits)
    return abs(added - scale * round(total * 10**total_digits)) * 2 <= scale - (scale == 1)


def products(h: Vector, weights: Vector) -> Vector | None:
    """Feature by feature h × w, or None where the run does not know both rows whole."""
    if h.values is None or weights.values is None:
        return None
    return Vector.of(a * b for a, b in zip(h.values, weights.values, strict=True))


def label_loss(prediction: Prediction) -> tuple[str, float]:
    """The label that the loss asks for and the cross-entropy, nats: the known breed, or the top label where none is known."""
    known, top = prediction.known, prediction.top[0]
    if known is None or known.index == top.index:
        return top.label, prediction.loss if prediction.loss is not None else -math.log(top.probability)
    return known.label, -math.log(max(known.probability, 1e-300))


def gelu(value: float) -> float:
    """z · Φ(z), the exact GELU."""
    return value * 0.5 * (1 + math.erf(value / math.sqrt(2)))
