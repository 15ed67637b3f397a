"""Every slide, laid out on two runs: clean, complete, and live."""

import json
import re

import pytest
from scenes import decks
from scenes.kit.check import check, texts
from scenes.kit.slide import Slide
from vit_data import figures, run as runs

ROUTES = list(decks.slides())
STORY = [r for r in ROUTES if not r.startswith("gallery/")]
NUMBER = re.compile(r"[−+]?\d[\d,]*\.\d+")


@pytest.mark.parametrize("route", ROUTES)
def test_clean_with_published_figures(published, route):
    assert check(decks.slides()[route]) == []


@pytest.mark.parametrize("route", ROUTES)
def test_clean_with_the_standin(standin, route):
    assert check(decks.slides()[route]) == []


@pytest.mark.parametrize("route", STORY)
def test_says_something(published, route):
    page = texts(decks.slides()[route])
    assert page["title"] and page["texts"] and page["notes"]
    assert page["caption"] or route.endswith("cover")
    assert 20 <= len(page["notes"].split()) <= 140


def _moved(value):
    """A run's document with every measured number moved, the shape and counts of the model left alone."""
    if isinstance(value, float):
        return value * 0.83 + (0.0137 if 0 <= value <= 1 else 0.217)
    if isinstance(value, dict):
        return {k: v if k in ("model", "fill", "scale") else [[255 - c for c in rgb] for rgb in v] if k == "pixels" else _moved(v) for k, v in value.items()}
    return [_moved(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def moved_run():
    document = _moved(json.loads(runs.PUBLISHED.read_text(encoding="utf-8")))
    for subject in ("dog", "cat"):
        document[subject]["prediction"]["top"][0]["label"] = f"renamed {subject} breed"
    return runs.Run.model_validate(document)


def test_no_measured_number_is_typed_into_a_scene(published, moved_run):
    """Draw all slides from the published figures and again with each of them changed: no old figure may remain."""
    kept = {}
    for route in STORY:
        Slide.use_run(published)
        before = texts(decks.slides()[route])
        Slide.use_run(moved_run)
        after = texts(decks.slides()[route])
        old, new = (set(NUMBER.findall(" ".join([p["title"], p["caption"], p["notes"], *p["texts"]]))) for p in (before, after))
        stays = old & new - FIXED
        if stays:
            kept[route] = stays
        for subject in ("dog", "cat"):
            name = getattr(published, subject).prediction.top[0].label
            if name in " ".join(after["texts"] + [after["caption"], after["notes"], after["title"]]):
                known = getattr(published, subject).photo.known_label
                assert name == known, f"{route} still says {name}"
    assert kept == {}


# the transform's mean and deviation, the grey of a cover, the ends of a fixed scale: the model's, not measured
FIXED = {"0.5", "1.000", "−1.000"}


# where the lecture prints a figure, it stands on the slide: route → figures as functions of the run
PRINTED = {
    "reference/s02/16": lambda run: [str(v) for pixel in run.dog.patches["P63"].pixels[:2] for v in pixel],
    "reference/s02/20": lambda run: [f"{v:.3f}".replace("-", "−") for v in (*run.dog.patches["P63"].c.first[:3], run.dog.patches["P63"].c.last)],
    "reference/s08/3": lambda run: [x for s in run.dog.prediction.top[:3] for x in (s.label, f"{100 * s.probability:.2f}%")],
    "reference/s08/5": lambda run: [x for s in run.cat.prediction.top[:3] for x in (s.label, f"{100 * s.probability:.2f}%")],
    "reference/s09/7": lambda run: [f"{100 * c.probability:.2f}%" for c in run.dog.covers.quadrants] + [f"{abs(c.points):.2f}" for c in run.dog.covers.quadrants],
}


@pytest.mark.parametrize("route", PRINTED)
@pytest.mark.parametrize("name", ["published", "standin"])
def test_printed_figures_stand_on_their_slide(route, name):
    run = runs.load(name)
    Slide.use_run(run)
    drawn = " ".join(texts(decks.slides()[route])["texts"])
    assert [figure for figure in PRINTED[route](run) if figure not in drawn] == []


@pytest.mark.parametrize("name", ["published", "standin"])
def test_footer_names_the_run(name):
    from scenes.kit.stage import lay_out

    run = runs.load(name)
    Slide.use_run(run)
    scene = lay_out(decks.slides()["reference/s02/20"])
    assert figures.describe(run) in [w.text for w in scene.shown() if w.role == "footer"]


def test_routes_are_pages_of_the_decks():
    for route in ROUTES:
        number, total = decks.page(route)
        assert 1 <= number <= total
    assert sum(s.pages for s in decks.DECKS["lecture"]) == 55
    assert sum(s.pages for s in decks.DECKS["reference"]) == 151


def test_selection_and_nearest_match():
    assert decks.select("reference/s09/7") == ["reference/s09/7"]
    section = decks.select("reference/s09")
    assert section == sorted(section, key=decks.order) and all(r.startswith("reference/s09/") for r in section)
    with pytest.raises(decks.UnknownRoute, match="did you mean 'reference/s02/20'"):
        decks.select("s02/20")
    with pytest.raises(decks.UnknownRoute, match="python render.py list"):
        decks.select("zzz")
