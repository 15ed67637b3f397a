"""Who plays which part in one attention step: the receiver asks, sources match, values are what is sent.

On a picture the receiver has a violet outline and a source a white one; what travels between them is teal. The legend
says the same with the same marks.
"""

from __future__ import annotations

import numpy as np
from manim import LEFT, ORIGIN, RIGHT, UP, Animation, ArcBetweenPoints, Circle, Group, ShowPassingFlash, Square, VGroup, VMobject
from manim.mobject.geometry.arc import TipableVMobject

from . import theme
from .layout import at, row
from .photo import Photograph
from .shapes import Connector, Frame, arrow
from .text import words

RECEIVER, SOURCE = theme.VIOLET, "#FFFFFF"


def local_roles(size: float = theme.SMALL) -> Group:
    """The legend of an attention page, in the page's upper right corner beside the section's name."""
    marks = (VGroup(Square(0.2, stroke_color=RECEIVER, stroke_width=4)),
             VGroup(Square(0.2, stroke_color=theme.INK, stroke_width=6.5), Square(0.2, stroke_color=SOURCE, stroke_width=2.6)),
             arrow(ORIGIN, 0.42 * RIGHT, theme.TEAL, gap=0, width=4))
    entries = (
        row(mark, words(f"*{letter}* / {role}", size, theme.GREY), gap=0.12)
        for mark, (letter, role) in zip(marks, (("Q", "receiver"), ("K", "source"), ("V", "message")))
    )
    legend = row(words("LOCAL ROLES", theme.SMALLEST_PX, theme.GREY, bold=True), *entries, gap=0.38)
    return legend.move_to(at(1844, 54), aligned_edge=RIGHT)


def message_path(photo: Photograph, source: str | int, receiver: str | int, width: float = 5.0, bow: float = 0.7) -> Connector:
    """A teal curve with an arrow tip over the picture, from a source patch to the receiver's, as wide as its share.

    ``bow`` is the curve's angle in radians; its sign chooses the side.
    """
    a, b = photo.cell(source), photo.cell(receiver)
    way = b.get_center() - a.get_center()
    distance = float(np.linalg.norm(way))
    if distance:
        way /= distance
        start, end = a.get_center() + min(0.75 * a.width, 0.3 * distance) * way, b.get_center() - min(0.85 * b.width, 0.3 * distance) * way
    else:  # a patch that reads itself
        start, end, bow = a.get_corner(UP + LEFT), a.get_corner(UP + RIGHT), -4.0
    rim, line = (ArcBetweenPoints(start, end, angle=bow, color=c, stroke_width=w) for c, w in ((SOURCE, width + 3.5), (theme.TEAL, width)))
    for curve, length in ((rim, 0.17 + 0.016 * width), (line, 0.14 + 0.016 * width)):
        curve.add_tip(tip_length=length, tip_width=length)
    return Connector(rim, line)


def pulse(path: VMobject, color: str = theme.TEAL, width: float = 9.0, run_time: float = 0.9) -> Animation:
    """Something travels along a line or arrow, from its start to its end, and leaves no trace."""
    runs = {
        tuple(np.round(m.get_start(), 4)): m for m in path.get_family() if isinstance(m, TipableVMobject) and m.has_points()
    }  # one for each start: a rim lies under its line
    corners = [m.point_from_proportion(t) for m in runs.values() for t in np.linspace(0, 1, 40)]
    line = VMobject(stroke_color=color, stroke_width=width).set_points_as_corners(np.array(corners))
    return ShowPassingFlash(line, time_width=0.5, run_time=run_time)


def weight_pill(text: str, share: float = 1.0, size: float = theme.SMALL) -> Group:
    """An attention weight as a teal pill; ``share`` from 0 to 1 says how strong the teal is."""
    label = words(text, size, "#FFFFFF" if share > 0.55 else theme.INK, bold=True)
    body = Frame(
        corner_radius=0.2,
        width=label.width + 0.34,
        height=0.42,
        stroke_color=theme.TEAL,
        stroke_width=2,
        fill_color=theme.tint(theme.TEAL, 0.12 + 0.88 * share),
        fill_opacity=1,
    )
    return Group(body, label.move_to(body))


def joint(sign: str = "+", color: str = theme.INK, radius: float = 0.27) -> Group:
    """A circle in which paths meet: +, ×, Σ."""
    circle = Circle(radius=radius, stroke_color=color, stroke_width=2.6, fill_color=theme.PAPER, fill_opacity=1)
    return Group(circle, words(sign, theme.CAPTION, color, bold=True).move_to(circle))


__all__ = ["RECEIVER", "SOURCE", "joint", "local_roles", "message_path", "pulse", "weight_pill"]
