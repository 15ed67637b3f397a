"""What the kit's shortcuts are worth, as ratios in one run: ``python -m benchmarks.rendering [ROUTE]...``.
Whole decks, with nothing or something changed, are in ``benchmarks.whole``, which it runs at the end.

Three comparisons: setting strings with one warm Typst compiler against ``manim.Typst``; laying a slide out against
filming it; filming with one encoder against Manim's own writer. Each pair is timed in turns and the medians compared.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from manim import Typst, tempconfig
from benchmarks import whole
from scenes import decks, film
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from scenes.kit.text import FONTS, words
from vit_data import run as runs

TURNS = 3
SIZE = {"pixel_width": 1280, "pixel_height": 720, "frame_rate": 30}
QUIET = {"verbosity": "ERROR", "progress_bar": "none", "disable_caching": True}


def compare(name: str, ours: Callable[[int], object], other: Callable[[int], object], what: str) -> None:
    """Time both in turns and print the ratio of their medians."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(TURNS):
        for work, into in zip((ours, other), times):
            started = time.perf_counter()
            work(turn)
            into.append(time.perf_counter() - started)
    a, b = map(statistics.median, times)
    print(f"{name:34} {a:8.3f} s   {what}: {b:8.3f} s   ratio {a / b:.2f}", flush=True)


def main(routes: list[str]) -> None:
    """Run the three comparisons on these routes, by default three slides of different kinds."""
    Slide.use_run(runs.load("standin"))
    slides = [decks.slides()[r] for r in routes or ["reference/s02/20", "reference/s08/3", "reference/s09/7"]]
    strings = [f"feature {i} of a row: −0.{i:03}" for i in range(60)]
    with tempfile.TemporaryDirectory() as folder, tempconfig({**SIZE, **QUIET, "media_dir": folder}):
        # a new turn has new strings, so that no cache answers
        compare(f"{len(strings)} new strings", lambda t: [words(f"{t} {s}") for s in strings],
                lambda t: [Typst(f"{t} {s}", font_paths=[FONTS]) for s in strings], "manim.Typst")
        target = Path(folder) / "ours.mp4"

        def ours(_turn: int) -> None:
            for slide in slides:
                film.shoot(slide, target, SIZE["pixel_width"], SIZE["pixel_height"], SIZE["frame_rate"])

        def manims(_turn: int) -> None:
            for slide in slides:
                slide().render()

        compare(f"laying out {len(slides)} slides", lambda _t: [lay_out(s) for s in slides], ours, "filming them")
        compare(f"filming {len(slides)} slides", ours, manims, "Manim's writer")


if __name__ == "__main__":
    main(sys.argv[1:])
    print()
    whole.main(sys.argv[1:])
