"""One still for each part of the kit, compared as pixels: the fonts are pinned, so the same part is the same picture on every machine.

After a change that is meant to be seen: look at the new picture, then accept it with the command that the failure names.
"""

import sys

import pytest
from manim import tempconfig
from scenes import decks
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from snapshots import compare
from vit_data import run as runs

PAGES = [route for route in decks.slides() if route.startswith("gallery/")]
TOLERANCE = 0.003  # per cent of full scale, mean over all pixels: half of what one changed digit of one label makes


@pytest.fixture(scope="module", autouse=True)
def standin():
    Slide.use_run(runs.load("standin"))
    yield
    Slide._chosen = None


def still(route):
    with tempconfig({"pixel_width": 480, "pixel_height": 270}):
        scene = lay_out(decks.slides()[route])
        for name in ("footer", "section"):  # the run's date and the page's number are no part of the kit
            scene.remove(*(m for m in scene.mobjects if getattr(m, "role", "") == name))
        return scene.renderer.picture(scene)


@pytest.mark.parametrize("route", PAGES)
def test_a_part_looks_as_it_was_accepted(route, image_regression):
    compare(image_regression, still(route), basename=decks.slides()[route].__name__, diff_threshold=TOLERANCE)


def test_a_change_that_a_reader_would_see_is_found(image_regression, monkeypatch):
    """One digit of one label is enough, and the failure says how to accept it."""
    page = decks.slides()["gallery/parts/1"]
    drawn = page.part
    monkeypatch.setattr(page, "part", lambda self: _one_digit_less(drawn))
    with pytest.raises(AssertionError, match="accept it with: python -m pytest .* --regen-all"):
        compare(image_regression, still(page.route), basename=page.__name__, diff_threshold=TOLERANCE)


def _one_digit_less(draw):
    module = sys.modules[draw.__module__]
    typeset = module.words
    try:
        module.words = lambda text, *args, **options: typeset(text.replace("1,397,124", "1,397,121"), *args, **options)
        return draw(None)
    finally:
        module.words = typeset
