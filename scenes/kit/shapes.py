"""Boxes, arrows, outlines and movements that every part is made of."""

from __future__ import annotations

import numpy as np
from manim import DOWN, RIGHT, UP, Arrow, DoubleArrow, Group, ImageMobject, Line, Mobject, Rectangle, RoundedRectangle, Transform, VGroup
from manim.constants import RESAMPLING_ALGORITHMS

from . import theme
from .text import Words, words


class Frame(RoundedRectangle):
    """A border that text must sit inside of or keep away from; the checks look for this class."""


class Connector(VGroup):
    """A line or arrow that must not run through text; the checks look for this class."""


class Box(Group):
    """Words in a rounded border: a layer, a block, a readout. ``border`` and ``label`` are its parts."""

    def __init__(self, *lines: Words | str, color: str = theme.BLUE, width: float | None = None, height: float | None = None,
                 size: float = theme.BODY, pad: float = 0.22, fill: float = 0.06):
        texts = [words(t, size, color, bold=i == 0) if isinstance(t, str) else t for i, t in enumerate(lines)]
        self.label = Group(*texts).arrange(DOWN, buff=0.08)
        w, h = width or self.label.width + 2 * pad, height or self.label.height + 2 * pad
        room = w - 2 * 0.12
        if self.label.width > room:
            self.label.scale(room / self.label.width)
        self.border = Frame(corner_radius=min(0.14, h / 2 - 0.01), width=w, height=h, stroke_color=color, stroke_width=2.4,
                            fill_color=theme.tint(color, fill), fill_opacity=1)
        super().__init__(self.border, self.label)
        self.label.move_to(self.border)


def panel(width: float, height: float, color: str = theme.LINE, fill: str = theme.PANEL) -> Frame:
    """A neutral card that carries other parts."""
    return Frame(corner_radius=0.12, width=width, height=height, stroke_color=color, stroke_width=1.6, fill_color=fill, fill_opacity=1)


def around(mobject: Mobject, color: str = theme.LINE, pad: float = 0.2, fill: str | None = None) -> Frame:
    """A rounded border round ``mobject``."""
    frame = panel(mobject.width + 2 * pad, mobject.height + 2 * pad, color, fill or theme.PAPER)
    frame.set_fill(opacity=1 if fill else 0)
    return frame.move_to(mobject)


def arrow(start: np.ndarray | Mobject, end: np.ndarray | Mobject, color: str = theme.INK, gap: float = 0.12,
          width: float = 3.2, side: np.ndarray = RIGHT) -> Connector:
    """A straight arrow between two points, or between two mobjects' facing edges along ``side``."""
    a = start.get_edge_center(side) if isinstance(start, Mobject) else np.asarray(start, dtype=float)
    b = end.get_edge_center(-side) if isinstance(end, Mobject) else np.asarray(end, dtype=float)
    body = Arrow(a, b, buff=gap, color=color, stroke_width=width, tip_length=0.17, max_tip_length_to_length_ratio=0.6, max_stroke_width_to_length_ratio=50)
    return Connector(body)


def link(start: np.ndarray, end: np.ndarray, color: str = theme.GREY, width: float = 1.6, opacity: float = 1.0) -> Connector:
    """A thin line between two points."""
    return Connector(Line(start, end, color=color, stroke_width=width, stroke_opacity=opacity))


def elbow(*points: np.ndarray, color: str = theme.SKIP, width: float = 3.2, tip: bool = True) -> Connector:
    """A path of straight runs, with an arrow tip at its end: skip connections and returns."""
    parts = [Line(a, b, color=color, stroke_width=width) for a, b in zip(points[:-2], points[1:-1])]
    end = Arrow(points[-2], points[-1], buff=0, color=color, stroke_width=width, tip_length=0.17, max_tip_length_to_length_ratio=0.8,
                max_stroke_width_to_length_ratio=50) if tip else Line(points[-2], points[-1], color=color, stroke_width=width)
    return Connector(*parts, end)


def outline(mobject: Mobject, color: str = theme.AMBER, width: float = 4.0, pad: float = 0.0) -> Rectangle:
    """A rectangle round ``mobject``: a query, a source, the cell one talks about."""
    return Rectangle(width=mobject.width + 2 * pad, height=mobject.height + 2 * pad, stroke_color=color, stroke_width=width).move_to(mobject)


def picture(pixels: np.ndarray, width: float, height: float | None = None, smooth: bool = False) -> ImageMobject:
    """An RGB(A) uint8 array (h, w, 3 or 4) as one image, each pixel a sharp square unless ``smooth``."""
    image = ImageMobject(np.ascontiguousarray(pixels), invert=False)
    image.set_resampling_algorithm(RESAMPLING_ALGORITHMS["bicubic" if smooth else "nearest"])
    image.stretch_to_fit_width(width)
    image.stretch_to_fit_height(height if height is not None else width * pixels.shape[0] / pixels.shape[1])
    return image


class Emerge(Transform):
    """A part leaves ``origin`` at its size and flies to where it stands."""

    def __init__(self, mobject: Mobject, origin: Mobject, run_time: float = 0.9):
        self.origin = origin
        super().__init__(mobject, run_time=run_time)

    def create_target(self) -> Mobject:
        return self.mobject.copy()

    def create_starting_mobject(self) -> Mobject:
        factor = min(self.origin.width / max(self.mobject.width, 1e-9), self.origin.height / max(self.mobject.height, 1e-9))
        return self.mobject.copy().scale(max(factor, 1e-3)).move_to(self.origin)


def extent(mobject: Mobject, label: Words | str, side: np.ndarray = DOWN, color: str = theme.GREY, size: float = theme.LABEL, gap: float = 0.2) -> Group:
    """A double arrow along one side of ``mobject`` and the label of what it measures, as a group of two."""
    along = np.array([abs(side[1]), -abs(side[0]), 0.0])
    body = DoubleArrow(mobject.get_corner(side - along), mobject.get_corner(side + along), buff=0, color=color, stroke_width=2.6, tip_length=0.15,
                       max_stroke_width_to_length_ratio=50).shift(gap * side)
    text = words(label, size, color) if isinstance(label, str) else label
    return Group(Connector(body), text.next_to(body, side, buff=0.12))


def brace_label(mobject: Mobject, text: str, side: np.ndarray = DOWN, color: str = theme.GREY, size: float = theme.LABEL, gap: float = 0.12) -> Words:
    """A label under, above or beside a part."""
    return words(text, size, color).next_to(mobject, side, buff=gap)


__all__ = ["Box", "Connector", "Frame", "arrow", "around", "brace_label", "Emerge", "elbow", "extent", "link", "outline", "panel", "picture", "UP", "DOWN"]
