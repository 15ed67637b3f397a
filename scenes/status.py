"""Which films are as they would be made now, and why the others are not; which slides show a field of the run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vit_data.run import Run

from . import record, sources
from .record import ABSENT, Settings

_ROW = re.compile(r"(\d+|CLS|P\d+)$")


@dataclass(frozen=True)
class State:
    """``fresh``, ``stale``, ``missing`` or ``failed``, with the reasons, the most telling first."""

    kind: str
    reasons: tuple[str, ...] = ()
    made: dict | None = field(default=None, repr=False)  # the record, where there is one

    def __str__(self) -> str:
        more = f" (and {len(self.reasons) - 2} more)" if len(self.reasons) > 2 else ""
        return "; ".join(self.reasons[:2]) + more


def judge(route: str, film: Path, run: Run, settings: Settings) -> State:
    """Compare a film on disk with what would be made of its slide now. Nothing is imported or laid out."""
    made = record.read(film)
    if made and "failed" in made:
        return State("failed", (made["failed"],))
    if not film.exists():
        return State("missing", made=made)
    if made is None:
        return State("stale", ("no record says what it was made from",))
    if not record.is_film(film, made["film"]):
        return State("stale", ("the film is not the recorded one",), made)
    reasons = [*_source(route, made["source"]), *_fields(made["reads"], run), *_files(made["files"]), *_rest(made, record.surroundings(route, settings))]
    return State("stale", tuple(reasons), made) if reasons else State("fresh", (), made)


def reads(state: State, route: str, run: Run) -> list[str] | None:
    """The fields that a slide reads of ``run``, if its record still tells: same source, same values. None if not."""
    made = state.made
    if made is None or "reads" not in made or [*_source(route, made["source"]), *_fields(made["reads"], run), *_files(made["files"])]:
        return None
    return list(made["reads"])


def longest_first(states: dict[str, State]) -> list[str]:
    """Routes by the time that their films took, or, for new slides, by how much they play: the last to start should be short."""
    took = {r: s.made["seconds"] for r, s in states.items() if s.made and "seconds" in s.made}
    plays = {r: max(1, sources.NOW.moves(r)) for r in states}
    pace = sum(took.values()) / sum(plays[r] for r in took) if took else 1.0
    return sorted(states, key=lambda r: -took.get(r, pace * plays[r]))


def changed(fields: Iterable[str], old: Run, new: Run) -> list[str]:
    """Why a slide that reads ``fields`` of ``old`` looks different with ``new``; nothing if it can't."""
    return list(_fields({f: record.value(old, f) for f in fields}, new))


def showing(wanted: str, fields: Iterable[str]) -> list[str]:
    """Those of ``fields`` that ``wanted`` names: ``c``, ``patches.c``, ``dog.patches.P63`` or a whole path."""
    return [f for f in fields if _names(wanted, f)]


def nearest(wanted: str, fields: Iterable[str]) -> str | None:
    """The step or path among ``fields`` that is spelled most like ``wanted``."""
    every = {f for path in fields for f in (path, *(s for s in record.steps(path) if not _ROW.match(s)))}
    return next(iter(difflib.get_close_matches(wanted, sorted(every), n=1, cutoff=0.5)), None)


def _names(wanted: str, path: str) -> bool:
    asked = record.steps(wanted)
    steps = record.steps(path)
    if not any(_ROW.match(a) for a in asked):
        steps = [s for s in steps if not _ROW.match(s)]  # rows and places in lists, where none is asked for
    return any(all(_same(a, s) for a, s in zip(asked, steps[i:])) for i in range(len(steps) - len(asked) + 1))


def _same(asked: str, step: str) -> bool:
    return step in (asked, f"{asked}s", f"{asked}es")


def _source(route: str, then: dict[str, dict[str, str]]) -> Iterator[str]:
    node = sources.NOW.routes.get(route)
    now = sources.NOW.digests(node, record.WRITER) if node else {}
    own = sources.NOW.file(node[0]) if node else ""
    for file in sorted({*then, *now}, key=lambda f: (f != own, f)):
        before, after = then.get(file, {}), now.get(file, {})
        names = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
        if names:
            yield f"{file} changed ({', '.join(n or 'its body' for n in names[:3])}{', …' if len(names) > 3 else ''})"


def _fields(then: dict[str, Any], run: Run) -> Iterator[str]:
    for path, before in then.items():
        after = record.value(run, path)
        if before != after:
            yield f"{path}: {_say(before, after)}"


def _files(then: dict[str, str]) -> Iterator[str]:
    for file, before in then.items():
        if record.file_hash(file) != before:
            yield f"{file} changed"


def _rest(made: dict, now: dict) -> Iterator[str]:
    if made["place"] != now["place"]:
        yield f"its place: {' '.join(map(str, made['place']))} → {' '.join(map(str, now['place']))}"
    for name in sorted({*made["versions"], *now["versions"]}):
        before, after = made["versions"].get(name, "none"), now["versions"].get(name, "none")
        if before != after:
            yield f"{name} {before} → {after}"
    if made["settings"] != now["settings"]:
        yield "other settings"


def _say(before: Any, after: Any) -> str:
    """From what to what, in a few words."""
    def short(v: Any) -> str:
        if v == ABSENT or isinstance(v, dict) and "part" in v:
            return "absent" if v == ABSENT else "there"
        if v is None:
            return "not known"
        if isinstance(v, float):
            return f"{v:.7g}".replace("-", "−")
        if isinstance(v, str):
            return f"'{v if len(v) <= 30 else v[:12] + '…'}'"
        return str(v)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        differ = [i for i, (a, b) in enumerate(zip(before, after)) if a != b]
        return f"number {differ[0] + 1} {short(before[differ[0]])} → {short(after[differ[0]])}"
    if isinstance(before, dict) and isinstance(after, dict):
        if "pixels" in before or "pixels" in after:
            return "other pixels"
        if "of" in before and "of" in after:
            return f"{after['of']} values, some other" if before["of"] == after["of"] else f"{before['of']} → {after['of']} values"
        keys = [k for k in before if before.get(k) != after.get(k)] or [k for k in after if k not in before]
        return f"{keys[0]} {short(before.get(keys[0]))} → {short(after.get(keys[0]))}" if keys else "other order"
    if isinstance(before, (dict, list)) or isinstance(after, (dict, list)):
        return " → ".join(short(v) if v is None or v == ABSENT else "values" for v in (before, after))
    return f"{short(before)} → {short(after)}"
