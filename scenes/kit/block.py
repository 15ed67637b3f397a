"""The pre-LayerNorm Transformer block, one part at three levels of detail, and rows that stand for a matrix.

Rows run from left to right; the residual path always runs below, in grey, and joins its branch at a plus sign. Heads
have their three tints wherever they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, Create, FadeIn, Group, Mobject, Rectangle, VGroup

from vit_data.run import Model, Vector

from . import theme
from .flow import Layer, connections
from .numbers import count
from .roles import joint
from .shapes import Box, Frame, arrow, elbow, link, outline, picture
from .text import Words, words
from .vectors import _colors, known


def head_color(head: int) -> str:
    """The tint of a one-based head."""
    return theme.HEADS[(head - 1) % len(theme.HEADS)]


class Heads(Group):
    """The heads of a block under one another, each a box in its tint; ``boxes`` are they.

    ``lines(h)`` gives further words in the box of head h.
    """

    def __init__(self, number: int = 3, lines=lambda head: (), width: float = 1.5, height: float = 0.72, gap: float = 0.2, size: float = theme.SMALL):
        self.boxes = Group(*(Box(f"Head {h}", *lines(h), color=head_color(h), width=width, height=height, size=size, fill=0.1) for h in range(1, number + 1)))
        super().__init__(self.boxes.arrange(DOWN, buff=gap))

    def entries(self) -> list[np.ndarray]:
        """Where arrows arrive."""
        return [b.get_left() for b in self.boxes]

    def exits(self) -> list[np.ndarray]:
        """Where arrows leave."""
        return [b.get_right() for b in self.boxes]


class Concat(Group):
    """Messages of the heads joined in one column: a band in each head's tint, its symbol inside; ``bands`` are they."""

    def __init__(self, number: int = 3, width: float = 0.8, height: float = 1.5, size: float = theme.SMALL, label: str = "Concatenate", symbol: str = "H"):
        self.bands = Group()
        for h in range(1, number + 1):
            band = Rectangle(width=width, height=height / number, stroke_color=head_color(h), stroke_width=2, fill_color=theme.tint(head_color(h), 0.16),
                             fill_opacity=1)
            text = words(f"${symbol}^{h}$", size, head_color(h))
            self.bands.add(Group(band, text.move_to(band)))
        self.bands.arrange(DOWN, buff=0)
        super().__init__(self.bands)
        self.label = Group()
        if label:
            self.label.add(words(label, size, theme.INK, bold=True).next_to(self.bands, UP, buff=0.1))
            self.add(self.label)

    def entries(self) -> list[np.ndarray]:
        """Where arrows arrive."""
        return [b[0].get_left() for b in self.bands]

    def exits(self) -> list[np.ndarray]:
        """Where the joined rows leave."""
        return [self.bands.get_right()]


class Neurons(Group):
    """An MLP as a box with three small layers, wide in the middle, and words under them."""

    def __init__(self, *lines: Words | str, color: str = theme.BLUE, width: float = 1.7, height: float | None = None, size: float = theme.SMALL,
                 scale: float = 1.0):
        layers = [Layer([""] * n, radius=0.075 * scale, gap=0.075 * scale, color=color) for n in (3, 6, 3)]
        for layer, x in zip(layers, (-0.46, 0.0, 0.46)):
            layer.move_to([x * scale, 0, 0])
        self.icon = Group(*(connections(a, b, theme.tint(color, 0.4), 1.1) for a, b in zip(layers, layers[1:])), *layers)
        self.label = Group(*(words(t, size, color, bold=i == 0) if isinstance(t, str) else t for i, t in enumerate(lines))).arrange(DOWN, buff=0.05)
        body = Group(self.icon, self.label).arrange(DOWN, buff=0.12) if lines else Group(self.icon)
        self.border = Frame(corner_radius=0.14, width=max(width, body.width + 0.24), height=height or body.height + 0.36, stroke_color=color, stroke_width=2.4,
                            fill_color=theme.tint(color, 0.06), fill_opacity=1)
        super().__init__(self.border, body.move_to(self.border))


def _ports(stage: Mobject, way: str) -> list[np.ndarray]:
    if hasattr(stage, way):
        return getattr(stage, way)()
    body = stage[0] if isinstance(stage, Box) else stage
    return [body.get_left() if way == "entries" else body.get_right()]


def joined(a: Mobject, b: Mobject, color: str = theme.INK, gap: float = 0.06) -> Group:
    """Arrows from a stage's exits to the next one's entries: one, a fan, or side by side."""
    starts, ends = _ports(a, "exits"), _ports(b, "entries")
    n = max(len(starts), len(ends))
    starts, ends = (list(x) * n if len(x) == 1 else x for x in (starts, ends))
    return Group(*(arrow(p, q, color, gap=gap, width=3.2 if n == 1 else 2.4) for p, q in zip(starts, ends)))


class Lane(Group):
    """One residual branch: stages on a line, a plus sign at its end, and the grey path round them below.

    ``stages``, ``arrows`` (``arrows[i]`` leads to stage i, the last to the plus), ``plus`` and ``skip`` are the parts.
    """

    def __init__(self, *stages: Mobject, gap: float = 0.34, lead: float = 0.62, drop: float = 0.42, low: float | None = None, fork: float = 0.4,
                 sign: str = "+"):
        self.stages = Group(*stages).arrange(RIGHT, buff=gap)
        for stage in self.stages:  # a stage's words above it do not move its axis
            axis = np.mean([*_ports(stage, "entries"), *_ports(stage, "exits")], axis=0)[1]
            stage.shift(-axis * UP)
        start = self.stages.get_left() * RIGHT + lead * LEFT
        self.plus = joint(sign, radius=0.24).move_to([self.stages.get_right()[0] + gap + 0.24, 0, 0])
        self.arrows = Group()
        first = _ports(self.stages[0], "entries")
        split = start + (fork * lead + 0.1) * RIGHT
        self.arrows.add(Group(arrow(start, first[0] + 0.03 * LEFT, gap=0.0)) if len(first) == 1 else
                        Group(link(start, split, theme.INK, 3.2), *(arrow(split, p + 0.03 * LEFT, gap=0.0, width=2.4) for p in first)))
        for a, b in zip(self.stages, [*self.stages[1:], self.plus[0]]):
            self.arrows.add(joined(a, b))
        y = (self.stages.get_bottom()[1] if low is None else low) - drop
        point = start + fork * lead * RIGHT
        self.skip = elbow(point, [point[0], y, 0], [self.plus.get_center()[0], y, 0], self.plus[0].get_bottom())
        self.dot = Group(_dot(point))
        super().__init__(self.skip, self.arrows, self.dot, self.stages, self.plus)

    @property
    def entry(self) -> np.ndarray:
        """Where the branch's line begins."""
        return self.arrows[0][0][0].get_start()

    @property
    def exit(self) -> np.ndarray:
        """The right edge of the plus sign."""
        return self.plus[0].get_right()

    def branch(self) -> list[Animation]:
        """The branch appears from left to right: each stage after the arrow that leads to it."""
        moves: list[Animation] = []
        for lead, stage in zip(self.arrows, self.stages):
            moves += [*(Create(a) for a in lead), FadeIn(stage, shift=0.1 * RIGHT)]
        return moves

    def close(self) -> list[Animation]:
        """The grey path is drawn and both meet at the plus sign."""
        return [FadeIn(self.dot), Create(self.skip), *(Create(a) for a in self.arrows[-1]), FadeIn(self.plus)]


def _dot(point: np.ndarray) -> Rectangle:
    return Rectangle(width=0.11, height=0.11, stroke_width=0, fill_color=theme.SKIP, fill_opacity=1).rotate(np.pi / 4).move_to(point)


class Block(Group):
    """A Transformer block. ``detail`` 1: a card; 2: its two branches with their residual paths; 3: opened, with heads,
    concatenation, projection and MLP.

    ``number`` names it (Block 1); ``lines`` are further words on the card. For levels 2 and 3, ``attention`` and ``mlp``
    are :class:`Lane` parts, ``between`` joins them, ``out`` leaves the second plus, ``symbols`` are the rows' names at the
    start, in the middle and at the end, and ``frame`` is the border and ``heading`` the name.
    """

    CARD, BRANCHES, OPEN = 1, 2, 3

    def __init__(self, model: Model, number: int | str = "", detail: int = CARD, lines: Sequence[str] = ("attention + MLP",), width: float | None = None,
                 height: float | None = None, size: float = theme.LABEL, symbols: tuple[str, str, str] = ("E", "U", "E'"), frame: bool = True, gap: float = 0.3,
                 details: tuple[str, str] | None = None, heading: str = ""):
        name = heading or (f"Block {number}" if number else "Transformer block")
        self.detail = detail
        self.attention = self.mlp = self.out = self.symbols = None
        if detail == self.CARD:
            small = [words(t, max(size - 4, theme.SMALLEST_PX), theme.GREY) for t in lines]
            self.card = Box(name, *small, width=width, height=height, size=size)
            self.frame, self.heading = self.card.border, self.card.label[0]
            super().__init__(self.card)
            return
        norm = [Box("LayerNorm", color=theme.GREY, size=size - 2, pad=0.14, height=0.9) for _ in range(2)]
        if detail == self.BRANCHES:
            small = max(size - 4, theme.SMALLEST_PX)
            details = details or (f"{model.heads} heads · {model.head_width} features each",
                                  f"{count(model.width)} → {count(model.hidden)} → {count(model.width)} · GELU")
            first = [norm[0], Box("Self-attention", words(details[0], small, theme.GREY), size=size, height=1.3)]
            second = [norm[1], Box("MLP", words(details[1], small, theme.GREY), size=size, height=1.3)]
        else:
            first = [norm[0], Heads(model.heads, size=size - 3, width=1.25, height=0.62, gap=0.16),
                     Concat(model.heads, width=0.62, height=1.5, size=size - 4, label="Concat"),
                     Box("Linear", words("$W_O$", size - 2, theme.GREY), size=size - 3, pad=0.16, height=0.9)]
            second = [norm[1], Neurons("MLP", words(f"{count(model.width)} → {count(model.hidden)} → {count(model.width)}", theme.SMALLEST_PX, theme.GREY),
                                       words("GELU", theme.SMALLEST_PX, theme.GREY), size=size - 1, scale=0.9)]
        self.attention = Lane(*first, gap=gap)
        self.mlp = Lane(*second, gap=gap)
        low = min(self.attention.stages.get_bottom()[1], self.mlp.stages.get_bottom()[1])
        self.attention, self.mlp = Lane(*first, gap=gap, low=low, lead=1.25, fork=0.68), Lane(*second, gap=gap, low=low, lead=0.9)
        self.mlp.shift(self.attention.exit - self.mlp.entry + 0.06 * RIGHT)
        end = self.mlp.exit
        self.out = arrow(end, end + 0.95 * RIGHT, gap=0.04)
        self.symbols = Group(*(words(f"${s}$", size + 4, theme.BLUE) for s in symbols))
        for symbol, point in zip(self.symbols, (self.attention.entry + 0.24 * RIGHT, self.mlp.entry + 0.36 * RIGHT, end + 0.62 * RIGHT)):
            symbol.next_to(point, UP, buff=0.08)
        self.heading = words(name, size, theme.BLUE, bold=True)
        body = Group(self.attention, self.mlp, self.out, self.symbols)
        self.frame = Group()
        super().__init__(self.frame, body)
        if frame:
            border = Frame(corner_radius=0.2, width=body.width - 1.02, height=body.height + 0.8, stroke_color=theme.tint(theme.BLUE, 0.6), stroke_width=2.2,
                           fill_color=theme.tint(theme.BLUE, 0.03), fill_opacity=1).move_to(body.get_center() + 0.14 * UP + 0.03 * RIGHT)
            self.frame.add(border, self.heading.move_to(border.get_corner(UP + LEFT) + 0.2 * RIGHT + 0.1 * DOWN, aligned_edge=UP + LEFT))
        if width:
            self.scale(min(1.0, width / self.width))
        self.center()

    @property
    def entry(self) -> np.ndarray:
        """Where rows come in."""
        return self.frame.get_left() if self.detail == self.CARD else self.attention.entry

    @property
    def exit(self) -> np.ndarray:
        """Where rows leave."""
        return self.frame.get_right() if self.detail == self.CARD else self.out.get_right()


class SparseMatrix(Group):
    """A matrix by a few of its rows, drawn as one image: names at the left, strips of real values, a gap with ⋮ where rows
    are left out.

    ``rows`` maps names to vectors; None, or a missing row, draws a neutral strip. ``names`` may hold "" for the gap. ``cell(name)`` is the
    place of a row, ``mark(name)`` an outline round it.
    """

    def __init__(self, names: Sequence[str], rows: dict[str, Vector] | None, width: float, length: int, color: str = theme.BLUE, step: float = 0.3,
                 gap: float = 0.06,
                 size: float = theme.SMALL, labels: bool = True, limit: float | None = None):
        self.names, self.step = list(names), step
        values = [known(rows[n]) if n and rows and n in rows else np.full(length, np.nan) for n in self.names]
        every = np.concatenate([v for n, v in zip(self.names, values) if n])
        limit = limit or (float(np.nanquantile(np.abs(every), 0.98)) if np.isfinite(every).any() else 1.0)
        unit, space = 12, max(1, round(12 * gap / step))
        canvas = np.zeros(((unit + space) * len(values) - space, length, 4), dtype=np.uint8)
        for i, (name, row) in enumerate(zip(self.names, values)):
            if name:
                top = i * (unit + space)
                canvas[top : top + unit, :, :3], canvas[top : top + unit, :, 3] = _colors(row[None, :], color, limit), 255
        self.image = picture(canvas, width, canvas.shape[0] * step / unit)
        self.edges, self.labels, self.dots = VGroup(), Group(), Group()
        super().__init__(self.image, self.edges, self.labels, self.dots)
        for i, name in enumerate(self.names):
            if name:
                self.edges.add(outline(self._place(i), theme.tint(color, 0.8), 1.4))
                if labels:
                    self.labels.add(words(name, size, theme.GREY).next_to(self.edges[-1], LEFT, buff=0.1))
            else:
                self.dots.add(words("⋮", size, theme.GREY, bold=True).move_to(self._place(i)))

    def _place(self, index: int) -> Rectangle:
        whole = self.image.height
        pitch = whole / (len(self.names) - 1 + 1 / (1 + self._space()))
        high = pitch / (1 + self._space())
        return Rectangle(width=self.image.width, height=high, stroke_width=0).move_to(self.image.get_top() + DOWN * (index * pitch + high / 2))

    def _space(self) -> float:
        rows = self.image.pixel_array.shape[0]
        return ((rows - 12 * len(self.names)) / max(len(self.names) - 1, 1)) / 12

    def cell(self, name: str) -> Rectangle:
        """An invisible rectangle over a row."""
        return self._place(self.names.index(name))

    def mark(self, name: str, color: str = theme.AMBER, width: float = 3.5) -> Rectangle:
        """An outline round a row."""
        return outline(self.cell(name), color, width, pad=0.03)


__all__ = ["Block", "Concat", "Heads", "Lane", "Neurons", "SparseMatrix", "head_color", "joined"]
