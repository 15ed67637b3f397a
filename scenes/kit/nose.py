"""The patch that both decks follow, the nose: its names, and how its pixels become a row."""

from __future__ import annotations

import numpy as np
from manim import Mobject

from vit_data import figures, rows

from .photo import Crop
from .slide import Slide
from .tiles import Glide, Tiles
from .vectors import Strip


class NosePage(Slide):
    """What pages about this patch call things."""

    @property
    def nose(self) -> str:
        """Its row name, such as P63."""
        return self.dog.place("nose")

    @property
    def number(self) -> int:
        """Its number, counted from one."""
        return self.dog.photo.places["nose"]

    @property
    def neighbour(self) -> str:
        """The patch right of it."""
        return rows.name(self.number + 1)

    @property
    def place(self) -> tuple[int, int]:
        """Its row and column on the grid, counted from one."""
        return rows.grid_place(self.number, self.model.grid)

    @property
    def pixels(self) -> int:
        """How many pixels a patch has."""
        return self.model.patch**2

    @property
    def word(self) -> str:
        """What the run's picture of the dog is called."""
        return figures.picture_word(self.run, "dog")

    def unroll(self, plane: Crop, strip: Strip, run_time: float = 1.2) -> tuple[Mobject, Glide]:
        """The pixel rows of one channel as tiles on ``plane``, and their way to ``strip``, one after the other."""
        n = self.model.patch
        high, cell = plane.height / n, strip.image.width / n
        (px, py), (sx, sy) = plane.get_center()[:2], strip.image.get_center()[:2]
        starts = np.array([[px, py + plane.height / 2 - high * (i + 0.5), plane.width, high] for i in range(n)])
        goals = np.array([[sx - strip.image.width / 2 + cell * (i + 0.5), sy, cell, strip.image.height] for i in range(n)])
        tiles = Tiles([plane.block[i : i + 1] for i in range(n)], starts)
        return tiles, Glide(tiles, goals, lag=0.2, run_time=run_time)


__all__ = ["NosePage"]
