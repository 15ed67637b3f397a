"""The four-pixel toy of section 2: two patches of 2 × 2 pixels through one small linear layer, worked out in numpy.

Nothing here is measured: the pixels and weights are chosen so that every product can be followed by eye. The results
are computed, so that a change of a pixel or weight changes every slide that shows one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .run import Toy, ToyMessage, ToyPatch, significant

PIXELS = ("A", "B", "C", "D")  # reading order: top left, top right, bottom left, bottom right
CHANNELS = ("R", "G", "B")
ENTRIES = tuple(f"{pixel}.{channel}" for channel in CHANNELS for pixel in PIXELS)  # as F.unfold flattens: channel first

# RGB from 0 to 1, one row a pixel
PATCHES = {
    "P1": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float),
    "P2": np.array([[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 1]], dtype=float),
}
# output 1 adds all reds; output 2 compares the greens of the upper and the lower row
WEIGHTS = np.array([[1, 1, 1, 1] + 8 * [0], 4 * [0] + [1, 1, -1, -1] + 4 * [0]], dtype=float)  # outputs × inputs, as nn.Linear keeps them
BIAS = np.array([0.5, -0.5])
# the attention example: three sources with values of two features
MESSAGE_WEIGHTS = np.array([0.6, 0.3, 0.1])
MESSAGE_VALUES = np.array([[2, 0], [0, 1], [1, 1]], dtype=float)


def flatten(pixels: np.ndarray) -> np.ndarray:
    """(4, 3) pixels → (12,) row: all R, then G, then B, each in reading order."""
    return pixels.T.reshape(-1)


def toy() -> Toy:
    """Both patches through ``c = W x + b``, with every product and sum."""
    patches = {}
    for name, pixels in PATCHES.items():
        x = flatten(pixels)
        patches[name] = ToyPatch(
            pixels=[tuple(int(v) for v in p) for p in pixels], x=x.tolist(), products=(WEIGHTS * x).tolist(), c=(WEIGHTS @ x + BIAS).tolist()
        )
    return Toy(entries=list(ENTRIES), weights=WEIGHTS.tolist(), bias=BIAS.tolist(), parameters=WEIGHTS.size + BIAS.size, patches=patches, message=message())


def message(weights: np.ndarray = MESSAGE_WEIGHTS, values: np.ndarray = MESSAGE_VALUES) -> ToyMessage:
    """Weight × value row for each source, and their sum: weights (sources,), values (sources, features)."""
    parts = weights[:, None] * values
    plain = [[significant(v) for v in row] for row in parts.tolist()]
    return ToyMessage(weights=weights.tolist(), values=values.tolist(), contributions=plain, total=[significant(v) for v in parts.sum(axis=0).tolist()])


@dataclass(frozen=True)
class Term:
    """One weighted input on its way into an output, and the sum up to it."""

    index: int  # one-based place in the row
    entry: str
    x: float
    weight: float
    product: float
    total: float


def walk(toy: Toy, patch: str, output: int) -> list[Term]:
    """The inputs whose weight into a one-based ``output`` is not zero, in the row's order, before the bias is added."""
    if output < 1:
        raise IndexError(f"outputs count from 1, not {output}")
    x, products = toy.patches[patch].x, toy.patches[patch].products[output - 1]
    terms: list[Term] = []
    for i, (entry, value, weight, product) in enumerate(zip(toy.entries, x, toy.weights[output - 1], products), 1):
        if weight:
            terms.append(Term(i, entry, value, weight, product, (terms[-1].total if terms else 0.0) + product))
    return terms
