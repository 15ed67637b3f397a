"""The base of every slide: the frame around the page, its steps, and what they showed.

A slide is a Manim scene, so ``manim scenes/reference/s02_patches.py ReadFeatures`` works as for any other; the run
comes from ``use_run`` or, without it, from the environment variable ``VIT_RUN`` and then the default run.
"""

from __future__ import annotations

import os
import textwrap
from typing import Protocol, runtime_checkable

from manim import LEFT, RIGHT, Animation, FadeIn, Group, Line, Mobject, Rectangle, Scene, Wait, config

from vit_data import figures, run as runs

from . import theme
from .layout import Area, at
from .text import Words, words

STAGE = Area.px(76, 196, 1844, 862)  # what is left for the page between title and caption
WORDS_A_SECOND = 3.0

config.background_color = theme.PAPER


@runtime_checkable
class StepWriter(Protocol):
    """A film writer that wants to know where steps end (Manim's own does not)."""

    def mark(self) -> float: ...


class Slide(Scene):
    """One page. Subclasses set ``route`` and define ``title``, ``caption``, ``notes`` and ``build``.

    ``build`` adds parts and calls :meth:`step` once for each reveal; the caption joins the last step.
    """

    route = ""
    bare = False  # a cover or section card draws its own title
    step_range = (2, 6)
    shows = (True, True)  # whether the page has anything from the weights, from the pictures: the footer names them

    run: runs.Run
    _chosen: runs.Run | None = None

    @classmethod
    def use_run(cls, run: runs.Run) -> None:
        """The run that slides made from now on in this process will show."""
        Slide._chosen = run

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._use(Slide._chosen or runs.load(os.environ.get("VIT_RUN")))
        self.steps: list[list[Mobject]] = []   # what stood on the frame at each rest
        self._started, self._began = False, 0.0
        self._read: set[int] = set()           # texts that the audience has had time for

    @classmethod
    def heading(cls, run: runs.Run) -> str:
        """The title for a run, without laying the slide out."""
        return cls.unbuilt(run).title()

    @classmethod
    def unbuilt(cls, run: runs.Run) -> Slide:
        """The slide for a run, only to be asked what it says: nothing is set up for drawing."""
        slide = cls.__new__(cls)
        slide._use(run)
        return slide

    def _use(self, run: runs.Run) -> None:
        self.run, self.dog, self.cat, self.model = run, run.dog, run.cat, run.model

    # what a slide says -------------------------------------------------------------------------------------------
    def title(self) -> str:
        """The headline, numbers from the run."""
        raise NotImplementedError

    def caption(self) -> str:
        """One or two lines that say what the page showed."""
        return ""

    def notes(self) -> str:
        """What the lecturer says to the page."""
        return ""

    def build(self) -> None:
        """Add parts and call :meth:`step`."""
        raise NotImplementedError

    # the frame ---------------------------------------------------------------------------------------------------
    def construct(self) -> None:
        from .. import decks  # the decks import the slides

        section, (number, total) = decks.section(self.route), decks.page(self.route)
        footer = words(figures.describe(self.run, *self.shows), theme.FOOTER, theme.GREY, role="footer")
        footer.move_to(at(76, 1036), aligned_edge=LEFT)
        pages = words(f"{number} / {total}", theme.FOOTER, theme.GREY, role="footer")
        pages.move_to(at(1844, 1036), aligned_edge=RIGHT)
        self.add(footer, pages)
        if not self.bare:
            over = words(section.name, theme.SMALL, theme.GREY, role="section").move_to(at(112, 54), aligned_edge=LEFT)
            head = words(self.title(), theme.TITLE, bold=True, role="title")
            if head.width > STAGE.width - 36 * theme.PX:
                head.scale((STAGE.width - 36 * theme.PX) / head.width)
            head.move_to(at(112, 116), aligned_edge=LEFT)
            mark = Rectangle(width=10 * theme.PX, height=64 * theme.PX, stroke_width=0, fill_color=theme.BLUE, fill_opacity=1)
            mark.move_to(at(84, 116))
            self.add(over, head, mark)
            self._head = [over, head]
            self._read.update(id(x) for x in (over,))
        self._read.update((id(footer), id(pages)))
        self.build()
        self._close()

    def _close(self) -> None:
        """The caption under its rule, as the end of the last step."""
        text = textwrap.dedent(self.caption()).strip().replace("\n", " ")
        if text:
            rule = Line(at(76, 884), at(1844, 884), stroke_width=2, color=theme.LINE)
            caption = words(text, theme.CAPTION, width=STAGE.width, align="left", role="caption")
            caption.move_to(at(76, 948 if caption.lines > 1 else 938), aligned_edge=LEFT)
            self.caption_words = caption
            self.play(FadeIn(Group(rule, caption), run_time=0.5))
        self.rest()

    # steps -------------------------------------------------------------------------------------------------------
    def step(self, *animations: Animation | Mobject, run_time: float | None = None, lag_ratio: float | None = None) -> None:
        """One reveal: play the animations (a bare mobject fades in), then rest until its words are read.

        The rest comes with the next step or the end, so that more movements, and the caption, can join this one.
        """
        if self._started:
            self.rest()
        self._started = True
        self._began = self.renderer.time
        self.go(*animations, run_time=run_time, lag_ratio=lag_ratio)

    def go(self, *animations: Animation | Mobject, run_time: float | None = None, lag_ratio: float | None = None) -> None:
        """Part of a step: the same animations without a rest, for a reveal in several movements."""
        moves = [FadeIn(a) if isinstance(a, Mobject) else a for a in animations if not (isinstance(a, Mobject) and not a.family_members_with_points())]
        if moves:
            options = {k: v for k, v in (("run_time", run_time), ("lag_ratio", lag_ratio)) if v is not None}
            self.play(*moves, **options)

    def rest(self) -> None:
        """End a step: hold the frame while the new words are read, about three a second, 0.8 s at least, 4 s at most."""
        self._settle()
        new = [w for w in self.shown() if id(w) not in self._read]
        self._read.update(id(w) for w in new)
        self.play(Wait(self.pause(sum(len(w.text.split()) for w in new)), frozen_frame=True))
        if isinstance(self.renderer.file_writer, StepWriter):
            self.renderer.file_writer.mark()

    def pause(self, new_words: int) -> float:
        """Seconds that a step rests once its movements are over, for the words that came with it."""
        return min(4.0, max(0.8, new_words / WORDS_A_SECOND))

    def _settle(self) -> None:
        self.steps.append(list(self.mobjects))
        settled = getattr(self.renderer, "settled", None)  # a stage (see stage.py) looks at the frame here
        if settled:
            settled(self)

    def shown(self) -> list[Words]:
        """The visible texts on the frame now, in drawing order."""
        return [m for top in self.mobjects for m in top.get_family() if isinstance(m, Words) and visible(m)]


def visible(mobject: Words) -> bool:
    """Whether a text can be seen: some outline with more than 5 % opacity."""
    return any(part.get_fill_opacity() > 0.05 for part in mobject.ink)
