"""What a reader would stumble over, found without rendering a frame.

Rules: nothing outside the safe frame; no two texts on top of each other; no text across a border, a picture's edge
or a line; no text below the minimum size; a caption of at most two lines; every step changes the frame; two to six
steps a slide.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from manim import ImageMobject, Mobject, VMobject

from . import theme
from .layout import Area
from .shapes import Connector, Frame
from .slide import Slide
from .stage import lay_out
from .talk import Talk
from .text import Words

SAFE = Area.px(40, 24, 1880, 1062)
SPOKEN = (60, 120)  # words said to a page of the main lecture
_SLACK = 2 * theme.PX


@dataclass(frozen=True)
class Fault:
    """One thing to mend: where, at which step (one-based), and what."""

    route: str
    step: int
    what: str

    def __str__(self) -> str:
        return f"{self.route} step {self.step}: {self.what}"


def check(slide: type[Slide]) -> list[Fault]:
    """Lay a slide out and report every fault once, at the first step that shows it."""
    return examine(slide)[0]


def examine(slide: type[Slide]) -> tuple[list[Fault], dict]:
    """What :func:`check` and :func:`texts` say of a slide, from one layout."""
    faults: dict[str, Fault] = {}
    signatures: list[int] = []
    seen: dict[str, None] = {}

    def look(scene: Slide) -> None:
        step = len(scene.steps)
        for what in _faults(scene):
            faults.setdefault(what, Fault(slide.route, step, what))
        signatures.append(_signature(scene))
        _read(scene, seen)

    scene = lay_out(slide, look)
    for i, (before, after) in enumerate(zip(signatures, signatures[1:]), 2):
        if before == after:
            faults[f"same{i}"] = Fault(slide.route, i, "the step changes nothing")
    least, most = slide.step_range
    if not least <= len(scene.steps) <= most:
        faults["steps"] = Fault(slide.route, len(scene.steps), f"{len(scene.steps)} steps; a slide has {least} to {most}")
    if not scene.notes().strip():
        faults["notes"] = Fault(slide.route, 1, "no spoken notes")
    if isinstance(scene, Talk):
        passages, spoken = len(scene.says()), len(scene.notes().split())
        if passages != len(scene.steps):
            faults["says"] = Fault(slide.route, len(scene.steps), f"{passages} spoken passages for {len(scene.steps)} steps")
        if not SPOKEN[0] <= spoken <= SPOKEN[1]:
            faults["spoken"] = Fault(slide.route, 1, f"{spoken} spoken words; a page of the lecture has {SPOKEN[0]} to {SPOKEN[1]}")
    return list(faults.values()), _told(scene, seen)


def _faults(scene: Slide) -> list[str]:
    texts = [(t, _box(t.ink)) for t in scene.shown()]
    found = []
    family = [m for top in scene.mobjects for m in top.get_family()]
    for m in family:
        box = _visible_box(m)
        if box is not None and not _inside(box, (SAFE.left, SAFE.bottom, SAFE.right, SAFE.top)):
            found.append(f"{_name(m, family)} leaves the safe frame")
    for text, _ in texts:
        least = theme.SMALLEST_FOOTER_PX if text.role == "footer" else theme.SMALLEST_PX
        if text.size_px < least - 0.01:
            found.append(f"'{_short(text)}' is {text.size_px:.0f} px high, at least {least} are needed")
        if text.role == "caption" and text.lines > 2:
            found.append(f"the caption has {text.lines} lines, two fit")
    for (a, box_a), (b, box_b) in combinations(texts, 2):
        if _overlap(box_a, box_b):
            found.append(f"'{_short(a)}' and '{_short(b)}' overlap")
    edges = [(m, _box(m)) for m in family if isinstance(m, (Frame, ImageMobject)) and _visible_box(m) is not None]
    for m, edge in edges:
        found += [f"'{_short(t)}' crosses the edge of a {'picture' if isinstance(m, ImageMobject) else 'box'}"
                  for t, box in texts if _overlap(box, edge) and not _inside(box, edge)]
    for m in family:
        if isinstance(m, Connector):
            trace = _trace(m)
            for t, (x0, y0, x1, y1) in texts:
                if len(trace) and np.any((trace[:, 0] > x0 + _SLACK) & (trace[:, 0] < x1 - _SLACK) & (trace[:, 1] > y0 + _SLACK) & (trace[:, 1] < y1 - _SLACK)):
                    found.append(f"a line runs through '{_short(t)}'")
    return found


def texts(slide: type[Slide]) -> dict:
    """Route, title, caption, notes and every string that the slide draws at any step."""
    seen: dict[str, None] = {}
    return _told(lay_out(slide, lambda scene: _read(scene, seen)), seen)


def _read(scene: Slide, seen: dict[str, None]) -> None:
    seen.update({w.text: None for w in scene.shown() if w.role == "body"})


def _told(scene: Slide, seen: dict[str, None]) -> dict:
    return {"route": scene.route, "title": scene.title(), "caption": " ".join(scene.caption().split()), "notes": scene.notes(), "texts": list(seen)}


def _box(m: Mobject) -> tuple[float, float, float, float]:
    (x0, y0, _), (x1, y1, _) = m.get_corner([-1, -1, 0]), m.get_corner([1, 1, 0])
    return x0, y0, x1, y1


def _visible_box(m: Mobject) -> tuple[float, float, float, float] | None:
    """Box of a mobject's own points if it draws anything."""
    if isinstance(m, ImageMobject):
        return _box(m)
    if isinstance(m, VMobject) and len(m.points) and not isinstance(m, Words):
        if m.get_fill_opacity() > 0.01 or (m.get_stroke_width() > 0 and m.get_stroke_opacity() > 0.01):
            low, high = m.points.min(axis=0), m.points.max(axis=0)
            return low[0], low[1], high[0], high[1]
    return None


def _trace(line: Connector) -> np.ndarray:
    """Points along a connector's visible strokes, dense enough for a letter."""
    parts = [m for m in line.get_family() if isinstance(m, VMobject) and len(m.points) and m.get_stroke_opacity() > 0.05 and m.get_stroke_width() > 0]
    steps = np.linspace(0, 1, 60)[:, None]
    return np.concatenate([a + steps * (b - a) for m in parts for a, b in zip(m.points[::4], m.points[3::4])]) if parts else np.empty((0, 3))


def _overlap(a: tuple, b: tuple) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > _SLACK and min(a[3], b[3]) - max(a[1], b[1]) > _SLACK


def _inside(a: tuple, b: tuple) -> bool:
    return a[0] >= b[0] - _SLACK and a[1] >= b[1] - _SLACK and a[2] <= b[2] + _SLACK and a[3] <= b[3] + _SLACK


def _short(text: Words) -> str:
    return text.text if len(text.text) <= 40 else text.text[:37] + "…"


def _name(m: Mobject, family: list[Mobject]) -> str:
    owner = next((t for t in family if isinstance(t, Words) and m in t.submobjects), None)
    return f"'{_short(owner)}'" if owner else "a picture" if isinstance(m, ImageMobject) else f"a {type(m).__name__.lower()}"


def _signature(scene: Slide) -> int:
    """A hash of everything drawn: places, colours, opacities, pixels."""
    parts = []
    for top in scene.mobjects:
        for m in top.get_family():
            if isinstance(m, ImageMobject):
                parts.append((m.points.tobytes(), m.pixel_array[::8, ::8].tobytes()))
            elif _visible_box(m) is not None:
                parts.append((m.points.tobytes(), m.fill_rgbas.tobytes(), m.stroke_rgbas.tobytes(), float(m.get_stroke_width())))
    return hash(tuple(parts))


__all__ = ["Fault", "check", "texts"]
