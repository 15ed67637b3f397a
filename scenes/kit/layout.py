"""Where things stand: areas of the frame, rows, columns and grids of mobjects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, Mobject

from .theme import FRAME_H, FRAME_W, PX


def at(x_px: float, y_px: float) -> np.ndarray:
    """The point at a pixel of a 1080p frame, counted from the top left."""
    return np.array([x_px * PX - FRAME_W / 2, FRAME_H / 2 - y_px * PX, 0.0])


@dataclass(frozen=True)
class Area:
    """A rectangle of the frame in Manim units; y grows upwards."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def px(cls, left: float, top: float, right: float, bottom: float) -> Area:
        """From pixels of a 1080p frame, counted from the top left."""
        (x0, y1, _), (x1, y0, _) = at(left, top), at(right, bottom)
        return cls(x0, y0, x1, y1)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def center(self) -> np.ndarray:
        return np.array([(self.left + self.right) / 2, (self.bottom + self.top) / 2, 0.0])

    def columns(self, *shares: float, gap: float = 0.4) -> list[Area]:
        """Side by side, as wide as their shares, ``gap`` apart."""
        free, x, areas = self.width - gap * (len(shares) - 1), self.left, []
        for share in shares:
            w = free * share / sum(shares)
            areas.append(Area(x, self.bottom, x + w, self.top))
            x += w + gap
        return areas

    def rows(self, *shares: float, gap: float = 0.3) -> list[Area]:
        """One under the other, from the top."""
        free, y, areas = self.height - gap * (len(shares) - 1), self.top, []
        for share in shares:
            h = free * share / sum(shares)
            areas.append(Area(self.left, y - h, self.right, y))
            y -= h + gap
        return areas

    def inset(self, x: float, y: float | None = None) -> Area:
        """Smaller by ``x`` on the left and right and ``y`` (or ``x``) above and below."""
        y = x if y is None else y
        return Area(self.left + x, self.bottom + y, self.right - x, self.top - y)

    def place(self, mobject: Mobject, edge: np.ndarray | None = None, shrink: bool = True) -> Mobject:
        """Move ``mobject`` to the centre, or against ``edge`` (LEFT, UP + LEFT, …); make it smaller if it is too large."""
        if shrink:
            fit(mobject, self.width, self.height)
        mobject.move_to(self.center)
        if edge is not None:
            for axis, (low, high) in enumerate(((self.left, self.right), (self.bottom, self.top))):
                if edge[axis]:
                    half = (mobject.width, mobject.height)[axis] / 2
                    goal = high - half if edge[axis] > 0 else low + half
                    mobject.set_coord(goal, axis)
        return mobject


def fit(mobject: Mobject, width: float, height: float, grow: bool = False) -> Mobject:
    """Scale down (or up, with ``grow``) until it fits into width × height."""
    factor = min(width / max(mobject.width, 1e-9), height / max(mobject.height, 1e-9))
    return mobject.scale(factor) if factor < 1 or grow else mobject


def row(*mobjects: Mobject, gap: float = 0.4, align: np.ndarray | None = None) -> Group:
    """Left to right; ``align`` UP or DOWN lines up edges instead of centres."""
    group = Group(*mobjects)
    return group.arrange(RIGHT, buff=gap, **({} if align is None else {"aligned_edge": align}))


def column(*mobjects: Mobject, gap: float = 0.3, align: np.ndarray | None = None) -> Group:
    """Top to bottom; ``align`` LEFT or RIGHT lines up edges instead of centres."""
    group = Group(*mobjects)
    return group.arrange(DOWN, buff=gap, **({} if align is None else {"aligned_edge": align}))


def grid(rows: Iterable[Iterable[Mobject]], gap: tuple[float, float] = (0.5, 0.25), align: str = "l") -> Group:
    """A table: every column as wide as its widest cell. ``align`` has a letter a column (l, c, r), the last repeats."""
    table = [list(r) for r in rows]
    widths = [max(r[c].width for r in table if c < len(r)) for c in range(max(map(len, table)))]
    result, y = Group(), 0.0
    for cells in table:
        height, x = max(cell.height for cell in cells), 0.0
        for c, cell in enumerate(cells):
            how = align[min(c, len(align) - 1)]
            edge = {"l": LEFT, "c": np.zeros(3), "r": RIGHT}[how]
            anchor = np.array([x + {"l": 0, "c": widths[c] / 2, "r": widths[c]}[how], y - height / 2, 0])
            cell.move_to(anchor, aligned_edge=edge)
            x += widths[c] + gap[0]
        result.add(Group(*cells))
        y -= height + gap[1]
    return result.center()


def beside(mobject: Mobject, other: Mobject, side: np.ndarray = RIGHT, gap: float = 0.3, align: np.ndarray | None = None) -> Mobject:
    """Put ``mobject`` next to ``other`` and return it."""
    return mobject.next_to(other, side, buff=gap, **({} if align is None else {"aligned_edge": align}))


__all__ = ["Area", "at", "beside", "column", "fit", "grid", "row", "UP", "DOWN", "LEFT", "RIGHT"]
