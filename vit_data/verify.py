"""A run of the lecture's checkpoint and photographs against every figure that the lecture prints.

``printed.json`` lists the figures as they stand on the lecture's pages: the run's field, the text with its printed
decimals, the page. A measured value meets a figure if it rounds to it: |measured − printed| is at most half a unit of
the last printed decimal, and one part in a hundred thousand of the value for another processor's float32.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from . import figures
from .run import Run, RunError, Vector
from .show import FieldError, find
from .story import LECTURE

PRINTED = Path(__file__).with_name("printed.json")


class VerifyError(Exception):
    """A run that can't be compared with the lecture; the message is one sentence for the user."""


@dataclass(frozen=True)
class Printed:
    """A figure of the lecture: ``field`` of a run, ``text`` as printed, ``page`` it stands on."""

    field: str
    text: str
    page: str

    @property
    def value(self) -> float:
        """The number, a percentage as a share."""
        number = float(re.sub(r"[^\d.]", "", self.text)) * (-1 if self.text[0] in "-−" else 1)
        return number / 100 if self.text.endswith("%") else number

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed decimal, on the scale of ``value``."""
        decimals = len(self.text.partition(".")[2].rstrip("%"))
        return 0.5 * 10.0**-decimals / (100 if self.text.endswith("%") else 1)


@dataclass(frozen=True)
class Row:
    """One comparison; ``measured`` is None where the run lacks the field."""

    printed: Printed
    measured: float | None

    @property
    def met(self) -> bool:
        if self.measured is None:
            return False
        return abs(self.measured - self.printed.value) <= self.printed.half_unit + 1e-5 * abs(self.measured) + 1e-12


def printed() -> list[Printed]:
    """The lecture's figures, in the order of its pages."""
    return [Printed(**entry) for entry in json.loads(PRINTED.read_text(encoding="utf-8"))]


def number(run: Run, field: str) -> float | None:
    """The number at a dotted path; coordinates of a vector are one-based, ``dog.patches.P63.c.192``; None where there is none."""
    path, _, last = field.rpartition(".")
    try:
        part = find(run, path) if path else run
        found = part[int(last)] if isinstance(part, Vector) and last.isdigit() else find(run, field)
    except (FieldError, KeyError):
        return None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def compare(run: Run) -> list[Row]:
    """Every printed figure against the run.

    Raises VerifyError if the run shows other weights or other pictures than the lecture.
    """
    why = _why_not(run)
    if why:
        raise VerifyError(f"The run {run.name} can't be compared with the lecture: {why}; measure the lecture's with: python -m vit_data measure")
    return [Row(p, number(run, p.field)) for p in printed()]


def _why_not(run: Run) -> str | None:
    if run.provenance.kind == "published":
        return None  # the printed figures themselves: a test of this table
    if run.provenance.checkpoint.source != "hub":
        return f"its weights are not the lecture's ({figures.describe(run)})"
    for role, subject in (("dog", run.dog), ("cat", run.cat)):
        if subject.photo.sha256 != LECTURE[role].sha256:
            return f"its {role} is not the lecture's photograph ({subject.photo.id})"
    return None


def text(rows: list[Row], everything: bool = False) -> RenderableType:
    """Figure, page, printed, measured, verdict; only those that are off unless ``everything``."""
    off = [r for r in rows if not r.met]
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column, justify in (("figure", "left"), ("page", "left"), ("printed", "right"), ("measured", "right"), ("", "left")):
        table.add_column(column, justify=justify, overflow="fold")
    for r in rows if everything else off:
        scale = 100 if r.printed.text.endswith("%") else 1
        measured = "not measured" if r.measured is None else f"{r.measured * scale:.8g}" + ("%" if scale == 100 else "")
        table.add_row(r.printed.field, r.printed.page, r.printed.text, measured, "within rounding" if r.met else "off")
    verdict = Text(f"{len(rows) - len(off)} of {len(rows)} printed figures agree within their rounding." + (f" {len(off)} are off." if off else ""))
    return Group(*([table] if table.row_count else []), verdict)


__all__ = ["Printed", "Row", "RunError", "VerifyError", "compare", "number", "printed", "text"]
