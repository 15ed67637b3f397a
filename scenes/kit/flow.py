"""Pipelines of boxes, layers of neurons, bars of class scores, sums, tables, code."""

from __future__ import annotations

import numpy as np
from manim import DOWN, LEFT, ORIGIN, RIGHT, UP, Animation, Circle, Create, FadeIn, Group, GrowFromEdge, Line, Mobject, Rectangle, VGroup

from vit_data.run import ClassScore

from . import theme
from .layout import grid, row
from .numbers import num, pct
from .shapes import Connector, Frame, arrow, link, outline, panel, picture
from .syntax import syntax
from .text import code, words


class Pipeline(Group):
    """Stages from left to right (or top to bottom) with an arrow between neighbours.

    ``stages`` and ``arrows`` are the parts; ``here(i)`` is a marker at a stage.
    """

    def __init__(self, *stages: Mobject, gap: float = 0.7, direction: np.ndarray = RIGHT, color: str = theme.INK):
        self.stages = Group(*stages).arrange(direction, buff=gap)
        self.arrows = Group(*(arrow(a, b, color, side=direction) for a, b in zip(stages, stages[1:])))
        super().__init__(self.stages, self.arrows)

    def here(self, index: int, color: str = theme.AMBER) -> Group:
        """The HERE marker under a stage."""
        label = words("HERE", theme.SMALL, color, bold=True)
        return Group(Connector(arrow(ORIGIN, 0.42 * UP, color, gap=0)[0]), label).arrange(DOWN, buff=0.05).next_to(self.stages[index], DOWN, buff=0.1)


class Layer(Group):
    """A layer of neurons: a column of circles, with ⋮ where units are left out.

    ``names`` are printed inside the circles (empty for ⋮); ``units`` holds the circles only.
    """

    def __init__(self, names: list[str | None], radius: float = 0.27, gap: float = 0.16, color: str = theme.BLUE, size: float = theme.SMALL, wide: bool = False):
        self.units = Group()
        cells = []
        for name in names:
            if name is None:
                cells.append(words("⋮", theme.BODY, theme.GREY))
                continue
            label = words(name, size) if name else Group()
            body = Frame(corner_radius=radius, width=max(2 * radius, label.width + 0.3), height=2 * radius) if wide else Circle(radius=radius)
            body.set_stroke(color, 2.2).set_fill(theme.tint(color, 0.1), 1)
            unit = Group(body, label.move_to(body)) if name else Group(body)
            self.units.add(unit)
            cells.append(unit)
        super().__init__(*cells)
        self.arrange(DOWN, buff=gap)


def connections(left: Layer, right: Layer, color: str = theme.LINE, width: float = 1.4) -> VGroup:
    """Every line between two layers, grouped by right unit: ``[j][i]`` runs from left unit i to right unit j."""
    return VGroup(*(VGroup(*(link(a[0].get_right(), b[0].get_left(), color, width)[0] for a in left.units)) for b in right.units))


class Bars(Group):
    """Class probabilities as horizontal bars on one scale; ``rows[i]`` is label, track, bar, value.

    ``above`` puts each label over its bar, where long names fit.
    """

    def __init__(self, scores: list[ClassScore], width: float = 5.0, height: float = 0.46, color: str = theme.BLUE, size: float = theme.BODY, limit: float = 1.0,
                 gap: float = 0.42, above: bool = False):
        self.rows, self.limit = Group(), limit
        labels = [words(s.label, size, bold=i == 0) for i, s in enumerate(scores)]
        room = 0.0 if above else max(label.width for label in labels) + 0.3
        for i, (score, label) in enumerate(zip(scores, labels)):
            length = max(width * score.probability / limit, 0.03)
            bar = Rectangle(width=length, height=height, stroke_width=0, fill_opacity=1, fill_color=color if i == 0 else theme.tint(color, 0.45))
            track = Rectangle(width=width, height=height, stroke_width=0, fill_opacity=1, fill_color=theme.PANEL)
            track.move_to([room, 0, 0], aligned_edge=LEFT)
            if above:
                label.next_to(track, UP, buff=0.08).align_to(track, LEFT)
            else:
                label.next_to(track, LEFT, buff=0.3)
            bar.move_to(track, aligned_edge=LEFT)
            value = words(pct(score.probability), size, bold=i == 0).next_to(track, RIGHT, buff=0.25)
            self.rows.add(Group(label, track, bar, value))
        super().__init__(self.rows)
        self.rows.arrange(DOWN, buff=gap)
        for r in self.rows:  # arrange centres rows of unequal width
            r.shift(RIGHT * (self.rows[0][1].get_left()[0] - r[1].get_left()[0]))

    def grow(self, index: int) -> list[Animation]:
        """A row appears: its label and value fade in while its bar grows."""
        label, track, bar, value = self.rows[index]
        return [FadeIn(label), FadeIn(track), GrowFromEdge(bar, LEFT), FadeIn(value)]

    def scale_ends(self, size: float = theme.SMALL) -> Group:
        """0 and the scale's end, printed under the last bar."""
        track = self.rows[-1][1]
        end = words(num(100 * self.limit, 0 if self.limit >= 0.01 else 2) + "%", size, theme.GREY)
        return Group(
            words("0", size, theme.GREY).next_to(track, DOWN, buff=0.08).align_to(track, LEFT), end.next_to(track, DOWN, buff=0.08).align_to(track, RIGHT)
        )


def all_scores(values: list[float] | None, width: float, height: float, color: str = theme.BLUE) -> Group:
    """All classes' scores as thin columns from the smallest to the largest, the best of four neighbours each; a neutral panel where they are not known."""
    if values is None:
        return Group(panel(width, height))
    best = np.array(values[: len(values) // 4 * 4]).reshape(-1, 4).max(axis=1)
    tall = np.interp(best, (min(values), max(values)), (0, 120))
    array = np.where((120 - np.arange(120)[:, None] <= tall)[..., None], theme.rgb(color), theme.rgb(theme.PANEL)).astype(np.uint8)
    image = picture(array, width, height)
    return Group(image, outline(image, theme.tint(color, 0.5), 1.6))


def sum_line(*terms: str | Mobject, size: float = theme.BODY, gap: float = 0.18) -> Group:
    """An arithmetic line, one group member a term or sign, so that it can be revealed from left to right."""
    return row(*(words(t, size) if isinstance(t, str) else t for t in terms), gap=gap)


class Table(Group):
    """Rows of cells under a header with a rule; ``header`` and ``lines`` can be revealed one by one."""

    def __init__(self, header: list[str | Mobject], body: list[list[str | Mobject]], size: float = theme.LABEL, gap: tuple[float, float] = (0.6, 0.26), align: str = "l"):
        def cell(x: str | Mobject, **style) -> Mobject:
            return words(x, size, **style) if isinstance(x, str) else x
        rows_ = [[cell(h, color=theme.GREY, bold=True) for h in header], *[[cell(c) for c in line] for line in body]]
        table = grid(rows_, gap, align)
        self.header, self.lines = table[0], Group(*table[1:])
        y = (self.header.get_bottom()[1] + self.lines.get_top()[1]) / 2
        self.rule = Line([table.get_left()[0], y, 0], [table.get_right()[0], y, 0], stroke_width=2, color=theme.LINE)
        super().__init__(self.header, self.rule, self.lines)


class Code(Group):
    """Program text in a panel in syntax colours, comments in grey under one another; ``lines[i]`` can be revealed, ``mark(i)`` highlights.

    Blank lines stay; a line's spaces at the left are its indentation.
    """

    def __init__(self, source: str, size: float = theme.SMALL, pad: float = 0.24, width: float | None = None, gap: float = 0.06):
        self.lines = Group()
        texts = [line.partition("#") for line in source.strip("\n").split("\n")]
        space, height = code("0" * 10, size).width / 10, code("0", size).height
        margin = max((len(body.rstrip()) for body, mark, _ in texts if mark and body.strip()), default=0) + 2
        for n, (body, mark, comment) in enumerate(texts):
            line, y = Group(), -n * (height + gap)
            indent = len(body) - len(body.lstrip())
            if body.strip():
                line.add(syntax(body.strip(), size).move_to([indent * space, y, 0], aligned_edge=LEFT))
            if mark:
                column_ = margin if body.strip() else indent
                line.add(code("# " + comment.strip(), size, theme.GREY).move_to([column_ * space, y, 0], aligned_edge=LEFT))
            self.lines.add(line)
        self.frame = panel(width or self.lines.width + 2 * pad, self.lines.height + 2 * pad)
        self.lines.move_to(self.frame)
        if width:
            self.lines.align_to(self.frame.get_left() + pad * RIGHT, LEFT)
        super().__init__(self.frame, self.lines)

    def mark(self, index: int, color: str = theme.AMBER) -> Rectangle:
        """A soft bar behind a line."""
        line = self.lines[index]
        return Rectangle(width=self.frame.width - 0.1, height=line.height + 0.04, stroke_width=0, fill_color=color, fill_opacity=0.16).move_to(
            [self.frame.get_center()[0], line.get_center()[1], 0])


def write(*parts: Mobject) -> list[Animation]:
    """Fade parts in from a little below, one reading direction for the whole deck."""
    return [FadeIn(p, shift=0.12 * UP) for p in parts]


def draw(*lines: Mobject) -> list[Animation]:
    """Draw lines and arrows from their start."""
    return [Create(x) for x in lines]
