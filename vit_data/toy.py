"""The four-pixel toy of section 2: two patches of 2 × 2 pixels through one small linear layer, worked out in numpy.

Nothing here is measured: the pixels and weights are chosen so that every product can be followed by eye. The results
are computed, so that a change of a pixel or weight changes every slide that shows one.
"""

from __future__ import annotations

import numpy as np

from .run import Toy, ToyPatch

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


def flatten(pixels: np.ndarray) -> np.ndarray:
    """(4, 3) pixels → (12,) row: all R, then G, then B, each in reading order."""
    return pixels.T.reshape(-1)


def toy() -> Toy:
    """Both patches through ``c = W x + b``, with every product and sum."""
    patches = {}
    for name, pixels in PATCHES.items():
        x = flatten(pixels)
        patches[name] = ToyPatch(pixels=[tuple(int(v) for v in p) for p in pixels], x=x.tolist(), products=(WEIGHTS * x).tolist(), c=(WEIGHTS @ x + BIAS).tolist())
    return Toy(entries=list(ENTRIES), weights=WEIGHTS.tolist(), bias=BIAS.tolist(), parameters=WEIGHTS.size + BIAS.size, patches=patches)
