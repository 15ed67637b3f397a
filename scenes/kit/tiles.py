"""Many small pictures that move together: patches that leave their grid, pixel rows that unroll into a vector."""

from __future__ import annotations

import numpy as np
from manim import Animation, Group, Mobject, linear
from PIL import Image

from . import theme
from .shapes import picture


class Tiles(Group):
    """Small pictures drawn as one image, because Manim pays for every image anew in every frame.

    ``blocks`` are RGB arrays; ``boxes`` (n, 4) holds centre x, centre y, width and height of each; ``veils`` (n) says
    how much paper covers each, from 0 to 1.
    """

    def __init__(self, blocks: list[np.ndarray], boxes: np.ndarray, veils: np.ndarray | float = 0.0, smooth: bool = False):
        self.blocks = [Image.fromarray(np.ascontiguousarray(b)) for b in blocks]
        self.how = Image.Resampling.BICUBIC if smooth else Image.Resampling.NEAREST
        self.image = picture(np.zeros((1, 1, 4), dtype=np.uint8), 1.0)
        super().__init__(self.image)
        self.show(np.asarray(boxes, dtype=float), np.broadcast_to(np.asarray(veils, dtype=float), len(blocks)))

    def show(self, boxes: np.ndarray, veils: np.ndarray) -> None:
        """Put every tile at its box."""
        self.boxes, self.veils = boxes, veils
        flip, half = np.array([1, -1]), boxes[:, 2:] / 2
        edges = np.rint(np.stack([boxes[:, :2] * flip - half, boxes[:, :2] * flip + half], axis=1) / theme.PX).astype(int)
        low, high = edges[:, 0].min(axis=0), edges[:, 1].max(axis=0)
        canvas = np.zeros((*(high - low)[::-1], 4), dtype=np.uint8)
        for block, ((x0, y0), (x1, y1)), veil in zip(self.blocks, edges - low, veils):
            if x1 > x0 and y1 > y0:
                tile = np.asarray(block.resize((int(x1 - x0), int(y1 - y0)), self.how), dtype=float)
                canvas[y0:y1, x0:x1, :3] = np.rint(tile + veil * (theme.rgb(theme.PAPER) - tile))
                canvas[y0:y1, x0:x1, 3] = 255
        self.image.pixel_array, self.image.orig_alpha_pixel_array = canvas, canvas[..., 3].copy()
        width, height = (high - low) * theme.PX
        self.image.stretch_to_fit_width(width).stretch_to_fit_height(height)
        self.image.move_to(np.append((low + high) / 2 * theme.PX * flip, 0))

    @staticmethod
    def boxes_of(*places: Mobject) -> np.ndarray:
        """The boxes (n, 4) of mobjects that tiles should lie on."""
        return np.array([[*p.get_center()[:2], p.width, p.height] for p in places])


class Glide(Animation):
    """Tiles go to new boxes, one a little after the other: with ``lag`` 0 all at once, with 1 one by one."""

    def __init__(self, tiles: Tiles, boxes: np.ndarray, veils: np.ndarray | float | None = None, lag: float = 0.0, run_time: float = 1.0):
        veils = tiles.veils if veils is None else np.broadcast_to(np.asarray(veils, dtype=float), len(tiles.blocks))
        self.start, self.goal, self.lag = (tiles.boxes, tiles.veils[:, None]), (np.asarray(boxes, dtype=float), veils[:, None]), lag
        super().__init__(tiles, run_time=run_time, rate_func=linear)

    def interpolate_mobject(self, alpha: float) -> None:
        """Each tile eases in and out within its own part of the movement."""
        n = len(self.goal[0])
        share = np.clip(alpha * (1 + self.lag * (n - 1)) - self.lag * np.arange(n), 0, 1)[:, None]
        share = 3 * share**2 - 2 * share**3
        boxes, veils = (a + share * (b - a) for a, b in zip(self.start, self.goal))
        self.mobject.show(boxes, veils[:, 0])
