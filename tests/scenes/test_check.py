"""Each rule finds the fault it is for, and a clean slide has none."""

import numpy as np
import pytest
from manim import RIGHT, UP
from scenes.kit import STAGE, FadeOut, Slide, around, arrow, at, picture, words
from scenes.kit.check import check, texts


def slide(build, **attributes):
    """A slide of the deck's first page with this ``build``."""
    methods = {"route": "reference/s02/20", "title": lambda self: "A title", "notes": lambda self: "A note.", "caption": lambda self: "A caption.",
               "build": build, **attributes}
    return type("Trial", (Slide,), methods)


def faults(build, **attributes):
    return " | ".join(map(str, check(slide(build, **attributes))))


def two_steps(*first):
    def build(self):
        self.step(*first)
        self.step(words("second").move_to(STAGE.center + 1.8 * UP + 4 * RIGHT))
    return build


def test_clean_slide(published):
    assert faults(two_steps(words("first"))) == ""


@pytest.mark.parametrize("parts, found", [
    ((lambda: [words("far out").move_to(at(1900, 500))]), "'far out' leaves the safe frame"),
    ((lambda: [words("one"), words("two")]), "'one' and 'two' overlap"),
    ((lambda: [words("tiny", 12)]), "'tiny' is 12 px high, at least 22 are needed"),
    ((lambda: [words("boxed"), around(words("box")).shift(0.6 * RIGHT)]), "'boxed' crosses the edge of a box"),
    ((lambda: [picture(np.zeros((4, 4, 3), np.uint8), 1.0), words("over the edge")]), "'over the edge' crosses the edge of a picture"),
    ((lambda: [words("struck out", 60), arrow(at(500, 540), at(1400, 545))]), "a line runs through 'struck out'"),
])
def test_rules(published, parts, found):
    assert found in faults(two_steps(*parts()))


def test_text_inside_a_box_is_fine(published):
    label = words("boxed")
    assert faults(two_steps(around(label, fill="#FFFFFF"), label)) == ""


def test_long_caption(published):
    assert "the caption has 4 lines, two fit" in faults(two_steps(words("first")), caption=lambda self: "word " * 70)


def test_step_that_changes_nothing(published):
    def build(self):
        label = words("first")
        self.step(label)
        self.step(label)
        self.step(words("second").shift(UP))
    assert "step 2: the step changes nothing" in faults(build)


def test_number_of_steps_and_notes(published):
    assert "1 steps; a slide has 2 to 6" in faults(lambda self: self.step(words("only")))
    assert "no spoken notes" in faults(two_steps(words("first")), notes=lambda self: " ")


def test_invisible_text_is_no_fault_and_no_text(published):
    hidden = words("hidden", 12).set_opacity(0)
    build = two_steps(words("first"), hidden)
    assert faults(build) == ""
    assert texts(slide(build))["texts"] == ["first", "second"]


def test_texts_of_every_step(published):
    def build(self):
        gone = words("gone later")
        self.step(gone)
        self.step(FadeOut(gone), words("stays"))
    found = texts(slide(build))
    assert found["texts"] == ["gone later", "stays"]
    assert (found["title"], found["caption"]) == ("A title", "A caption.")
