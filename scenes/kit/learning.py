"""What learns and what stays: flames and snowflakes, boxes that carry them, signals forward and back, line sketches."""

from __future__ import annotations

import numpy as np
from manim import DOWN, LEFT, ORIGIN, PI, RIGHT, UP, Circle, DashedLine, Dot, Ellipse, Group, Line, Mobject, Polygon, VGroup, VMobject

from . import theme
from .flow import Layer, connections
from .layout import row
from .shapes import Box, Connector, arrow
from .text import Words, words

FROZEN, LEARNS = theme.BLUE, theme.ORANGE


def snowflake(size: float = 0.4, color: str = FROZEN) -> VGroup:
    """Six arms with two barbs each: these weights stay as they are."""
    arms, r = VGroup(), size / 2
    for k in range(6):
        way = np.array([np.sin(k * PI / 3), np.cos(k * PI / 3), 0.0])
        arms.add(Line(ORIGIN, r * way))
        for at, long in ((0.48, 0.3), (0.76, 0.22)):
            for turn in (PI / 3, -PI / 3):
                c, s = np.cos(turn), np.sin(turn)
                side = np.array([c * way[0] - s * way[1], s * way[0] + c * way[1], 0.0])
                arms.add(Line(at * r * way, at * r * way + long * r * side))
    return arms.set_stroke(color, max(1.6, 6.5 * size))


def flame(size: float = 0.4, color: str = LEARNS) -> VGroup:
    """A flame with a pale core: these weights can learn."""
    outer = [(0.02, 1.0), (0.22, 0.62), (0.52, 0.24), (0.6, -0.22), (0.42, -0.72), (0.0, -0.96), (-0.42, -0.72), (-0.6, -0.24), (-0.5, 0.14), (-0.3, 0.34),
             (-0.22, 0.08), (-0.06, 0.5)]
    inner = [(0.02, 0.06), (0.24, -0.24), (0.26, -0.56), (0.0, -0.8), (-0.26, -0.56), (-0.2, -0.26)]
    parts = VGroup(*(_curve(points, closed=True) for points in (outer, inner)))
    parts[0].set_fill(color, 1)
    parts[1].set_fill("#FFD9A0", 1)
    return parts.set_stroke(width=0).scale(size / 2, about_point=ORIGIN)


def mark(learns: bool, size: float = 0.4) -> VGroup:
    """A flame for weights that learn, a snowflake for weights that stay."""
    return flame(size) if learns else snowflake(size)


def badge(learns: bool, size: float = 0.46) -> VGroup:
    """The mark in a round badge, for the corner of a box."""
    color = LEARNS if learns else FROZEN
    ring = Circle(radius=0.68 * size, stroke_color=color, stroke_width=2.2, fill_color=theme.PAPER, fill_opacity=1)
    return VGroup(ring, mark(learns, 0.82 * size).move_to(ring))


class Learner(Group):
    """A box in the colour of its state, with the badge on its upper right corner. ``box`` and ``badge`` are its parts."""

    def __init__(self, *lines: Words | str, learns: bool, size: float = theme.BODY, badge_size: float = 0.46, **style):
        self.learns = learns
        self.box = Box(*lines, color=LEARNS if learns else FROZEN, size=size, **style)
        self.border, self.label = self.box.border, self.box.label
        self.badge = badge(learns, badge_size).move_to(self.border.get_corner(UP + RIGHT) + 0.06 * (LEFT + DOWN))
        super().__init__(self.box, self.badge)

    def get_critical_point(self, direction: np.ndarray) -> np.ndarray:
        """Places are those of the box: the badge hangs over and moves nothing."""
        return self.border.get_critical_point(direction)


def learning_key(size: float = theme.LABEL, fixed: str = "weights stay fixed", learning: str = "weights can learn") -> Group:
    """What the two marks mean."""
    return row(*(row(mark(learns, 0.44), words(text, size, theme.GREY), gap=0.14) for learns, text in ((False, fixed), (True, learning))), gap=0.6)


def forward(start: np.ndarray | Mobject, end: np.ndarray | Mobject, color: str = theme.INK, **style) -> Connector:
    """A value goes on."""
    return arrow(start, end, color, **style)


def backward(*points: np.ndarray, color: str = LEARNS, width: float = 4.0) -> Connector:
    """A gradient goes back: a dashed path with a tip at its end."""
    parts = [DashedLine(a, b, dash_length=0.13, dashed_ratio=0.6, color=color, stroke_width=width) for a, b in zip(points[:-2], points[1:-1])]
    a, b = (np.asarray(p, dtype=float) for p in points[-2:])
    way = (b - a) / np.linalg.norm(b - a)
    across = np.array([-way[1], way[0], 0.0])
    tip = Polygon(b, b - 0.2 * way + 0.1 * across, b - 0.2 * way - 0.1 * across, stroke_width=0, fill_color=color, fill_opacity=1)
    parts.append(DashedLine(a, b - 0.16 * way, dash_length=0.13, dashed_ratio=0.6, color=color, stroke_width=width))
    return Connector(*parts, tip)


class Net(Group):
    """A small network of fully connected layers; ``learns`` colours its connections. ``lines`` and ``layers`` are its parts."""

    def __init__(self, sizes: tuple[int, ...], learns: bool, width: float = 1.6, radius: float = 0.09, gap: float = 0.12, line: float = 1.6):
        color = LEARNS if learns else FROZEN
        self.layers = [Layer([""] * n, radius=radius, gap=gap, color=theme.BLUE) for n in sizes]
        for i, layer in enumerate(self.layers):
            layer.move_to([(i / (len(sizes) - 1) - 0.5) * width, 0, 0])
        self.lines = VGroup(*(connections(a, b, theme.tint(color, 0.6), line) for a, b in zip(self.layers, self.layers[1:])))
        super().__init__(self.lines, *self.layers)


def sketch_dog(side: float = 2.4, color: str = theme.INK) -> VGroup:
    """A dog's head in a few lines."""
    head = _curve([(-0.5, 0.58), (0, 0.7), (0.5, 0.58), (0.63, 0.08), (0.44, -0.34), (0.3, -0.74), (0, -0.88), (-0.3, -0.74), (-0.44, -0.34), (-0.63, 0.08)],
                  closed=True)
    ear = [(-0.36, 0.66), (-0.62, 0.72), (-0.9, 0.34), (-0.97, -0.14), (-0.84, -0.42), (-0.68, -0.24), (-0.58, 0.16)]
    ears = [_curve([(s * x, y) for x, y in ear], closed=True) for s in (1, -1)]
    nose = Ellipse(width=0.34, height=0.23).move_to([0, -0.32, 0]).set_fill(color, 1)
    eyes = [Dot([s * 0.27, 0.1, 0], radius=0.075, color=color) for s in (1, -1)]
    brows = [_curve([(s * 0.14, 0.3), (s * 0.27, 0.36), (s * 0.39, 0.28)]) for s in (1, -1)]
    mouth = [_curve([(0, -0.44), (0, -0.55), (s * 0.1, -0.63), (s * 0.24, -0.57)]) for s in (1, -1)]
    fur = [_curve([(s * 0.12, 0.66), (s * 0.06, 0.52), (s * 0.1, 0.44)]) for s in (1, -1)]
    return _sketch([head, *ears, *brows, *mouth, *fur], [nose, *eyes], side, color)


def sketch_cat(side: float = 2.4, color: str = theme.INK) -> VGroup:
    """A cat's head in a few lines."""
    head = _curve([(-0.34, 0.46), (0, 0.5), (0.34, 0.46), (0.68, 0.1), (0.66, -0.36), (0.36, -0.7), (0, -0.8), (-0.36, -0.7), (-0.66, -0.36), (-0.68, 0.1)],
                  closed=True)
    ears = [VMobject().set_points_as_corners([np.array([s * x, y, 0]) for x, y in ((0.66, 0.16), (0.7, 0.86), (0.28, 0.49))]) for s in (1, -1)]
    inner = [VMobject().set_points_as_corners([np.array([s * x, y, 0]) for x, y in ((0.58, 0.36), (0.6, 0.64), (0.42, 0.5))]) for s in (1, -1)]
    eyes = [Ellipse(width=0.24, height=0.17).move_to([s * 0.29, -0.02, 0]) for s in (1, -1)]
    pupils = [Ellipse(width=0.055, height=0.15).move_to([s * 0.29, -0.02, 0]).set_fill(color, 1) for s in (1, -1)]
    nose = Polygon([-0.08, -0.26, 0], [0.08, -0.26, 0], [0, -0.35, 0]).set_fill(color, 1)
    mouth = [_curve([(0, -0.35), (0, -0.42), (s * 0.09, -0.5), (s * 0.2, -0.45)]) for s in (1, -1)]
    hair = [_curve([(s * 0.34, y), (s * 0.66, y + d), (s * 0.99, y + 2.4 * d)]) for s in (1, -1) for y, d in ((-0.3, 0.05), (-0.38, 0.0), (-0.46, -0.05))]
    return _sketch([head, *ears, *inner, *eyes, *mouth, *hair], [*pupils, nose], side, color)


def _curve(points: list[tuple[float, float]], closed: bool = False) -> VMobject:
    corners = [np.array([x, y, 0.0]) for x, y in points]
    return VMobject().set_points_smoothly(corners + corners[:1] if closed else corners)


def _sketch(lines: list[VMobject], solid: list[VMobject], side: float, color: str) -> VGroup:
    for part in lines:
        part.set_stroke(color, 3.6).set_fill(opacity=0)
    for part in solid:
        part.set_stroke(color, 1.5)
    return VGroup(*lines, *solid).scale(side / 2, about_point=ORIGIN)


__all__ = ["FROZEN", "LEARNS", "Learner", "Net", "backward", "badge", "flame", "forward", "learning_key", "mark", "sketch_cat", "sketch_dog", "snowflake"]
