"""Source lines of the lab on a slide: the line that is read is marked, and what it gives stands beside it."""

from __future__ import annotations

from manim import RIGHT, Animation, FadeIn, Group, Rectangle, Transform

from vit_data.lab_source import Line, Piece
from vit_data.run import Flow, Lab

from . import theme
from .flow import Code
from .shapes import Connector, Frame, arrow
from .text import Words, words

PALE = 0.38  # opacity of lines that are still to be read


def axes(flow: Flow | None) -> str:
    """A shape as it is written on slides: ``B × 196 × 192``; one number for an empty one."""
    if flow is None:
        return ""
    shape = [str(a) for a in flow.shape]  # as code prints them, without commas
    each = "each " if flow.tensors > 1 else ""
    return each + " × ".join(shape) if shape else "one number"


def gives(lab: Lab | None, piece: Piece, start: str) -> Flow | None:
    """What the line that begins with ``start`` gave when it ran; where the run has no lab, the tested comment says it."""
    line = piece.lines[piece.index(start)]
    return _flow(lab, piece.name, line)


def _flow(lab: Lab | None, name: str, line: Line) -> Flow | None:
    measured = lab.flow.get(name, {}).get(line.key) if lab else None
    if measured is not None or not line.comment:
        return measured if line.comment else None
    if line.comment == "scalar":
        return Flow(shape=[])
    text, _, each = line.comment.partition(" each of ")
    return Flow(shape=[a if a == "B" else int(a) for a in text.split(", ")], tensors=int(each or 1))


class Listing(Group):
    """A piece of ``lab.py`` in a panel as wide as asked, and at its right the shape that each line gives.

    Lines are pale until :meth:`read` brings them up; ``lines[i]`` and ``shapes[i]`` are the parts (an empty group where
    a line gives no tensor). Without ``lab``, shapes are those of the file's comments.
    """

    def __init__(self, piece: Piece, lab: Lab | None, width: float, size: float = theme.LABEL + 2, shapes: bool = True, gap: float = 0.12):
        self.piece = piece
        flows = [_flow(lab, piece.name, line) if shapes else None for line in piece.lines]
        pills = [_pill(axes(flow), size - 4) for flow in flows]
        room = max((p.width for p in pills), default=0) + 0.5
        self.code = Code(piece.text, size, width=width, gap=gap)
        free = width - room - 2 * 0.24 if any(flows) else width - 2 * 0.24
        if self.code.lines.width > free:
            size *= free / self.code.lines.width
            self.code = Code(piece.text, size, width=width, gap=gap)
        self.lines, self.frame = self.code.lines, self.code.frame
        self.shapes, self.joins = Group(), Group()
        for line, pill in zip(self.lines, pills):
            if len(pill):
                pill.move_to([self.frame.get_right()[0] - 0.24 - pill.width / 2, line.get_center()[1], 0])
                self.joins.add(Connector(arrow(line.get_right(), [pill.get_left()[0], line.get_center()[1], 0], theme.tint(theme.INK, 0.3), gap=0.14,
                                               width=2)[0])
                               if pill.get_left()[0] - line.get_right()[0] > 0.55 else Group())
            else:
                self.joins.add(Group())
            self.shapes.add(pill)
        for source, line in zip(piece.lines, self.lines):
            for text in () if source.key.startswith("def ") else line:
                text.ink.set_fill(opacity=PALE)
        self.bar: Rectangle | None = None
        super().__init__(self.frame, self.lines, self.joins, self.shapes)

    def index(self, start: str) -> int:
        """The line that begins with ``start``."""
        return self.piece.index(start)

    def cover(self, *starts: str) -> Rectangle:
        """A soft bar behind the lines that begin with these words."""
        lines = Group(*(self.lines[self.index(s)] for s in starts))
        pad = 0.05
        return Rectangle(width=self.frame.width - 0.1, height=lines.height + pad, stroke_width=0, fill_color=theme.AMBER, fill_opacity=0.17).move_to(
            [self.frame.get_center()[0], lines.get_center()[1], 0])

    def full(self) -> Listing:
        """Every line at once, for a listing that is only looked at."""
        for line in self.lines:
            for text in line:
                text.ink.set_fill(opacity=1)
        return self

    def open(self) -> list[Animation]:
        """The panel with every line pale."""
        return [FadeIn(self.frame), *(FadeIn(line) for line in self.lines if len(line))]

    def read(self, *starts: str) -> list[Animation]:
        """The bar goes to these lines, they come up, and what they give appears."""
        goal = self.cover(*starts)
        numbers = [self.index(s) for s in starts]
        if self.bar is None:
            self.bar = goal
            moves: list[Animation] = [FadeIn(goal)]
        else:
            moves = [Transform(self.bar, goal)]
        moves += [Transform(text, _full(text)) for i in numbers for text in self.lines[i]]
        moves += [FadeIn(part, shift=0.15 * RIGHT) for i in numbers for part in (self.joins[i], self.shapes[i]) if len(part)]
        return moves


def _full(text: Words) -> Words:
    full = text.copy()
    full.ink.set_fill(opacity=1)
    return full


def _pill(text: str, size: float) -> Group:
    if not text:
        return Group()
    label = words(text, size, theme.BLUE, bold=True)
    body = Frame(corner_radius=0.12, width=label.width + 0.28, height=label.height + 0.02, stroke_color=theme.tint(theme.BLUE, 0.45), stroke_width=1.6,
                 fill_color=theme.tint(theme.BLUE, 0.08), fill_opacity=1)
    return Group(body, label.move_to(body))


__all__ = ["Listing", "axes", "gives"]
