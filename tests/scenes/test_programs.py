"""Programs that slides print are run, and give what the slides say."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
timm = pytest.importorskip("timm")
from PIL import Image  # noqa: E402
from scenes import decks  # noqa: E402
from scenes.kit.slide import Slide  # noqa: E402
from scenes.kit.stage import lay_out  # noqa: E402
from vit_data import checkpoint, run as runs  # noqa: E402


@pytest.fixture(scope="module")
def given():
    """The names that the programs take as given: the stand-in's model in evaluation mode, its transform, the dog."""
    run = runs.load("standin")
    Slide.use_run(run)
    model, _ = checkpoint.load(checkpoint.choose("standin"))
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)
    original = Image.open(run.picture("dog", "original")).convert("RGB")
    return run, {"torch": torch, "model": model.eval(), "transform": transform, "photo": original}


def program(route: str) -> str:
    return lay_out(decks.slides()[route]).program()


def test_the_cover_that_is_shown_gives_the_change_that_is_shown(given):
    run, names = given
    space = dict(names)
    exec(program("reference/s09/5"), space)
    cover = run.dog.covers.quadrants[0]
    assert space["x"].shape == (1, 3, 224, 224)
    changed = (space["covered"] != space["x"]).any(1)[0]
    assert changed[: cover.height, : cover.width].float().mean() > 0.95 and not changed[cover.height :].any() and not changed[:, cover.width :].any()
    exec(program("reference/s09/6"), space)
    assert space["p_before"].shape == (1000,)
    assert float(space["before"]) == pytest.approx(run.dog.covers.target.probability, abs=1e-4)
    assert float(space["after"]) == pytest.approx(cover.probability, abs=1e-4)


def test_the_six_lines_of_the_lecture_give_the_same(given):
    run, names = given
    space = dict(names, x=names["transform"](names["photo"]).unsqueeze(0))
    source = program("lecture/s06/5")
    assert len(source.splitlines()) == 6
    exec(source, space)
    assert float(space["p_before"]) == pytest.approx(run.dog.covers.target.probability, abs=1e-4)
    assert float(space["p_after"]) == pytest.approx(run.dog.covers.quadrants[0].probability, abs=1e-4)
