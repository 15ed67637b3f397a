"""A run, or one field of it, as text that reads well in a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .figures import describe, how_many
from .run import Run, Subject, Vector

A_LINE = 8  # numbers


class FieldError(Exception):
    """A field that the run does not have; the message is one sentence for the user."""


def summary(run: Run) -> RenderableType:
    """Where a run comes from and what it found, as a table."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    checkpoint, checks = run.provenance.checkpoint, run.checks
    table.add_row("run", f"{run.name}: {describe(run)}")
    table.add_row("kind", run.provenance.kind)
    table.add_row("checkpoint", f"{checkpoint.name} ({checkpoint.source}, {checkpoint.detail})")
    table.add_row("parameters", f"{run.model.parameters.total:,}; SHA-256 {checkpoint.sha256 or 'not recorded'}")
    for subject in (run.dog, run.cat):
        for name, value in _found(subject):
            table.add_row(name, value)
    if checks:
        table.add_row("checks", f"recomputed by hand, largest difference {max(checks.largest_difference.values()):.1e} (allowed {checks.tolerance:g})")
    table.add_row("date", run.provenance.date)
    table.add_row("versions", ", ".join(f"{name} {version}" for name, version in sorted(run.provenance.versions.items())))
    return table


def _found(subject: Subject) -> Iterator[tuple[str, str]]:
    photo, prediction = subject.photo, subject.prediction
    size = f", {photo.width} × {photo.height}" if photo.width else ""
    known = f", known to show {photo.known_label}" if photo.known_label else ""
    yield photo.species, f"{photo.id} ({photo.kind}{size}{known})"
    yield "", ", ".join(f"{s.label} {100 * s.probability:.2f}%" for s in prediction.top)
    if covers := subject.covers:
        text = f"covers: {how_many(covers.quadrants_keep, len(covers.quadrants))} keep the label"
        if covers.patches:
            one = covers.patches.largest
            text += f"; of single patches {how_many(covers.patches.keep, covers.patches.count)}, {one.name} costs most ({one.points:+.2g} points)"
        yield "", text


def find(run: Run, path: str) -> Any:
    """The part of a run that a dotted path names, as in ``dog.patches.P63.c`` or ``dog.attention.0.values``.

    Raises FieldError with the nearest name, or the names that there are.
    """
    part: Any = run
    walked: list[str] = []
    for step in path.split("."):
        names = _names(part)
        if step not in names:
            where = ".".join(walked) or "the run"
            near = difflib.get_close_matches(step, names, n=1, cutoff=0.5)
            if near:
                raise FieldError(f"There is no '{step}' in {where}; did you mean '{'.'.join([*walked, near[0]])}'?")
            there = f"there are: {', '.join(names[:12])}{' …' if len(names) > 12 else ''}" if names else "it ends there"
            raise FieldError(f"There is no '{step}' in {where}; {there}.")
        part = getattr(part, step) if isinstance(part, BaseModel) else part[int(step)] if isinstance(part, (list, tuple)) else part[step]
        walked.append(step)
    return part


def _names(part: Any) -> list[str]:
    if isinstance(part, BaseModel):
        return [name for name in type(part).model_fields if getattr(part, name) is not None]
    if isinstance(part, dict):
        return list(part)
    return [str(i) for i in range(len(part))] if isinstance(part, (list, tuple)) else []


def field(value: Any) -> RenderableType:
    """A vector or list as numbered lines, anything smaller as itself, anything larger as an outline of its parts."""
    if isinstance(value, Vector):
        return Group(Text(_short(value)), _lines(value.values)) if value.values else Text(_short(value))
    if isinstance(value, (list, tuple)) and len(value) > A_LINE and isinstance(value[0], (int, float)):
        return _lines(value)
    if not _names(value):
        return Text(_short(value))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name in _names(value):
        part = getattr(value, name) if isinstance(value, BaseModel) else value[int(name)] if isinstance(value, (list, tuple)) else value[name]
        table.add_row(name, _short(part))
    return table


def _short(value: Any) -> str:
    if isinstance(value, Vector):
        last = "" if value.last is None or value.length == len(value.first) else f", {_number(value.last)}"
        dots = ", …" if value.length > len(value.first) else ""
        return f"[{', '.join(map(_number, value.first))}{dots}{last}], {value.length} numbers"
    if isinstance(value, (list, tuple)):
        if value and not isinstance(value[0], (int, float)):
            return f"{len(value)} parts"
        shown = ", ".join(map(_number, value[:4]))
        return f"[{shown}, …], {len(value)} numbers" if len(value) > A_LINE else f"[{', '.join(map(_number, value))}]"
    if names := _names(value):
        parts = [(n, getattr(value, n) if isinstance(value, BaseModel) else value[n]) for n in names]
        if len(parts) <= A_LINE + 1 and all(isinstance(part, (str, int, float)) for _, part in parts):
            return ", ".join(f"{n} {_number(part)}" for n, part in parts)
        return f"{{ {', '.join(names[:A_LINE])}{', …' if len(names) > A_LINE else ''} }}"
    return _number(value)


def _number(value: Any) -> str:
    return f"{value:.7g}".replace("-", "−") if isinstance(value, float) else str(value)


def _lines(values: list[float]) -> Text:
    """Numbers eight a line, each line led by the one-based place of its first number."""
    lines = []
    for start in range(0, len(values), A_LINE):
        lines.append(f"{start + 1:>5}  " + " ".join(f"{_number(v):>13}" for v in values[start:start + A_LINE]))
    return Text("\n".join(lines), no_wrap=True)

