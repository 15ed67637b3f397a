"""The whole path from picture to label, the same on every page that says where the lecture is."""

from __future__ import annotations

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ArcBetweenPoints, Group, Line, Mobject, Polygon, Rectangle, VGroup

from vit_data import figures
from vit_data.run import Run

from . import theme
from .flow import Layer, connections
from .layout import column
from .photo import Photograph
from .shapes import Connector, Frame, arrow
from .slide import STAGE
from .text import words
from .tiles import Tiles
from .vectors import Cells


class Route(Group):
    """Stages from left to right, each a card with its name, a few words, and an icon where there is one.

    ``stages`` are the cards and ``arrows`` what joins them. ``icons`` makes the large form (see :func:`route_icons`);
    without them, and with ``details`` off, it is a slim line of names. Stage numbers count from zero;
    :attr:`IMAGE` to :attr:`SCORES` name those of the standard path.
    """

    IMAGE, PATCHES, PROJECTION, PREPARE, ATTENTION, MLP, SUMMARY, SCORES = range(8)

    def __init__(self, stages: list[tuple[str, str]], icons: list[Mobject] | None = None, width: float = STAGE.width, details: bool = True,
                 gap: float = 0.3, size: float = theme.SMALL):
        card = (width - gap * (len(stages) - 1)) / len(stages)
        texts = []
        for name, detail in stages:
            lines = [words(name, size, theme.BLUE, bold=True, width=card - 0.04, align="center")]
            if details:
                lines.append(words(detail, theme.SMALLEST_PX, theme.GREY, width=card - 0.04, align="center"))
            texts.append(column(*lines, gap=0.03))
        high = max(t.height for t in texts)
        tall = max((i.height for i in icons), default=0) if icons else 0
        self.stages = Group()
        for i, text in enumerate(texts):
            border = Frame(corner_radius=0.12, width=card, height=high + tall + (0.6 if icons else 0.24), stroke_color=theme.BLUE, stroke_width=2.2,
                           fill_color=theme.tint(theme.BLUE, 0.05), fill_opacity=1)
            border.shift(i * (card + gap) * RIGHT)
            text.move_to(border.get_top() + (0.12 + (tall + 0.22 if icons else 0)) * DOWN, aligned_edge=UP)
            if icons:
                icons[i].move_to(border.get_top() + (0.2 + tall / 2) * DOWN)
            self.stages.add(Group(border, text, *([icons[i]] if icons else [])))
        self.arrows = Group(*(arrow(a[0], b[0], gap=0.03) for a, b in zip(self.stages, self.stages[1:])))
        super().__init__(self.stages, self.arrows)
        self.center()

    @classmethod
    def standard(cls, run: Run, large: bool = False, **style) -> Route:
        """The eight stages of the reference deck, with icons if ``large``."""
        return cls(route_stages(run), route_icons(run) if large else None, **style)

    def here(self, *indices: int, color: str = theme.AMBER) -> Group:
        """A HERE marker under each of the stages that the lecture is at: a tip and the word, and the card's border."""
        marks = Group()
        for i in indices:
            card = self.stages[i][0]
            tip = Polygon([-0.13, 0, 0], [0.13, 0, 0], [0, 0.16, 0], stroke_width=0, fill_color=color, fill_opacity=1)
            border = card.copy().set_fill(opacity=0).set_stroke(color, 4.5)
            mark = Group(tip, words("HERE", theme.SMALL, color, bold=True)).arrange(DOWN, buff=0.03).next_to(card, DOWN, buff=0.07)
            marks.add(Group(border, mark))
        return marks

    def over(self, first: int, last: int, label: str = "Inside one block", color: str = theme.GREY) -> Group:
        """A bracket over neighbouring stages with its label: what belongs to one block."""
        return self._bracket(first, last, words(label, theme.SMALL, color, bold=True), UP, 0.08, color)

    def phase(self, first: int, last: int, head: str, detail: str, gap: float = 0.62, color: str = theme.BLUE) -> Group:
        """A bracket under neighbouring stages, with room for HERE between, a heading and a line under it."""
        text = column(words(head, theme.LABEL - 1, color, bold=True), words(detail, theme.SMALL + 1, theme.GREY), gap=0.02)
        return self._bracket(first, last, text, DOWN, gap, color)

    def _bracket(self, first: int, last: int, label: Mobject, side: np.ndarray, gap: float, color: str) -> Group:
        span = Group(self.stages[first][0], self.stages[last][0])
        a, b = (span.get_corner(side + x) + gap * side for x in (LEFT, RIGHT))
        tick = 0.1 * side
        line = VGroup(Line(a, a + tick), Line(a + tick, b + tick), Line(b + tick, b)).set_stroke(color, 2.6)
        return Group(Connector(*line), label.next_to(line, side, buff=0.05))


def route_stages(run: Run) -> list[tuple[str, str]]:
    """Name and a few words for each stage of the standard path."""
    return [("Image", f"one {figures.picture_word(run, 'dog')}"), ("Patches", "small image crops"), ("Projection", "pixels into features"),
            ("Prepare rows", "location + summary"), ("Attention", "share information"), ("MLP", "transform features"),
            ("Read summary", "one image vector"), ("Class scores", "score each image class")]


def route_icons(run: Run, side: float = 1.15) -> list[Mobject]:
    """What stands at each stage of the standard path: picture, pieces, rows, rows with a summary, …, scores.

    Rows are symbols; an amber row is the image summary, amber cells the location.
    """
    photo = Photograph(run, side=side)
    rough = Photograph(run, side=side, columns=4)
    step = side / 4
    pieces = Tiles(
        rough.blocks(), np.array([[(i % 4 - 1.5) * step, (1.5 - i // 4) * step, step - 0.05, step - 0.05] for i in range(16)]), smooth=not rough.missing
    )
    plain, mixed, changed = (
        [[0.5 + 0.45 * np.sin(a * i + b * j + c) for j in range(4)] for i in range(4)] for a, b, c in ((2.1, 1.3, 0.0), (0.5, 1.1, 0.8), (0.9, 2.6, 2.0))
    )
    return [photo, pieces, _rows(plain, side), _rows(plain, side, place=True, summary=True), _shared(mixed, side), _neurons(side),
            _summary(changed, side), _scores(side)]


def _rows(shades: list[list[float]], side: float, place: bool = False, summary: bool = False) -> Group:
    """Rows of cells, blue; with amber cells for location in front and an amber row for the summary on top."""
    size = side / 6.6
    lines = [Cells(line, theme.BLUE, size, 0.03) for line in shades]
    if summary:
        lines.insert(0, Cells([0.75, 0.35, 0.6, 0.45], theme.AMBER, size, 0.03))
    table = Group(*lines).arrange(DOWN, buff=0.07)
    if place:
        table.add(*(Cells([0.25 + 0.12 * i], theme.AMBER, size, 0.03).next_to(line, LEFT, buff=0.07) for i, line in enumerate(lines)))
    return table


def _shared(shades: list[list[float]], side: float) -> Group:
    """The prepared rows with teal arcs between them."""
    table = _rows(shades, side, summary=True)
    ends = [line.get_right() + 0.04 * RIGHT for line in table]
    pairs = ((0, 2), (0, 4), (1, 3), (2, 3))
    arcs = VGroup(*(ArcBetweenPoints(ends[b], ends[a], angle=2.2, color=theme.TEAL, stroke_width=2.6) for a, b in pairs))
    return Group(table, arcs)


def _neurons(side: float) -> Group:
    """Two small layers, wide in the middle."""
    layers = [Layer([""] * n, radius=0.07, gap=0.07) for n in (3, 5, 3)]
    for layer, x in zip(layers, (-0.42, 0.0, 0.42)):
        layer.move_to([x * side, 0, 0])
    lines = [connections(a, b, theme.tint(theme.BLUE, 0.35), 1.1) for a, b in zip(layers, layers[1:])]
    return Group(*lines, *layers)


def _summary(shades: list[list[float]], side: float) -> Group:
    """The rows again, all but the summary faded, and the summary in its outline."""
    table = _rows([[0.25 * v for v in line] for line in shades], side, summary=True)
    for line in table[1:]:
        line.set_stroke(opacity=0.35)
    first = table[0]
    return Group(table, Rectangle(width=first.width + 0.1, height=first.height + 0.1, stroke_color=theme.AMBER, stroke_width=3).move_to(first))


def _scores(side: float) -> Group:
    """Bars of class scores, the longest first."""
    bars = VGroup(*(Rectangle(width=side * share, height=side / 7, stroke_width=0, fill_color=theme.tint(theme.BLUE, 1 if i == 0 else 0.4), fill_opacity=1)
                    for i, share in enumerate((0.95, 0.5, 0.34, 0.22, 0.14))))
    return Group(bars.arrange(DOWN, buff=0.07, aligned_edge=LEFT))


__all__ = ["Route", "route_icons", "route_stages"]
