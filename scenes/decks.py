"""The decks: their sections in order, and where each slide stands.

A route is ``deck/section/page`` (``reference/s02/20``), ``deck/cover``, or ``lab/page``: the lab has no sections. Slides
live in ``scenes/<deck>/sNN_*.py`` and ``scenes/lab.py`` and are found in the source of those modules; a page that has no slide
yet keeps its number. The gallery shows each part of the kit by itself.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import sources

if TYPE_CHECKING:
    from .kit.slide import Slide


@dataclass(frozen=True)
class Section:
    """One section: its key in routes, its name in the header, how many pages it has."""

    key: str
    name: str
    pages: int


DECKS: dict[str, tuple[Section, ...]] = {
    "lecture": (
        Section("cover", "Vision Transformer", 1),
        Section("s01", "What we bring along", 4),
        Section("s02", "Make tokens", 9),
        Section("s03", "Keep location", 3),
        Section("s04", "Choose a readout", 6),
        Section("s05", "Share information", 14),
        Section("s06", "Predict a class", 7),
        Section("s07", "Beyond this model", 11),
    ),
    "reference": (
        Section("cover", "Vision Transformer", 1),
        Section("s01", "1 · The image classification task", 16),
        Section("s02", "2 · From pixels to patch embeddings", 22),
        Section("s03", "3 · Prepare the rows, then classify the image", 45),
        Section("s04", "4 · Whole model walkthrough", 4),
        Section("s05", "5 · CNNs, ViTs and inductive bias", 5),
        Section("s06", "6 · Implementation lab", 20),
        Section("s07", "7 · Adapt and evaluate the classifier", 12),
        Section("s08", "8 · Return to the real pictures", 5),
        Section("s09", "9 · Look inside the trained model", 9),
        Section("s10", "10 · The cost of smaller patches", 8),
        Section("s11", "11 · The whole ViT in one figure", 4),
    ),
    "lab": (Section("", "Attention and similarity lab", 10),),
    "gallery": (Section("parts", "Parts of the kit", 24),),
}


class UnknownRoute(Exception):
    """A route, section or deck that does not exist; the message is one sentence with the nearest match."""


def order(route: str) -> tuple[int, int, int]:
    """Sort key of a route: deck, section, page."""
    deck, key, page = _parts(route)
    keys = [s.key for s in DECKS[deck]]
    return list(DECKS).index(deck), keys.index(key), int(page)


def _parts(route: str) -> tuple[str, str, str]:
    """Deck, section key and page number of a route."""
    deck, *rest = route.split("/")
    key, page = rest if len(rest) == 2 else ("", rest[0]) if rest[0].isdigit() else (rest[0], "1")
    return deck, key, page


def section(route: str) -> Section:
    """The section that a route belongs to."""
    deck, key, _ = _parts(route)
    return next(s for s in DECKS[deck] if s.key == key)


def page(route: str) -> tuple[int, int]:
    """(page number in the deck, pages of the deck), both as printed in the footer."""
    deck, key, number = _parts(route)
    before = 0
    for s in DECKS[deck]:
        if s.key == key:
            break
        before += s.pages
    return before + int(number), sum(s.pages for s in DECKS[deck])


@functools.cache
def routes() -> tuple[str, ...]:
    """Every route in deck order, read from the source: nothing is imported, so it costs little."""
    return tuple(sorted(sources.NOW.routes, key=order))


@functools.cache
def slide(route: str) -> type[Slide]:
    """The class of a slide; only its own module is imported."""
    module, name = sources.NOW.routes[route]
    return getattr(importlib.import_module(module), name)


@functools.cache
def slides() -> dict[str, type[Slide]]:
    """Every slide class by route, in deck order."""
    found = {route: slide(route) for route in routes()}
    for module in {slide.__module__ for slide in found.values()}:
        for item in vars(importlib.import_module(module)).values():
            route = getattr(item, "route", None) if isinstance(item, type) else None
            if route and item.__module__ == module and found.get(route) is not item:
                raise ValueError(f"{item.__name__} in {module} must write its own route as a plain string: {route}")
    return found


def select(*wanted: str) -> list[str]:
    """Routes named by a deck, a section (``reference/s02``) or a route, in deck order; all of them for no argument.

    Raises UnknownRoute with the nearest match.
    """
    every = list(routes())
    if not wanted:
        return every
    chosen: set[str] = set()
    for name in wanted:
        name = name.strip("/").lower().lstrip("#")
        hits = [r for r in every if r == name or r.startswith(name + "/")]
        if not hits:
            names = every + sorted({r.rsplit("/", 1)[0] for r in every if r.count("/") == 2}) + list(DECKS)
            short = {n.split("/", 1)[1]: n for n in names if "/" in n}
            near = [short.get(n, n) for n in difflib.get_close_matches(name, names + list(short), n=1, cutoff=0.4)]
            raise UnknownRoute(
                f"There is no slide, section or deck '{name}'; " + (f"did you mean '{near[0]}'? " if near else "") + "See: python render.py list"
            )
        chosen.update(hits)
    return [r for r in every if r in chosen]
