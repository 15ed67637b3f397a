"""Slides of the main lecture: each step comes with what is said to it, and lasts as long as saying it takes."""

from __future__ import annotations

from .slide import Slide

SPOKEN_A_SECOND = 2.4  # about 145 words a minute, an unhurried lecture


class Talk(Slide):
    """A page that is spoken to. Subclasses define ``says`` in place of ``notes``: one passage for each step.

    The film rests at a step until its passage has been said, so that a lecturer can speak to it without stopping it.
    """

    def says(self) -> list[str]:
        """What the lecturer says, a passage a step; 60 to 120 words in all, numbers from the run."""
        raise NotImplementedError

    def notes(self) -> str:
        return " ".join(self.says())

    @property
    def seconds(self) -> float:
        """The planned duration: the time that saying all passages takes."""
        return len(self.notes().split()) / SPOKEN_A_SECOND

    def pause(self, new_words: int) -> float:
        """Until the step's passage is said; never shorter than its new words take to read."""
        passage = self.says()[len(self.steps) - 1] if len(self.steps) <= len(self.says()) else ""
        left = len(passage.split()) / SPOKEN_A_SECOND - (self.renderer.time - self._began)
        return max(super().pause(new_words), left)
