"""Every slide, laid out on two runs: clean, complete, and live."""

import functools
import json
import re

import pytest
from scenes import decks
from scenes.kit.check import check, examine, texts
from scenes.kit.slide import Slide
from snapshots import compare, page_text
from vit_data import figures, run as runs

ROUTES = list(decks.slides())
STORY = [r for r in ROUTES if not r.startswith("gallery/")]
NUMBER = re.compile(r"[−+]?\d[\d,]*\.\d+")


@functools.cache
def examined(name, route):
    """Faults and texts of a slide on a committed run; laid out once for all tests."""
    Slide.use_run(runs.load(name))
    return examine(decks.slides()[route])


@pytest.mark.parametrize("route", ROUTES)
def test_clean_with_published_figures(route):
    assert examined("published", route)[0] == []


@pytest.mark.parametrize("route", ROUTES)
def test_clean_with_the_standin(route):
    assert examined("standin", route)[0] == []


@pytest.mark.parametrize("route", STORY)
def test_says_something(route):
    page = examined("published", route)[1]
    assert page["title"] and page["texts"] and page["notes"]
    assert page["caption"] or route.endswith("cover")
    assert 20 <= len(page["notes"].split()) <= 140


def _moved(value):
    """A run's document with every measured number moved, the shape and counts of the model left alone."""
    if isinstance(value, float):
        return value * 0.83 + (0.0231 if 0 <= value <= 1 else 0.217)
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
        before = examined("published", route)[1]
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
# the made-up step of gradient descent (vit_data.head.EXAMPLE_STEP)
# the spread of the random numbers that CLS starts from, a paper's number on arXiv
FIXED = {"0.5", "1.000", "−1.000", "0.020", "0.1", "0.30", "−0.010", "0.02", "2010.11929"}


# where the lecture prints a figure, it stands on the slide: route → figures as functions of the run
PRINTED = {
    "reference/s02/16": lambda run: [str(v) for pixel in run.dog.patches["P63"].pixels[:2] for v in pixel],
    "reference/s02/20": lambda run: [f"{v:.3f}".replace("-", "−") for v in (*run.dog.patches["P63"].c.first[:3], run.dog.patches["P63"].c.last)],
    "reference/s08/3": lambda run: [x for s in run.dog.prediction.top[:3] for x in (s.label, f"{100 * s.probability:.2f}%")],
    "reference/s08/5": lambda run: [x for s in run.cat.prediction.top[:3] for x in (s.label, f"{100 * s.probability:.2f}%")],
    "reference/s09/7": lambda run: (
        [f"{100 * c.probability:.2f}%" for c in run.dog.covers.quadrants] + [f"{abs(c.points):.2f}" for c in run.dog.covers.quadrants]
    ),
}


@pytest.mark.parametrize("route", PRINTED)
@pytest.mark.parametrize("name", ["published", "standin"])
def test_printed_figures_stand_on_their_slide(route, name):
    run = runs.load(name)
    drawn = " ".join(examined(name, route)[1]["texts"])
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


def covered_run(quadrants, patches=(-1.0,), target=0.6):
    """The stand-in run with other outcomes of its covers: changes in points, and which tests keep the label (not the last ``flips``)."""
    document = json.loads((runs.CACHE / "standin.json").read_text(encoding="utf-8"))
    covers = document["dog"]["covers"]
    other = {"index": 5, "label": "electric ray", "probability": 0.5}
    covers["target"]["probability"] = target

    def change(cover, points, keeps):
        cover.update(points=points, probability=round(target + points / 100, 6), keeps=keeps, label=covers["target"] if keeps else other)
    for cover, (points, keeps) in zip(covers["quadrants"], quadrants):
        change(cover, points, keeps)
    covers["quadrant_largest"] = min(covers["quadrants"], key=lambda c: c["points"])["name"]
    covers["quadrants_keep"] = sum(keeps for _, keeps in quadrants)
    tests = covers["patches"]
    worst, *_ = patches
    change(tests["largest"], worst, len(patches) == 1)
    tests["keep"] = tests["count"] - (len(patches) - 1)
    tests["scale"] = 5.0
    return runs.Run.model_validate(document)


@pytest.mark.parametrize("run, route, says, never", [
    (covered_run([(-9.0, True), (-16.11, True), (1.0, True), (-2.0, True)]), "reference/s09/7",
     ["Covering the top right costs most, 16.11 points.", "All four covered pictures still say"], ["now electric ray"]),
    (covered_run([(-9.0, True), (-26.0, False), (1.5, True), (-30.25, False)]), "reference/s09/7",
     ["Covering the bottom right costs most, 30.25 points.", "Two of the four covered pictures still say", "now electric ray", "+1.50 points"], ["All four"]),
    (covered_run([(-40.0, False)] * 3 + [(-30.0, True)]), "reference/s09/7", ["One of the four covered pictures still says"], []),
    (covered_run([(-40.0, False)] * 4), "reference/s09/7", ["None of the four covered pictures still say"], ["still Newfoundland"]),
    (covered_run([(3.0, True), (0.5, True), (1.0, True), (2.0, True)]), "reference/s09/7",
     ["No cover lowers the probability; the top right raises it least, by 0.50 points."], ["costs most"]),
    (covered_run([(-1.0, True)] * 4, patches=(-3.84,)), "reference/s09/9", ["costs most, 3.84 points", "the top label never changes", "Largest drop", "All 196 tests still predict"], []),
    (covered_run([(-1.0, True)] * 4, patches=(-4.5, 1, 1)), "reference/s09/9", ["2 of 196 covers change the top label", "194 of 196 tests still predict"], ["never changes", "All 196 tests still"]),
    (covered_run([(-1.0, True)] * 4, patches=(0.25,)), "reference/s09/9", ["No single patch lowers the probability", "Smallest rise", "Up 0.25 percentage points"], ["costs most", "Largest drop"]),
    (covered_run([(-1.0, True)] + [(-2.0, False)] * 3), "reference/s09/6", ["ends 1.00 points lower, and the label stays"], ["becomes"]),
    (covered_run([(4.0, False)] * 4), "reference/s09/6", ["ends 4.00 points higher, and the label becomes electric ray"], ["lower"]),
])
def test_sentences_follow_the_covers(run, route, says, never):
    Slide.use_run(run)
    slide = decks.slides()[route]
    page = texts(slide)
    said = " ".join([page["caption"], *page["texts"]])
    assert [s for s in says if s not in said] == []
    assert [s for s in never if s in said] == []
    assert check(slide) == []


@pytest.mark.parametrize("section", list(dict.fromkeys(r.rpartition("/")[0] for r in ROUTES)))
def test_texts_are_those_that_were_accepted(section, file_regression):
    """Every string of a section's slides on the committed run; here, and not with the stills, because they are laid out here."""
    pages = [examined("standin", route)[1] for route in ROUTES if route.rpartition("/")[0] == section]
    compare(file_regression, "".join(page_text(page) for page in pages), basename=section.replace("/", "-"), extension=".txt", encoding="utf-8")
