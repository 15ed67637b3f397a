"""The opening page of a section, the same for every section of both decks."""

from __future__ import annotations

from manim import LEFT, RIGHT, UP, Create, FadeIn, Group, GrowFromEdge, Mobject, Rectangle

from . import theme
from .flow import Pipeline, write
from .layout import Area, at, column
from .shapes import Box
from .slide import Slide
from .text import words


class SectionCard(Slide):
    """A section's number and name, what came before, its question, and how far the deck has come.

    Subclasses define ``name``, ``before`` and ``question``; ``topics`` are the steps of the section and ``art`` is
    something to look at, both may be left out. The number comes from the route.
    """

    bare = True

    def name(self) -> str:
        """The section's name."""
        raise NotImplementedError

    def before(self) -> str:
        """One sentence: what the audience brings along."""
        return ""

    def question(self) -> str:
        """The question that this section answers."""
        return ""

    def topics(self) -> tuple[str, ...]:
        """The section's steps in a few words each."""
        return ()

    def art(self) -> Mobject | None:
        """A picture for the right side, at most 4.2 wide and 5.1 high."""
        return None

    def over(self) -> str:
        """The small line above the name."""
        return f"SECTION {int(self.route.split('/')[1][1:]):02d}"

    def title(self) -> str:
        return f"Section {int(self.route.split('/')[1][1:])} · {self.name()}"

    def build(self) -> None:
        art = self.art()
        page = Area.px(112, 150, 1170 if art else 1808, 850)
        head = column(words(self.over(), theme.BODY, theme.BLUE, bold=True), words(self.name(), 84, bold=True, width=page.width), gap=0.2, align=LEFT)
        past = words(self.before(), theme.CAPTION, theme.GREY, width=page.width)
        ask = words(self.question(), 48, bold=True, width=page.width)
        path = Pipeline(*(Box(t, size=theme.LABEL) for t in self.topics()), gap=0.6) if self.topics() else Group()
        page.place(column(head, *(x for x in (past, ask) if x.text), *([path] if len(path) else []), gap=0.62, align=LEFT), LEFT)
        mark = Rectangle(width=10 * theme.PX, height=head.height - 0.1, stroke_width=0, fill_color=theme.BLUE, fill_opacity=1)
        mark.move_to(at(84, 0) * RIGHT + head.get_center() * UP)
        rail, done = self._rail()
        self.go(FadeIn(rail, run_time=0.5))
        if art:
            Area.px(1230, 150, 1808, 850).place(art)
        self.step(GrowFromEdge(mark, UP), *write(*head), *([FadeIn(art)] if art else []), *(Create(d) for d in done), run_time=0.8)
        if past.text:
            self.step(*write(past))
        if ask.text:
            self.step(*write(ask))
        if len(path):
            self.step(*write(*path.stages), *(Create(a) for a in path.arrows), lag_ratio=0.15)

    def _rail(self) -> tuple[Group, Group]:
        """The deck's sections as one line, each as long as its pages; the second part colours those reached."""
        from .. import decks

        deck, key = self.route.split("/")[:2]
        sections = decks.DECKS[deck]
        unit = (1844 - 76 - 8 * (len(sections) - 1)) / sum(s.pages for s in sections)
        here, x, rail, done = [s.key for s in sections].index(key), 76.0, Group(), Group()
        for i, section in enumerate(sections):
            piece = Rectangle(width=section.pages * unit * theme.PX, height=0.06, stroke_width=0, fill_color=theme.LINE, fill_opacity=1).move_to(
                at(x, 76), aligned_edge=LEFT
            )
            rail.add(piece)
            if i <= here:
                done.add(piece.copy().set_fill(theme.BLUE if i == here else theme.tint(theme.BLUE, 0.4)))
            x += section.pages * unit + 8
        return rail, done
