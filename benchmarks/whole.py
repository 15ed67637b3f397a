"""A deck by plain ``manim render``, one slide after another, and by ``render.py``: cold, unchanged, and after a change.

``python -m benchmarks.whole [SLIDE]...`` prints one table of times, their ratio to plain Manim's, films rendered, and the memory
of the largest process. Every way renders the same slides at the same size and rate, in turn on the same machine.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from scenes import decks, sources
from scenes.jobs import QUALITIES
from vit_data import run as runs

ROOT = sources.ROOT
QUALITY = "medium"
DEFAULT = ("reference/s02", "reference/s08")  # toy pages without measured numbers, and pages full of them


class Watch(threading.Thread):
    """The memory of the largest process among a session's, read from /proc ten times a second."""

    def __init__(self, session: int):
        super().__init__(daemon=True)
        self.session, self.peak, self._over = session, 0, threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.1):
            for place in Path("/proc").glob("[0-9]*"):
                try:
                    if int((place / "stat").read_text().rsplit(")", 1)[1].split()[3]) == self.session:
                        found = re.search(r"VmHWM:\s+(\d+)", (place / "status").read_text())
                        self.peak = max(self.peak, int(found[1]) // 1024 if found else 0)
                except (OSError, IndexError, ValueError):  # it has ended meanwhile
                    continue

    def stop(self) -> int:
        self._over.set()
        self.join()
        return self.peak


@dataclass
class Cost:
    """Seconds on the wall clock, seconds of processor time, MB of the largest process."""

    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu, max(self.memory, other.memory))


def timed(command: list[str], env: dict[str, str]) -> Cost:
    """What a command, which must succeed, costs with all processes it starts."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    watch = Watch(process.pid)
    watch.start()
    _, said = process.communicate()
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{said.decode()}")
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, watch.stop())


def plain(routes: list[str], run: Path, folder: Path) -> Cost:
    """Manim's own command for each slide."""
    width, height, rate = QUALITIES[QUALITY]
    total = Cost()
    for route in routes:
        module, name = sources.NOW.routes[route]
        total += timed([sys.executable, "-m", "manim", "render", "-r", f"{width},{height}", "--fps", str(rate), "--disable_caching",
                        "--progress_bar", "none", "-v", "ERROR", "--media_dir", str(folder), sources.NOW.file(module), name],
                       {"VIT_RUN": str(run), "PYTHONPATH": str(ROOT)})
    return total


def ours(slides: list[str], run: Path, media: Path, *options: str) -> tuple[Cost, int]:
    """``render.py video``: its cost, and how many films it rendered."""
    def films() -> dict:
        return {p: p.stat().st_mtime_ns for p in media.rglob("*.mp4") if p.parent != media / "bench" / QUALITY}
    before = films()
    program = f"import render, pathlib; render.MEDIA = pathlib.Path({str(media)!r}); render.main()"
    cost = timed([sys.executable, "-c", program, "video", *slides, "--run", str(run), "--quality", QUALITY, *options], {})
    return cost, sum(before.get(p) != t for p, t in films().items())


def measured(folder: Path) -> Path:
    """A copy of the stand-in run, called ``bench``."""
    run = json.loads((runs.CACHE / "standin.json").read_text(encoding="utf-8"))
    for picture in runs.CACHE.glob("standin*.png"):
        shutil.copy(picture, folder)
    target = folder / "bench.json"
    target.write_text(json.dumps(run | {"name": "bench"}), encoding="utf-8")
    return target


def edit(run: Path, change) -> None:
    """Change a run's file."""
    document = json.loads(run.read_text(encoding="utf-8"))
    change(document)
    run.write_text(json.dumps(document), encoding="utf-8")


def one_number(document: dict) -> None:
    """One probability is another."""
    document["dog"]["prediction"]["top"][0]["probability"] *= 0.999


def other_weights(document: dict) -> None:
    """What new weights on the same pictures change: all measured numbers, and the weights' hash."""
    def moved(value):
        if isinstance(value, float):
            return value * 0.999
        if isinstance(value, dict):
            return {k: v if k in ("photo", "pixels", "x") else moved(v) for k, v in value.items()}
        return [moved(v) for v in value] if isinstance(value, list) else value
    for subject in ("dog", "cat"):
        document[subject] = moved(document[subject])
    document["provenance"]["checkpoint"]["sha256"] = "0" * 64


def main(slides: list[str]) -> None:
    """Render the slides, by default two sections, in every way."""
    slides = slides or list(DEFAULT)
    routes = decks.select(*slides)
    print(f"{len(routes)} slides ({', '.join(slides)}) at {'×'.join(map(str, QUALITIES[QUALITY][:2]))}, {QUALITIES[QUALITY][2]} frames a second\n")
    print(f"| {'way':46} | {'seconds':>8} | {'ratio':>6} | {'CPU s':>7} | {'ratio':>6} | {'rendered':>8} | {'MB':>5} |")
    print(f"| {'-' * 46} | {'-' * 7}: | {'-' * 5}: | {'-' * 6}: | {'-' * 5}: | {'-' * 7}: | {'-' * 4}: |")
    with tempfile.TemporaryDirectory(prefix="vit-bench-") as name:
        folder = Path(name)
        run = measured(folder)
        base = plain(routes, run, folder / "plain")

        def line(way: str, cost: Cost, rendered: int) -> None:
            ratios = f"{cost.wall:8.1f} | {cost.wall / base.wall:6.3f} | {cost.cpu:7.1f} | {cost.cpu / base.cpu:6.3f}"
            print(f"| {way:46} | {ratios} | {rendered:8} | {cost.memory:5} |", flush=True)
        line("manim render, one slide after another", base, len(routes))
        for jobs in ("1", "2"):
            media = folder / f"media{jobs}"
            for way, change in (("nothing there yet", None), ("nothing changed", None), ("one number changed", one_number), ("other weights", other_weights)):
                if change:
                    edit(run, change)
                line(f"render.py, {jobs} process{'es' if jobs != '1' else ''}: {way}", *ours(slides, run, media, "--jobs", jobs))
            run = measured(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
