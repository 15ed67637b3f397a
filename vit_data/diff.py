"""Two runs side by side: which figures moved, by how much, and which claims that slides make are no longer true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from . import figures
from .run import Run, Subject

NOT_FIGURES = {"name", "schema_version", "provenance", "checks"}


@dataclass(frozen=True)
class Moved:
    """A field with another value: dotted path, both values, and the change where both are numbers.

    Of a list of numbers that moved in many places only the place of the largest change is told, and how many there are.
    """

    field: str
    before: Any
    after: Any
    change: float | None
    places: int = 1


@dataclass(frozen=True)
class Claim:
    """A sentence that slides choose from the data, for each run."""

    what: str
    before: str
    after: str

    @property
    def flipped(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True)
class Difference:
    """What ``compare`` found; ``moved`` by falling size of the change, fields without a size last."""

    moved: list[Moved]
    claims: list[Claim]

    def json(self, before: Run, after: Run) -> str:
        """A document for other programs: both names, every moved field, every flipped claim."""
        document = {"before": before.name, "after": after.name, "moved": [asdict(m) for m in self.moved],
                    "flipped": [asdict(c) for c in self.claims if c.flipped]}
        return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def compare(before: Run, after: Run) -> Difference:
    """Every figure that differs between two runs, and every claim of either."""
    found: dict[str, Moved] = {}
    for path, a, b in _pairs(_figures(before), _figures(after), ""):
        if a == b:
            continue
        change = b - a if _measured(a) and _measured(b) else None
        head, _, last = path.rpartition(".")
        key = head if last.isdigit() and not isinstance(a, (dict, list)) else path
        known = found.get(key)
        if known is None:
            found[key] = Moved(path, a, b, change)
        else:
            larger = abs(change or 0) > abs(known.change or 0)
            found[key] = Moved(*((path, a, b, change) if larger else (known.field, known.before, known.after, known.change)), known.places + 1)
    moved = sorted(found.values(), key=lambda m: (m.change is None, -abs(m.change or 0), m.field))
    return Difference(moved, [Claim(what, a, b) for (what, a), (_, b) in zip(claims(before), claims(after), strict=True)])


def claims(run: Run) -> Iterator[tuple[str, str]]:
    """What slides say that follows from the numbers, in a fixed order: (what, what this run says)."""
    for role, subject in (("dog", run.dog), ("cat", run.cat)):
        prediction = subject.prediction
        yield f"{role}: top label", prediction.top[0].label
        yield f"{role}: the next two", ", ".join(s.label for s in prediction.top[1:3])
        yield f"{role}: right about the known breed", {True: "yes", False: "no", None: "not known"}[prediction.correct]
    dog = run.dog
    for block, head, query in ((4, 1, "ear"), (4, 2, "ear"), (run.model.depth, 1, None)):
        name = dog.place(query) if query else "CLS"
        yield f"strongest source, block {block}, head {head}, query {query or 'CLS'}", _source(dog, block, head, name)
    covers = dog.covers
    yield "covers: largest effect of a quarter", covers.quadrant_largest if covers else "not measured"
    yield "covers: quarters that keep the label", figures.how_many(covers.quadrants_keep, len(covers.quadrants)) if covers else "not measured"
    yield "covers: quarters that raise the probability", ", ".join(c.name for c in covers.quadrants if c.points > 0) or "none" if covers else "not measured"
    patches = covers.patches if covers else None
    yield "covers: patch with the largest effect", patches.largest.name if patches else "not measured"
    yield "covers: patches that keep the label", figures.how_many(patches.keep, patches.count) if patches else "not measured"


def text(found: Difference, before: Run, after: Run, most: int | None = 30) -> RenderableType:
    """The difference for a terminal: flipped claims first, then the figures that moved most."""
    flipped = [c for c in found.claims if c.flipped]
    parts: list[RenderableType] = [Text(f"{before.name}: {figures.describe(before)}"), Text(f"{after.name}: {figures.describe(after)}\n")]
    if not found.moved and not flipped:
        return Group(*parts, Text("No figure differs."))
    told = Table(title=f"{len(flipped)} of {len(found.claims)} claims flipped", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("claim", before.name, after.name):
        told.add_column(column, overflow="fold")
    for claim in flipped:
        told.add_row(claim.what, claim.before, claim.after)
    places = sum(m.places for m in found.moved)
    table = Table(
        title=f"\n{places:,} figures in {len(found.moved):,} fields moved" + (f"; the {most} that moved most" if most and len(found.moved) > most else ""),
        title_justify="left",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for column, justify in (("field", "left"), (before.name, "right"), (after.name, "right"), ("change", "right"), ("in", "right")):
        table.add_column(column, justify=justify, overflow="fold")
    for m in found.moved[:most]:
        table.add_row(
            m.field, _shown(m.before), _shown(m.after), f"{m.change:+.4g}" if m.change is not None else "", f"{m.places:,} places" if m.places > 1 else ""
        )
    return Group(*parts, *([told] if flipped else [Text("No claim flipped.")]), table)


def _source(subject: Subject, block: int, head: int, query: str) -> str:
    try:
        return subject.attention_map(block, head, query).strongest
    except KeyError:
        return "not measured"


def _figures(run: Run) -> dict[str, Any]:
    return {k: v for k, v in run.model_dump(mode="json").items() if k not in NOT_FIGURES}


def _measured(value: Any) -> bool:
    """Measured numbers are floats; whole numbers are indices, sizes and pixels, whose difference has no size."""
    return isinstance(value, float)


def _pairs(a: Any, b: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Leaves of two documents under the same dotted path; a part that only one of them has is a leaf."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from _pairs(a.get(key), b.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _pairs(x, y, f"{path}.{i}")
    else:
        yield path, a, b


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, (dict, list)):
        return f"{len(value)} entries"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if len(str(value)) <= 40 else f"{str(value)[:24]}…"
