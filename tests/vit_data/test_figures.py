"""Words and scales that follow from a run's fields."""

from __future__ import annotations

import math

import pytest
from measuring import First
from hypothesis import given
from hypothesis import strategies as st
from vit_data import figures, run
from vit_data.run import AttentionMap


def test_normalize() -> None:
    assert figures.normalize(16, 0.5, 0.5) == pytest.approx(-0.8745098)
    assert figures.normalize(255, 0.485, 0.229) == pytest.approx((1 - 0.485) / 0.229)


@pytest.mark.parametrize(("keep", "total", "words"), [
    (4, 4, "all four"), (3, 4, "three of the four"), (0, 4, "none of the four"), (195, 196, "195 of the 196"), (196, 196, "all 196"),
    (12, 196, "twelve of the 196"), (0, 1, "none of the one"), (1, 1, "the only one"), (1000, 1234, "1,000 of the 1,234"),
])
def test_how_many(keep: int, total: int, words: str) -> None:
    assert figures.how_many(keep, total) == words


@pytest.mark.parametrize(("keep", "total"), [(5, 4), (-1, 4), (0, 0)])
def test_shares_that_are_none(keep: int, total: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        figures.how_many(keep, total)


@pytest.mark.parametrize(("largest", "scale"), [(3.84, 4), (4, 4), (0.9, 1), (0.31, 0.5), (0.2, 0.2), (0.0019, 0.002), (11, 15), (50, 50), (0, 1)])
def test_nice_scale(largest: float, scale: float) -> None:
    assert figures.nice_scale(largest) == scale


@given(st.floats(min_value=1e-12, max_value=100))
def test_a_scale_holds_its_values_and_wastes_little(largest: float) -> None:
    scale = figures.nice_scale(largest)
    assert largest <= scale <= 2.5 * largest or math.isclose(scale, 2.5 * largest)


def test_common_scale() -> None:
    def weights(**fields: object) -> AttentionMap:
        return AttentionMap(block=1, head=1, query="P2", strongest="P1", strongest_weight=0.1, **fields)
    assert figures.common_scale([weights(largest=0.2), weights(), weights(values=[0.5, 0.3, 0.2])]) == 0.3
    assert figures.common_scale([weights()]) is None and figures.common_scale([]) is None


def altered(first: First, **changes: object) -> run.Run:
    provenance = first.run.provenance
    checkpoint = provenance.checkpoint.model_copy(update={k: v for k, v in changes.items() if k in ("source", "detail", "sha256")})
    dog = first.run.dog.model_copy(update={"photo": first.run.dog.photo.model_copy(update=changes.get("dog", {}))})
    provenance = provenance.model_copy(update={"checkpoint": checkpoint, "kind": changes.get("kind", "custom")})
    return first.run.model_copy(update={"provenance": provenance, "dog": dog})


def test_describe(first: First) -> None:
    start = "vit_tiny_patch16_224 · "
    assert figures.describe(run.load("published")) == "published figures of the lecture"
    assert figures.describe(first.run) == f"{start}random weights, seed 1 · drawn pictures · measured 2026-12-01"
    standin = altered(first, source="standin", sha256="3f9a12c" + "0" * 57, kind="standin")
    assert figures.describe(standin) == f"{start}stand-in weights 3f9a12c · drawn pictures · measured 2026-12-01"
    assert figures.describe(altered(first, kind="lecture", source="hub")) == f"{start}lecture checkpoint and photographs · measured 2026-12-01"
    own = altered(first, source="hub", dog={"kind": "photograph"})
    assert figures.describe(own) == f"{start}lecture checkpoint · own photograph of the dog, drawn picture of the cat · measured 2026-12-01"
    assert "weights mine.pth" in figures.describe(altered(first, source="file", detail="mine.pth"))
    assert figures.picture_word(own, "dog") == "photograph" and figures.picture_word(own, "cat") == "drawing"


def test_the_loss_is_that_of_the_known_label() -> None:
    loaded = run.load("standin")
    label, loss = figures.label_loss(loaded)
    assert (label, loss) == (loaded.dog.photo.known_label, loaded.dog.prediction.loss)
    published = figures.label_loss(run.load("published"))
    assert published == ("Newfoundland", 0.0437)
    # another answer than the known breed: the loss is the breed's
    prediction = loaded.dog.prediction
    wrong = loaded.model_copy(
        update={"dog": loaded.dog.model_copy(update={"prediction": prediction.model_copy(update={"top": prediction.top[1:] + prediction.top[:1]})})}
    )
    label, loss = figures.label_loss(wrong)
    assert label == prediction.known.label
    assert loss == pytest.approx(prediction.loss, rel=1e-4)
    # no breed known: the top label's
    unknown = loaded.model_copy(update={"dog": loaded.dog.model_copy(update={"prediction": prediction.model_copy(update={"known": None, "loss": None})})})
    assert figures.label_loss(unknown) == (prediction.top[0].label, pytest.approx(prediction.loss, rel=1e-4))


def test_where_weights_come_from() -> None:
    stages = {source: figures.training(run.load("standin").model_copy(update={"provenance": run.load("standin").provenance.model_copy(
        update={"checkpoint": run.Checkpoint(name="vit", source=source, detail="")})})) for source in ("hub", "file", "random", "standin", "published")}
    assert stages["hub"] == stages["published"] != stages["standin"]
    assert not any("ImageNet" in " ".join(stages[source]) for source in ("file", "random", "standin"))
