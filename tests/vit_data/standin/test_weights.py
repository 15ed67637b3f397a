"""The stored weights keep their promises on the lecture's two pictures."""

from __future__ import annotations

import hashlib
import json

import pytest

torch = pytest.importorskip("torch")
timm = pytest.importorskip("timm")
from PIL import Image  # noqa: E402

from vit_data.standin import train  # noqa: E402
from vit_data.standin.draw import DOG_PLACES, lecture_cat, lecture_dog  # noqa: E402

NEWFOUNDLAND, PERSIAN = 256, 283


@pytest.fixture(scope="module")
def report() -> dict:
    return json.loads(train.REPORT.read_text())


@pytest.fixture(scope="module")
def model():
    return train.load()


@pytest.fixture(scope="module")
def transform(model):
    return timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)


@pytest.fixture(scope="module")
def dog(transform):
    return transform(Image.fromarray(lecture_dog()))[None]


@torch.inference_mode()
def probabilities(model, images):
    return model(images).softmax(1)


def test_the_file_is_the_reported_one_and_small(report):
    data = train.WEIGHTS.read_bytes()
    assert hashlib.sha256(data).hexdigest() == report["sha256"]
    assert len(data) == report["bytes"] <= 12_000_000


def test_the_report_adds_up(report):
    test = report["test"]
    rows = test["confusion"]
    assert sum(map(sum, rows)) == test["drawings"] == 1200
    assert sum(row[i] for i, row in enumerate(rows)) == test["correct"]
    assert test["accuracy"] == pytest.approx(test["correct"] / 1200, abs=1e-4)
    assert test["accuracy"] >= 0.90
    assert report["log"] and all("validation_accuracy" in entry for entry in report["log"])


def test_the_dog_is_a_newfoundland_with_some_doubt(model, dog):
    p = probabilities(model, dog)[0]
    top = p.topk(2)
    assert top.indices[0] == NEWFOUNDLAND and 0.80 <= top.values[0] <= 0.995
    assert top.indices[1] in train.CLASSES and top.values[1] > 0.002


def test_the_cat_is_a_persian_with_some_doubt(model, transform):
    p = probabilities(model, transform(Image.fromarray(lecture_cat()))[None])[0]
    top = p.topk(2)
    assert top.indices[0] == PERSIAN and 0.80 <= top.values[0] <= 0.995
    assert top.indices[1] in train.CLASSES


def test_covers_matter(model, dog):
    covered = dog.repeat(4, 1, 1, 1)
    for i, (top, left) in enumerate(((0, 0), (0, 112), (112, 0), (112, 112))):
        covered[i, :, top:top + 112, left:left + 112] = 0.0  # gray 0.5
    change = probabilities(model, covered)[:, NEWFOUNDLAND] - probabilities(model, dog)[0, NEWFOUNDLAND]
    assert (change.abs() >= 0.01).sum() >= 2


def test_attention_is_not_uniform_and_heads_differ(model, dog):
    kept = {}
    hook = model.blocks[3].attn.qkv.register_forward_hook(lambda _m, _i, out: kept.update(qkv=out))
    probabilities(model, dog)
    hook.remove()
    q, k, _ = kept["qkv"].reshape(197, 3, 3, 64).permute(1, 2, 0, 3)
    weights = (q @ k.transpose(-2, -1) / 8).softmax(-1)[:, DOG_PLACES["ear"]]
    assert weights[0].max() >= 2.5 / 197
    assert (weights[0] - weights[1]).abs().sum() / 2 > 0.1


def test_training_and_test_drawings_have_disjoint_seeds(report):
    first = sorted(report["seeds"]["drawings"].values())
    assert min(b - a for a, b in zip(first, first[1:])) > max(
        report["drawings"]["train_112"], report["drawings"]["train_224"], report["drawings"]["validation"], 1200)
