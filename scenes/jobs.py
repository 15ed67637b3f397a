"""One slide, one job: what a worker process does for a film, a still, a check or a slide's texts.

Every job takes plain values and returns plain values, so that it runs in another process or on another machine. A
failure comes back as text and does not stop the others.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

QUALITIES = {"preview": (854, 480, 15), "medium": (1280, 720, 30), "high": (1920, 1080, 60)}


@dataclass
class Result:
    """What came of a job: the value, or the traceback of its failure."""

    route: str
    value: Any = None
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """A unit of work on one slide. ``kind`` is film, stills, check or texts."""

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
    except Exception:
        return Result(job.route, None, traceback.format_exc(), time.perf_counter() - started)


def _slide(job: Job):
    """The slide's class, with the run chosen; imports are kept out of the parent's start-up."""
    from vit_data import run as runs

    from . import decks
    from .kit.slide import Slide

    Slide.use_run(_load(job.run, runs))
    return decks.slides()[job.route]


_loaded: dict[str, Any] = {}


def _load(name: str, runs) -> Any:
    if name not in _loaded:
        _loaded[name] = runs.load(name)
    return _loaded[name]


def _film(job: Job) -> str:
    """Render a slide's film into ``options['path']``, complete or not at all."""
    from manim import tempconfig

    from . import film

    slide = _slide(job)
    width, height, rate = QUALITIES[job.options["quality"]]
    with tempconfig({"pixel_width": width, "pixel_height": height, "frame_rate": rate, "disable_caching": True, "verbosity": "ERROR", "progress_bar": "none"}):
        film.whole(Path(job.options["path"]), lambda path: film.shoot(slide, path, width, height, rate))
    return job.options["path"]


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
        scene = lay_out(slide, look)
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


_KINDS = {"film": _film, "stills": _stills, "check": _check, "texts": _texts}
