"""One slide, one job: what a worker process does for a film, a still, a check or a slide's texts.

Every job takes plain values and returns plain values, so that it runs in another process or on another machine. A
failure comes back as text and does not stop the others.
"""

from __future__ import annotations

import errno
import os
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import sources  # first of all: it takes the source as it stands before anything that draws is imported

BLOCKED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EIO}
QUALITIES = {"preview": (854, 480, 15), "medium": (1280, 720, 30), "high": (1920, 1080, 60)}


class RemoteError(Exception):
    """Workers that can't be used; the message is one sentence for the user."""


class Stopped(Exception):
    """Something that no slide can be made without is missing; the message is one sentence for the user."""


@dataclass
class Result:
    """What came of a job: the value, or the traceback of its failure."""

    route: str
    value: Any = None
    error: str | None = None
    seconds: float = 0.0
    blocked: tuple[int, str, str] | None = None  # nothing can be written: number, reason and file, as of an OSError
    stopped: str | None = None  # nothing can be drawn: one sentence for the user


@dataclass(frozen=True)
class Job:
    """A unit of work on one slide. ``kind`` is film, stills, check, texts or reads."""

    kind: str
    route: str
    run: str
    options: dict = field(default_factory=dict)


def perform(job: Job) -> Result:
    """Do a job here and now; never raises for a fault of the slide."""
    started = time.perf_counter()
    try:
        value = _KINDS[job.kind](job)
        return Result(job.route, value, None, time.perf_counter() - started)
    except Exception as error:
        text = traceback.format_exc()
        if job.kind == "film" and not isinstance(error, OSError):
            from . import record

            record.write_failure(Path(job.options["path"]), job.route, text)
        number, path = getattr(error, "errno", None), job.options.get("path")
        blocked = (number, os.strerror(number), path) if path and isinstance(error, OSError) and number in BLOCKED else None
        stopped = str(error) if getattr(error, "stops_all", False) else lacking(error) if isinstance(error, ImportError) else None
        return Result(job.route, None, text, time.perf_counter() - started, blocked, stopped)


def lacking(error: ImportError) -> str | None:
    """One sentence on what to install for an import that failed; None if it is this program's own fault."""
    if (error.name or "").split(".")[0] in ("scenes", "vit_data", "render"):
        return None
    if isinstance(error, ModuleNotFoundError):
        return f"The Python package '{error.name}' is not installed; run: pip install -e . in the folder of render.py."
    return f"A library that Manim needs can't be loaded ({' '.join(str(error).split())}); install it as the README says (Cairo and Pango), then run this again."


def _slide(job: Job):
    """The slide's class, with the run chosen; imports are kept out of the parent's start-up."""
    from vit_data import run as runs

    from . import decks, record  # record: before the slide's own module, which may read files
    from .kit.slide import Slide

    Slide.use_run(_load(job.run, runs))
    return decks.slide(job.route)


_loaded: dict[tuple, Any] = {}


def _load(name: str, runs) -> Any:
    """A run, read once for every state of its file."""
    about = runs.path_of(name).stat() if runs.path_of(name).is_file() else None
    key = name, about and (about.st_mtime_ns, about.st_size, about.st_ino)
    if key not in _loaded:
        _loaded[key] = runs.load(name)
    return _loaded[key]


def settings(quality: str):
    """Size and rate of a film as its record has them."""
    from .record import Settings

    return Settings(*QUALITIES[quality])


def _film(job: Job) -> str:
    """Render a slide's film into ``options['path']`` and its record beside it, complete or not at all."""
    from manim import tempconfig

    from . import film, record

    slide, path, size = _slide(job), Path(job.options["path"]), settings(job.options["quality"])
    run, started, made = slide._chosen, time.perf_counter(), {}

    def make(part: Path) -> None:
        with record.reading(run) as found:
            film.shoot(slide, part, size.width, size.height, size.rate, shows)
        made.update(record.describe(job.route, sources.NOW.routes[job.route], found, size), film=record.fingerprint(part))

    with tempconfig({"pixel_width": size.width, "pixel_height": size.height, "frame_rate": size.rate, "disable_caching": True,
                     "verbosity": "ERROR", "progress_bar": "none"}):
        shows = _survey(slide, run).shows
        film.whole(path, make)
    record.write(path, made | {"seconds": round(time.perf_counter() - started, 3)})
    return job.options["path"]


def _survey(slide, run, shows: tuple[bool, bool] = (True, True)):
    """What a slide reads, found by laying it out."""
    from . import record
    from .kit.stage import lay_out

    with record.reading(run) as found:
        lay_out(slide, shows=shows)
    return found


def _reads(job: Job) -> list[str]:
    """The fields that a slide's film will read, without making it."""
    from manim import tempconfig

    slide = _slide(job)
    with tempconfig({"verbosity": "ERROR"}):
        return sorted(_survey(slide, slide._chosen, _survey(slide, slide._chosen).shows).fields)


def _stills(job: Job) -> list[str]:
    """Pictures of the last step, or of every step, as PNG; returns their paths."""
    from manim import tempconfig

    from . import film
    from .kit.stage import lay_out

    slide = _slide(job)
    path = Path(job.options["path"])
    width, height, _ = QUALITIES[job.options["quality"]]
    shots = {}
    with tempconfig({"pixel_width": width, "pixel_height": height, "verbosity": "ERROR"}):
        def look(scene) -> None:
            if job.options["steps"]:
                shots[len(scene.steps)] = scene.renderer.picture(scene)
        scene = lay_out(slide, look, _survey(slide, slide._chosen).shows)
        if not job.options["steps"]:
            shots[0] = scene.renderer.picture(scene)
    files = []
    for step, image in sorted(shots.items()):
        target = path.with_name(f"{path.stem}.{step}.png") if step else path
        film.whole(target, lambda part, image=image: image.save(part, "PNG", compress_level=1))
        files.append(str(target))
    return files


def _check(job: Job) -> list[str]:
    from .kit.check import check

    return [str(fault) for fault in check(_slide(job))]


def _texts(job: Job) -> dict:
    from .kit.check import texts

    return texts(_slide(job))


_KINDS = {"film": _film, "stills": _stills, "check": _check, "texts": _texts, "reads": _reads}
