"""Rows of numbers: strips of coloured cells, bracketed values, labelled features, matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, Mobject, Rectangle, RoundedRectangle, VGroup

from vit_data.run import Model, PixelRow, Vector

from . import theme
from .layout import row
from .numbers import num, times, vec
from .photo import Crop
from .shapes import outline, picture
from .text import Words, math, words

NEGATIVE = "#4A5468"  # negative values are charcoal in every strip; the hue says what kind of vector it is


def _colors(values: np.ndarray, color: str, limit: float | None) -> np.ndarray:
    limit = limit or float(np.nanquantile(np.abs(values), 0.98)) or 1.0
    shown = theme.ramp(np.nan_to_num(values), NEGATIVE, color, limit)
    shown[np.isnan(values)] = theme.rgb("#E9EBF1")  # not known in this run
    return shown


def known(vector: Vector) -> np.ndarray:
    """All coordinates as floats, NaN where the run knows only the ends."""
    if vector.values is not None:
        return np.array(vector.values)
    values = np.full(vector.length, np.nan)
    values[: len(vector.first)] = vector.first
    if vector.last is not None:
        values[-1] = vector.last
    return values


def pixel_row(x: PixelRow) -> Vector:
    """One patch flattened: its red, then green, then blue values as one row, whole where the run knows them all."""
    parts = (x.red, x.green, x.blue)
    if all(part is not None and part.values is not None for part in parts):
        return Vector.of([v for part in parts for v in part.values])
    return Vector(length=len(parts) * x.red.length, first=x.red.first, last=x.blue.last if x.blue else None)


def crop_strip(model: Model, crop: Crop, width: float = 3.0, height: float = 0.4) -> Strip:
    """A patch's own pixel values, normalized, in the order of the code; neutral where the run has no picture."""
    if crop.known is not None:
        return Strip(Vector.unknown(model.patch_values), width=width, height=height)
    values = (crop.block / 255 - np.array(model.transform.mean)) / np.array(model.transform.std)
    return Strip(Vector.of(values.transpose(2, 0, 1).ravel()), width=width, height=height, limit=1.0)


class Strip(Group):
    """A vector as one image of coloured cells: ``color`` for positive, charcoal for negative, white at zero.

    ``cells`` draws the first cells only, for a row too long to see. ``limit`` fixes the colour scale.
    """

    def __init__(self, vector: Vector, color: str = theme.BLUE, width: float = 5.0, height: float = 0.42, cells: int | None = None, limit: float | None = None):
        values = known(vector)[: cells or vector.length]
        self.cells = len(values)
        self.image = picture(_colors(values[None, :], color, limit), width, height)
        self.border = outline(self.image, theme.tint(color, 0.8), 1.6)
        super().__init__(self.image, self.border)

    def cell(self, coordinate: int) -> Rectangle:
        """An invisible rectangle over a one-based coordinate; negative counts from the end."""
        i = coordinate - 1 if coordinate > 0 else self.cells + coordinate
        step = self.image.width / self.cells
        return Rectangle(width=step, height=self.image.height, stroke_width=0).move_to(self.image.get_left() + RIGHT * step * (i + 0.5))


class Cells(VGroup):
    """A row of numbers as a symbol: separate rounded cells, darker for a larger ``shade`` from 0 to 1.

    For rows that are not measured; a measured vector is a :class:`Strip`.
    """

    def __init__(self, shades: Sequence[float], color: str = theme.BLUE, side: float = 0.3, gap: float = 0.05):
        self.shades, self.hue, self.side, self.gap = tuple(shades), color, side, gap
        super().__init__(*(RoundedRectangle(corner_radius=0.16 * side, width=side, height=side, stroke_color=theme.tint(color, 0.75), stroke_width=1.6,
                                            fill_color=theme.tint(color, 0.04 + 0.86 * s), fill_opacity=1) for s in self.shades))
        self.arrange(RIGHT, buff=gap)

    def times(self, weight: float) -> Cells:
        """The same row scaled: paler for a smaller weight."""
        return Cells([s * weight for s in self.shades], self.hue, self.side, self.gap).move_to(self)

    def plus(self, other: Cells) -> Cells:
        """The sum of two rows, cell by cell."""
        return Cells([min(a + b, 1.0) for a, b in zip(self.shades, other.shades)], self.hue, self.side, self.gap)


def sign_key(color: str = theme.BLUE, size: float = theme.SMALL) -> Group:
    """What the colours of a strip mean: its hue positive, charcoal negative."""
    def entry(fill: str, text: str) -> Group:
        return row(Rectangle(width=0.24, height=0.24, stroke_width=0, fill_color=fill, fill_opacity=1), words(text, size, theme.GREY), gap=0.12)
    return row(entry(color, "positive"), entry(NEGATIVE, "negative"), gap=0.4)


def named_row(name: Words | str, vector: Vector, color: str = theme.BLUE, n: int = 3, last: bool = False, width: float = 3.4,
              size: float = theme.LABEL, shape: bool = True) -> Group:
    """A vector with its symbol, its strip, its bracketed leading values and its shape, from top to bottom."""
    head = math(name, size + 3, color) if isinstance(name, str) else name
    if shape:
        head = row(head, words("· " + times(1, vector.length), size, theme.GREY), gap=0.14)
    strip = Strip(vector, color, width)
    return Group(head, strip, words(vec(vector, n, last=last), size)).arrange(DOWN, buff=0.14)


def features(vector: Vector, coordinates: tuple[int, ...], size: float = theme.BODY, gap: float = 0.55, word: str = "feature") -> Group:
    """Named coordinates side by side, "feature 1" over its value, with dots before a jump to the last."""
    cells: list[Mobject] = []
    for before, c in zip((0, *coordinates), coordinates):
        if c > before + 1:
            cells.append(words("…", size, theme.GREY, bold=True))
        label = words(f"{word} {c}", size - 7, theme.GREY)
        cells.append(Group(label, words(num(vector[c]), size + 4, bold=True)).arrange(DOWN, buff=0.05))
    return row(*cells, gap=gap, align=DOWN)


class Matrix(Group):
    """A matrix as one image, with names of a few rows at its left; ``row(name)`` is the place of one.

    ``values`` is (rows, columns) of numbers, NaN where unknown, drawn as tall as asked whatever its shape.
    """

    def __init__(self, values: np.ndarray, width: float, height: float, color: str = theme.BLUE, title: str | None = None, shape: str | None = None,
                 labels: dict[str, int] | None = None, limit: float | None = None, size: float = theme.SMALL):
        self.values = np.asarray(values, dtype=float)
        self.image = picture(_colors(self.values, color, limit), width, height)
        self.border = outline(self.image, color, 2)
        self.labels = Group()
        super().__init__(self.image, self.border)
        for name, index in (labels or {}).items():
            self.labels.add(words(name, size, theme.GREY).next_to(self.row(index), LEFT, buff=0.12))
        self.add(self.labels)
        self.title = Group()
        if title:
            self.title.add(words(title, theme.BODY, color, bold=True))
        if shape:
            self.title.add(words(shape, size, theme.GREY))
        if len(self.title):
            self.add(self.title.arrange(DOWN, buff=0.04).next_to(self.border, UP, buff=0.12))

    def row(self, index: int) -> Rectangle:
        """An invisible rectangle over a zero-based row."""
        step = self.image.height / len(self.values)
        return Rectangle(width=self.image.width, height=step, stroke_width=0).move_to(self.image.get_top() + DOWN * step * (index + 0.5))

    def column(self, index: int) -> Rectangle:
        """An invisible rectangle over a zero-based column."""
        step = self.image.width / self.values.shape[1]
        return Rectangle(width=step, height=self.image.height, stroke_width=0).move_to(self.image.get_left() + RIGHT * step * (index + 0.5))

    def mark(self, index: int, color: str = theme.AMBER) -> Rectangle:
        """An outline round a row, tall enough to be seen."""
        place = self.row(index)
        return Rectangle(width=self.image.width + 0.1, height=max(place.height, 0.1), stroke_color=color, stroke_width=3.5).move_to(place)


def sparse_rows(entries: list[tuple[str, Mobject]], gap: float = 0.16, label_width: float | None = None, size: float = theme.LABEL) -> Group:
    """Rows of a matrix that is shown in part: name at the left, content right of it, ⋮ where the name is empty."""
    lines = Group()
    labels = [words(name or "⋮", size, theme.GREY, bold=bool(name)) for name, _ in entries]
    room = label_width or max(label.width for label in labels)
    for label, (name, content) in zip(labels, entries):
        content.next_to([0, 0, 0], RIGHT, buff=0.25)
        label.move_to([-room / 2, 0, 0])
        lines.add(Group(label, content) if name else Group(label))
    lines.arrange(DOWN, buff=gap, aligned_edge=LEFT)
    return lines
