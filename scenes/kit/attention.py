"""One attention head as pictures: whole matrices of tokens, one enlarged row, weighted value rows.

Every matrix is one image that holds all its rows. The rows and columns that a page names are drawn wider than the
rest, so that the lecture can point at them, and CLS stands a little apart. Marks lie over the image and move; the
image never does.
"""

from __future__ import annotations

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, Mobject, Rectangle, VGroup

from vit_data import rows as tokens
from vit_data.run import Run, Vector

from . import theme
from .numbers import num
from .roles import joint, weight_pill
from .shapes import picture
from .slide import STAGE
from .text import Words, words
from .vectors import NEGATIVE, Strip, known

GAP = 0.07  # between CLS and the patches
PLAIN, NAMED = "#EDEFF5", "#DADFEA"  # entries that the run does not know


class Axis:
    """Places of ``count`` entries along ``length``: the ``named`` ones ``wide`` each, the others share what is left.

    ``named`` maps labels to zero-based entries. With ``apart``, the first entry has a gap after it.
    """

    def __init__(self, count: int, length: float, named: dict[str, int], wide: float, apart: bool = False):
        self.count, self.length, self.named, self.wide = count, length, dict(named), wide
        gap = GAP if apart else 0.0
        chosen = sorted(set(self.named.values()))
        rest = (length - gap - wide * len(chosen)) / max(count - len(chosen), 1)
        sizes = np.full(count, rest)
        sizes[chosen] = wide
        ends = np.cumsum(sizes)
        starts = ends - sizes
        if apart:
            starts[1:] += gap
            ends[1:] += gap
        self.starts, self.ends = starts, ends

    def index(self, entry: str | int) -> int:
        """Zero-based entry of a label, a token's name or a number."""
        if isinstance(entry, str):
            return self.named[entry] if entry in self.named else tokens.index(entry)
        return entry

    def span(self, entry: str | int) -> tuple[float, float]:
        """Centre and size of an entry, from the axis's start."""
        i = self.index(entry)
        return (self.starts[i] + self.ends[i]) / 2, self.ends[i] - self.starts[i]

    def lookup(self) -> np.ndarray:
        """For every pixel of a 1080p frame along the axis: the entry drawn there, −1 in the gap."""
        n = max(round(self.length / theme.PX), 1)
        middle = (np.arange(n) + 0.5) * self.length / n
        entry = np.searchsorted(self.ends, middle).clip(0, self.count - 1)
        return np.where(middle < self.starts[entry], -1, entry)


def token_names(run: Run, second: bool = False) -> dict[str, int]:
    """The rows that the pages of a head name: CLS, P1, the nose patch and the last patch (P2 too with ``second``)."""
    last = run.model.patches
    places = [0, 1, *([2] if second else []), run.dog.photo.places["nose"], last]
    return {tokens.name(i): i for i in sorted(set(places))}


def feature_names(width: int) -> dict[str, int]:
    """The columns that a matrix of features names: 1, 2 and the last."""
    return {"1": 0, "2": 1, str(width): width - 1}


class TokenMatrix(Group):
    """A matrix as one image, with labels for named rows at the left and named columns on top.

    ``values`` is (rows, columns) or None where the run has no such matrix, then a neutral panel with the same places
    is drawn. ``across`` and ``down`` say what stands along each side: their names, and whether CLS leads it. ``image``
    alone is heavy; move marks, not the matrix.
    """

    def __init__(self, values: np.ndarray | None, shape: tuple[int, int], width: float, height: float, color: str = theme.BLUE, *,
                 down: dict[str, int] | None = None, across: dict[str, int] | None = None, title: str = "", scale: float | None = None, weights: bool = False,
                 wide: float = 0.2, size: float = theme.SMALL, labels: bool = True, wide_across: float | None = None):
        self.color, self.shape, self.weights = color, shape, weights
        down, across = down or {}, across or {}
        self.vertical = Axis(shape[0], height, down, wide, apart=tokens.CLS in down)
        # names of tokens are wider than numbers of features
        self.horizontal = Axis(shape[1], width, across, wide_across or (0.37 if tokens.CLS in across else wide), apart=tokens.CLS in across)
        self.scale_end = scale or (float(np.nanquantile(np.abs(values), 0.98)) or 1.0 if values is not None else 1.0)
        self.values = values
        self.image = picture(self._pixels(), width, height)
        self.border = Rectangle(width=width + 0.06, height=height + 0.06, stroke_color=color, stroke_width=2)
        self.row_labels, self.column_labels, self.title = Group(), Group(), Group()
        super().__init__(self.image, self.border)
        if labels:
            self._label_rows(size)
            self._label_columns(size)
        if title:
            above = self.column_labels if len(self.column_labels) else self.border
            self.title.add(words(title, size + 4, color, bold=True).next_to(above, UP, buff=0.08).set_x(self.border.get_x()))
        self.add(self.row_labels, self.column_labels, self.title)

    def _pixels(self) -> np.ndarray:
        i, j = self.vertical.lookup(), self.horizontal.lookup()
        if self.values is None:
            plain, named = theme.rgb(PLAIN), theme.rgb(NAMED)
            is_named = np.isin(i, list(self.vertical.named.values()))[:, None] | np.isin(j, list(self.horizontal.named.values()))[None, :]
            colors = np.where(is_named[..., None], named, plain).astype(np.uint8)
        else:
            unknown = np.isnan(self.values)
            colors = theme.ramp(np.nan_to_num(self.values), None if self.weights else NEGATIVE, theme.TEAL if self.weights else self.color, self.scale_end)
            colors[unknown] = theme.rgb(PLAIN)
            colors = colors[i][:, j]
        alpha = np.where((i[:, None] < 0) | (j[None, :] < 0), 0, 255).astype(np.uint8)
        return np.concatenate([colors, alpha[..., None]], axis=-1)

    def _label_rows(self, size: float) -> None:
        placed: list[int] = []
        for name, i in self.vertical.named.items():
            self.row_labels.add(words(name, size, theme.INK).next_to(self.row(i), LEFT, buff=0.12))
            placed.append(i)
        for a, b in zip(placed, placed[1:]):
            if b > a + 1:
                y = (self.row(a).get_bottom()[1] + self.row(b).get_top()[1]) / 2
                self.row_labels.add(words("⋮", size, theme.GREY, bold=True).next_to([self.image.get_left()[0], y, 0], LEFT, buff=0.26))

    def _label_columns(self, size: float) -> None:
        placed: list[int] = []
        for name, i in self.horizontal.named.items():
            self.column_labels.add(words(name, size, theme.INK).next_to(self.column(i), UP, buff=0.06))
            placed.append(i)
        for a, b in zip(placed, placed[1:]):
            if b > a + 1:
                x = (self.column(a).get_right()[0] + self.column(b).get_left()[0]) / 2
                self.column_labels.add(words("…", size, theme.GREY, bold=True).next_to([x, self.image.get_top()[1], 0], UP, buff=0.06))

    # places --------------------------------------------------------------------------------------------------------
    def cell(self, r: str | int, c: str | int) -> Rectangle:
        """An invisible rectangle over one entry."""
        (y, h), (x, w) = self.vertical.span(r), self.horizontal.span(c)
        return Rectangle(width=w, height=h, stroke_width=0).move_to(self.image.get_corner(UP + LEFT) + np.array([x, -y, 0]))

    def row(self, r: str | int) -> Rectangle:
        """An invisible rectangle over a row, by label, token name or zero-based number."""
        y, h = self.vertical.span(r)
        return Rectangle(width=self.image.width, height=h, stroke_width=0).move_to(self.image.get_top() + y * DOWN)

    def column(self, c: str | int) -> Rectangle:
        """An invisible rectangle over a column."""
        x, w = self.horizontal.span(c)
        return Rectangle(width=w, height=self.image.height, stroke_width=0).move_to(self.image.get_left() + x * RIGHT)

    # marks ---------------------------------------------------------------------------------------------------------
    def mark_row(self, r: str | int, color: str = theme.AMBER) -> VGroup:
        """An outline round a row; transform one mark into another to move it."""
        return spot(self.row(r), color)

    def mark_column(self, c: str | int, color: str = theme.INK) -> VGroup:
        """An outline round a column."""
        return spot(self.column(c), color)

    def mark_cell(self, r: str | int, c: str | int, color: str = theme.INK) -> VGroup:
        """An outline round one entry."""
        return spot(self.cell(r, c), color, 5)

    def quiet(self, row: str | int | None = None, column: str | int | None = None, amount: float = 0.72) -> VGroup:
        """Paper veils over all but one row or one column."""
        place = self.row(row) if row is not None else self.column(column)
        axis = 1 if row is not None else 0
        veils = VGroup()
        for side in ((UP, DOWN) if axis else (LEFT, RIGHT)):
            outer, inner = self.image.get_edge_center(side), place.get_edge_center(side)
            size = abs(outer[axis] - inner[axis])
            if size > 0.01:
                w, h = (self.image.width, size) if axis else (size, self.image.height)
                veils.add(Rectangle(width=w, height=h, stroke_width=0, fill_color=theme.PAPER, fill_opacity=amount).move_to((outer + inner) / 2))
        return veils


def spot(place: Mobject, color: str = theme.AMBER, width: float = 4, least: float = 0.1) -> VGroup:
    """An outline with a white rim round a place, never thinner than ``least``."""
    w, h = max(place.width, least) + 0.04, max(place.height, least) + 0.04
    return VGroup(*(Rectangle(width=w, height=h, stroke_color=c, stroke_width=s) for c, s in (("#FFFFFF", width + 3.5), (color, width)))).move_to(place)


class TokenRow(TokenMatrix):
    """One row of S or A enlarged: a band over all tokens with the named ones as wide cells, names on top, texts under.

    ``texts`` gives one string a named token; ``under`` holds them.
    """

    def __init__(self, values: np.ndarray | None, names: dict[str, int], count: int, width: float, height: float = 0.5, color: str = theme.BLUE, *,
                 texts: dict[str, str] | None = None, wide: float = 1.0, size: float = theme.LABEL, **style):
        super().__init__(None if values is None else np.asarray(values)[None, :], (1, count), width, height, color, across=names, wide=height, wide_across=wide,
                         size=size, **style)
        self.under = Group(*(words(text, size, theme.INK, bold=True).next_to(self.column(name), DOWN, buff=0.1) for name, text in (texts or {}).items()))
        self.add(self.under)


class FeatureRow(TokenMatrix):
    """A vector as a band whose first two features and last one are wide cells, so that their values can stand under them.

    ``texts`` are the values that the run knows, in that order; ``names``, if given, stand on top; ``dots`` is the gap.
    """

    def __init__(self, vector: Vector, width: float, height: float = 0.36, color: str = theme.BLUE, *, digits: int = 3, wide: float = 1.2,
                 size: float = theme.LABEL,
                 names: list[Words] | None = None, scale: float | None = None):
        n = vector.length
        super().__init__(known(vector)[None, :], (1, n), width, height, color, across=feature_names(n), wide=height, wide_across=wide, labels=False,
                         scale=scale)
        shown = [(1, vector[1]), (2, vector[2]), *([(n, vector.last)] if vector.last is not None else [])]
        self.texts = [words(num(v, digits), size, theme.INK, bold=True).next_to(self.column(c - 1), DOWN, buff=0.08) for c, v in shown]
        self.names = [name.next_to(self.column(c - 1), UP, buff=0.06) for name, c in zip(names or [], (1, 2, n))]
        middle = (self.column(1).get_right()[0] + self.column(n - 1).get_left()[0]) / 2
        self.dots = words("…", size, theme.GREY, bold=True).move_to([middle, self.texts[0].get_y(), 0])
        self.add(*self.texts, *self.names, self.dots)


class WeightedRow(Group):
    """source, weight × value row = contribution on one line, revealed piece by piece.

    Strips carry their printed values underneath. ``places`` are the centres of weight, value and contribution, shared
    by lines that stand under one another.
    """

    def __init__(self, name: Words | str, weight: str, share: float, value: Vector, value_text: str, result: Vector, result_text: str,
                 places: tuple[float, float, float], left: float, y: float, width: float = 2.6, height: float = 0.3,
                 limits: tuple[float | None, float | None] = (None, None),
                 size: float = theme.LABEL):
        self.source = Group(words(name, theme.BODY, bold=True) if isinstance(name, str) else name).move_to([left, y, 0], aligned_edge=LEFT)
        self.weight = weight_pill(weight, share, size).move_to([places[0], y, 0])
        self.value, self.result = (value_block(v, t, width, height, limit, size).move_to([x, y, 0])
                                   for v, t, x, limit in ((value, value_text, places[1], limits[0]), (result, result_text, places[2], limits[1])))
        self.times = joint("×", theme.GREY, 0.2).move_to([(self.weight.get_right()[0] + self.value.get_left()[0]) / 2, y, 0])
        self.equals = words("=", theme.CAPTION, theme.GREY).move_to([(self.value.get_right()[0] + self.result.get_left()[0]) / 2, y, 0])
        super().__init__(self.source, self.weight, self.times, self.value, self.equals, self.result)


def value_block(vector: Vector, text: str, width: float = 2.6, height: float = 0.3, limit: float | None = None, size: float = theme.LABEL,
                color: str = theme.BLUE) -> Group:
    """A strip over its printed values."""
    return Group(Strip(vector, color, width, height, limit=limit), words(text, size)).arrange(DOWN, buff=0.07)


def values_text(vector: Vector, n: int = 2, digits: int = 3, last: bool = False) -> str:
    """Leading values, dots, and the last if asked for and known: ``0.418   0.071   …``."""
    shown = [num(v, digits) for v in vector.first[:n]] + ["…"] + ([num(vector.last, digits)] if last and vector.last is not None else [])
    return "   ".join(shown)


def axis_notes(matrix: TokenMatrix, rows_: str = "Rows = queries", columns: str = "Columns = source keys", size: float = theme.SMALL) -> Group:
    """What the sides of a matrix mean: under it, and down its left side."""
    under = words(columns + " →", size, theme.GREY).next_to(matrix.border, DOWN, buff=0.08).align_to(matrix.image, LEFT)
    side = words(rows_ + " →", size, theme.GREY).rotate(-np.pi / 2).next_to(matrix.row_labels, LEFT, buff=0.08).set_y(matrix.image.get_y())
    return Group(under, side)


def lead(text: str) -> Words:
    """The quiet line under a title that says what the page does."""
    return words(text, theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top - 0.1, 0], aligned_edge=LEFT)


def known_limit(*vectors: Vector) -> float:
    """One colour scale for strips that are compared: the 98th percentile of all their known sizes."""
    values = np.concatenate([np.array(v.values or v.first) for v in vectors])
    return float(np.quantile(np.abs(values), 0.98)) or 1.0


__all__ = [
    "Axis",
    "FeatureRow",
    "TokenMatrix",
    "TokenRow",
    "WeightedRow",
    "axis_notes",
    "feature_names",
    "known_limit",
    "lead",
    "spot",
    "token_names",
    "value_block",
    "values_text",
]
