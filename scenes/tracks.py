"""What goes along with a joined film: chapters, subtitles, a poster, and where its numbers come from.

Each step of a slide begins on a key frame (:mod:`scenes.film`), so a film tells by itself when its steps begin. What
is said to a slide becomes its subtitles: of a page of the main lecture one passage a step, of others the notes,
sentence by sentence, over the time that the page lasts.
"""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from vit_data import figures
from vit_data.run import Run

from . import decks
from .kit.talk import Talk

LINE, LINES = 42, 2  # characters and lines of one subtitle, as films have them


@dataclass(frozen=True)
class Cue:
    """One subtitle: seconds from the film's start, and its text."""

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Chapter:
    """One chapter: seconds, and its title."""

    start: float
    end: float
    title: str


@dataclass(frozen=True)
class Tracks:
    """Everything that a film of several slides carries besides its pictures."""

    title: str
    about: str
    chapters: list[Chapter]
    cues: list[Cue]

    def srt(self) -> str:
        """The subtitles as SubRip text."""
        return "\n".join(f"{i}\n{_clock(c.start)} --> {_clock(c.end)}\n{c.text}\n" for i, c in enumerate(self.cues, 1))


def of(films: dict[str, Path], run: Run, title: str) -> Tracks:
    """Chapters and subtitles of the film that ``films`` (by route, in order) make together.

    A chapter is a section where there are several, else a slide.
    """
    many = len({decks.section(r).key + r.split("/")[0] for r in films}) > 1
    chapters: list[Chapter] = []
    cues: list[Cue] = []
    at = 0.0
    for route, film in films.items():
        starts, length = step_times(film)
        slide = decks.slides()[route]
        name = decks.section(route).name if many else plain(slide.heading(run))
        if chapters and many and chapters[-1].title == name:
            chapters[-1] = Chapter(chapters[-1].start, at + length, name)
        else:
            chapters.append(Chapter(at, at + length, name))
        cues += [Cue(at + c.start, at + c.end, c.text) for c in slide_cues(slide, run, starts, length)]
        at += length
    return Tracks(title, figures.describe(run), chapters, cues)


def step_times(film: Path) -> tuple[list[float], float]:
    """When each step of a slide's film begins, and how long the film is, in seconds."""
    with av.open(str(film)) as source:
        video = source.streams.video[0]
        keys = [float(p.pts * video.time_base) for p in source.demux(video) if p.is_keyframe and p.pts is not None]
        return sorted(keys), float(video.duration * video.time_base)


def slide_cues(slide: type, run: Run, starts: list[float], length: float) -> list[Cue]:
    """What is said to one slide, over its steps or over its whole time."""
    page = slide.unbuilt(run)
    if issubclass(slide, Talk) and len(page.says()) == len(starts):
        passages = [(start, end, text) for start, end, text in zip(starts, [*starts[1:], length], page.says(), strict=True)]
    else:
        passages = [(0.0, length, page.notes())]
    cues: list[Cue] = []
    for start, end, text in passages:
        blocks = split(plain(text))
        total = sum(len(b) for b in blocks) or 1
        at = start
        for block in blocks:
            share = (end - start) * len(block) / total
            cues.append(Cue(at, at + share, block))
            at += share
    return cues


def split(text: str) -> list[str]:
    """A passage in subtitles of at most two short lines, cut at sentences where they fit."""
    blocks: list[str] = []
    for sentence in filter(None, re.split(r"(?<=[.?!])\s+", text.strip())):
        count = math.ceil(len(sentence) / (LINES * LINE - 6))
        for block in textwrap.wrap(sentence, max(math.ceil(len(sentence) / count) + 6, LINE)):
            # two lines of about the same length read better than a long and a short one
            blocks.append(
                "\n".join(textwrap.wrap(block, LINE if len(block) <= LINE else max(math.ceil(len(block) / LINES) + 4, len(max(block.split(), key=len)))))
            )
    return blocks


def plain(text: str) -> str:
    """Words as they are read: without the markup of :mod:`scenes.kit.text`."""
    return " ".join(re.sub(r"[*$`]", "", text).split())


def subtitle_packets(cues: list[Cue], base: Fraction, length: float) -> list[tuple[int, int, bytes]]:
    """(start, duration, payload) of a 3GPP timed text track in units of ``base``; gaps are empty texts, as the format wants."""
    packets, at = [], 0
    for cue in cues:
        start, end = (round(t / base) for t in (cue.start, cue.end))
        if start > at:
            packets.append((at, start - at, b"\0\0"))
        body = cue.text.encode()
        packets.append((start, max(end - start, 1), len(body).to_bytes(2, "big") + body))
        at = max(end, start + 1)
    last = round(length / base)
    if last > at:
        packets.append((at, last - at, b"\0\0"))
    return packets


def _clock(seconds: float) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"
