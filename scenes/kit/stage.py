"""Laying a slide out without making a film: animations are begun and finished, rests are skipped.

The same ``Slide`` runs on a renderer that draws nothing until asked, so a check or a still costs the layout and one
frame, not a film.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from manim import Wait
from manim.renderer.cairo_renderer import CairoRenderer
from PIL import Image

from .slide import Slide


class _NoFilm:
    """Stands where Manim expects its film writer; nothing is written."""

    def __init__(self, *_args, **_kwargs):
        self.sections: list = []

    def finish(self) -> None: ...

    def abort_encode_jobs(self, **_kwargs) -> None: ...


class Stage(CairoRenderer):
    """A renderer that jumps to the end of every animation and calls ``look(slide)`` at every step."""

    def __init__(self, look: Callable[[Slide], None] | None = None):
        super().__init__(file_writer_class=_NoFilm)
        self._look = look

    def play(self, scene: Slide, *animations, **options) -> None:
        scene.compile_animation_data(*animations, **options)
        if len(scene.animations) == 1 and isinstance(scene.animations[0], Wait):
            return
        for animation in scene.animations:
            animation._setup_scene(scene)
            animation.begin()
        for animation in scene.animations:
            animation.finish()
            animation.clean_up_from_scene(scene)
        scene.update_mobjects(0)
        self.num_plays += 1

    def settled(self, scene: Slide) -> None:
        """Called by the slide after each reveal."""
        if self._look:
            self._look(scene)

    def picture(self, scene: Slide) -> Image.Image:
        """The frame as it stands, RGB."""
        self.static_image = None
        self.update_frame(scene)
        return Image.fromarray(np.ascontiguousarray(self.camera.pixel_array[..., :3]))

    def scene_finished(self, scene: Slide) -> None: ...


def lay_out(slide: type[Slide], look: Callable[[Slide], None] | None = None, shows: tuple[bool, bool] = (True, True)) -> Slide:
    """Build a slide to its last step and return it; ``look(slide)`` is called at the end of each step."""
    scene = slide(renderer=Stage(look))
    scene.shows = shows
    scene.setup()
    scene.construct()
    return scene
