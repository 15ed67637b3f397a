"""Runs to draw in tests: the committed ones, loaded once and never changed."""

import pytest
from scenes.kit.slide import Slide
from vit_data import run as runs


@pytest.fixture
def published():
    """Slides made in the test show the published figures."""
    Slide.use_run(runs.load("published"))
    yield Slide._chosen
    Slide._chosen = None


@pytest.fixture
def standin():
    """Slides made in the test show the committed stand-in run."""
    Slide.use_run(runs.load("standin"))
    yield Slide._chosen
    Slide._chosen = None
