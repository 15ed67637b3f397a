"""A drawn stripe and the same stripe at another place: the reference deck's example of a local pattern that moves.

Chosen, not measured. The move is a whole number of patches, so the pixels inside the patches stay the same.
"""

from __future__ import annotations

import numpy as np

from . import rows

HEIGHT = 3  # patches
BEFORE, AFTER = (3, 4), (9, 11)  # one-based row and column of the stripe's upper patch
GROUND, INK = 128, 236  # 8-bit grey values


def cells(place: tuple[int, int], columns: int = 14) -> list[str]:
    """Names of the patches that hold the stripe, from the top."""
    return [rows.name((place[0] - 1 + i) * columns + place[1]) for i in range(HEIGHT)]


def middle(place: tuple[int, int], columns: int = 14) -> str:
    """The patch in the stripe's middle."""
    return cells(place, columns)[HEIGHT // 2]


def picture(place: tuple[int, int], columns: int = 14, size: int = 16) -> np.ndarray:
    """RGB uint8 (224, 224, 3): a light vertical stripe, half a patch wide, on grey."""
    image = np.full((columns * size, columns * size, 3), GROUND, dtype=np.uint8)
    top, left = (place[0] - 1) * size, (place[1] - 1) * size + size // 4
    image[top : top + HEIGHT * size, left : left + size // 2] = INK
    return image
