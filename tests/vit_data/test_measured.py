"""A measured run against a second, independent computation of the same model on the stored pictures."""

from __future__ import annotations

import hashlib

import by_hand
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from measuring import First
from PIL import Image
from vit_data import figures, forward, rows
from vit_data.run import Vector


@pytest.fixture(scope="module", params=["dog", "cat"])
def both(request: pytest.FixtureRequest, first: First) -> tuple:
    state = {k: v.double().numpy() for k, v in first.model.state_dict().items()}
    return getattr(first.run, request.param), by_hand.forward(state, first.x(request.param)[0].double().numpy()), state, request.param


@pytest.fixture(scope="module")
def dog(first: First) -> tuple:
    state = {k: v.double().numpy() for k, v in first.model.state_dict().items()}
    return first.run.dog, by_hand.forward(state, first.x()[0].double().numpy()), state


def same(vector: Vector | list[float], expected: np.ndarray, atol: float = 3e-5) -> None:
    values = vector.values if isinstance(vector, Vector) else vector
    np.testing.assert_allclose(values, expected, rtol=0, atol=atol)


def test_what_both_pictures_have(both: tuple) -> None:
    subject, truth, state, _ = both
    for name, patch in subject.patches.items():
        same(patch.c, truth["c"][rows.index(name) - 1])
    same(subject.cls.s, state["cls_token"][0, 0])
    same(subject.cls.p, state["pos_embed"][0, 0])
    same(subject.cls.e, truth["e"][0])
    same(subject.block1.u, truth["blocks"][0]["u"][0])
    same(subject.h, truth["h"])
    same(subject.projection.linear, truth["c"][62])
    same(subject.projection.conv, truth["c"][62])


def test_prediction(both: tuple) -> None:
    subject, truth, _, _ = both
    p, prediction = by_hand.softmax(truth["logits"]), subject.prediction
    same(prediction.logits, truth["logits"])
    same(prediction.probabilities, p, 1e-6)
    assert [s.index for s in prediction.top] == list(np.argsort(-p)[:3])
    assert sum(s.probability for s in prediction.top) + prediction.rest == pytest.approx(1, abs=1e-6)
    assert prediction.loss == pytest.approx(-np.log(p.max()), abs=1e-5)
    known = subject.photo.known
    assert prediction.known.probability == pytest.approx(p[known], abs=1e-7)
    assert prediction.correct is bool(p.argmax() == known)


def test_the_pictures_belong_to_the_run(both: tuple, first: First) -> None:
    subject, _, _, name = both
    with Image.open(first.run.picture(name)) as crop, Image.open(first.run.picture(name, "original")) as original:
        assert crop.size == (224, 224) and crop.mode == original.mode == "RGB"
        assert max(original.size) <= 640
    assert subject.photo.kind == "drawing" and len(subject.photo.sha256) == 64


def test_patch_rows(dog: tuple, first: First) -> None:
    subject, truth, state = dog
    with Image.open(first.run.picture("dog")) as picture:
        crop = np.asarray(picture)
    nose = subject.photo.places["nose"]
    assert list(subject.patches) and {"P1", rows.name(nose), rows.name(nose + 1), subject.place("ear"), "P196"} == set(subject.patches)
    for number in (nose, nose + 1):
        patch = subject.patches[rows.name(number)]
        row, column = (number - 1) // 14 * 16, (number - 1) % 14 * 16
        assert patch.pixels == [tuple(p) for p in crop[row:row + 16, column:column + 16].reshape(256, 3).tolist()]
        same(patch.x.red.values + patch.x.green.values + patch.x.blue.values, truth["patches"][number - 1])
        assert figures.normalize(patch.pixels[1][2], 0.5, 0.5) == pytest.approx(patch.x.blue[2], abs=1e-6)
    same(subject.patches[rows.name(nose)].p, state["pos_embed"][0, nose])
    same(subject.patches[rows.name(nose)].e, truth["e"][nose])


def test_block_one(dog: tuple) -> None:
    subject, truth, _ = dog
    block, own = subject.block1, truth["blocks"][0]
    same(block.ln_cls, own["ln1"][0])
    same(block.joined, own["joined"][0])
    same(block.update, own["update"][0])
    same(block.hidden_before, own["before"][0])
    same(block.hidden_after, own["after"][0])
    same(block.mlp_update, own["mlp"][0])
    same(block.out, own["out"][0])
    assert [v for m in block.cls_messages for v in m.values] == block.joined.values
    head = block.head1
    for kept, start in ((head.q, 0), (head.k, 192), (head.v, 384)):
        for name, vector in kept.items():
            same(vector, own["qkv"][rows.index(name), start:start + 64])
    for name, row in head.attention.items():
        same(row.values, own["weights"][0][rows.index(name)], 1e-6)
        assert sum(row.values) == pytest.approx(1, abs=1e-5)
        assert all(weight == row.values[rows.index(source)] for source, weight in row.weights.items())
        same(by_hand.softmax(np.array(row.scores)).tolist(), np.array(row.values), 1e-6)
    same(head.p_message, own["joined"][63, :64])


def test_contributions_add_up(dog: tuple) -> None:
    head = dog[0].block1.head1
    parts = [np.array(v.values) for v in head.contributions.values()] + [np.array(head.others.values)]
    same(dog[0].block1.cls_messages[0], np.sum(parts, axis=0), 1e-6)
    assert head.others_count == 197 - len(head.contributions)
    for name, contribution in head.contributions.items():
        same(contribution, head.attention["CLS"].weights[name] * np.array(head.v[name].values), 1e-6)


def test_attention_weights_are_those_of_torchs_own_attention(first: First) -> None:
    done = forward.record(first.model, first.x()[0])
    for found in first.run.dog.attention:
        block = done.blocks[found.block - 1]
        # with the identity as value rows, the messages are the weights
        weights = F.scaled_dot_product_attention(block.q, block.k, torch.eye(197).expand(3, -1, -1))
        row = weights[found.head - 1, rows.index(found.query)].numpy()
        same(found.values, row, 1e-6)
        assert found.cls_weight == found.values[0] and found.largest == max(found.values[1:])
        other = {rows.name(i): w for i, w in enumerate(found.values) if i and rows.name(i) != found.query}
        assert other[found.strongest] == found.strongest_weight == max(other.values())


def test_attention_maps_of_the_story(dog: tuple) -> None:
    assert [(m.block, m.head, m.query) for m in dog[0].attention] == [(4, 1, "P74"), (4, 2, "P74"), (12, 1, "CLS")]
    for found in dog[0].attention:
        same(found.values, dog[1]["blocks"][found.block - 1]["weights"][found.head - 1][rows.index(found.query)], 1e-5)


def test_similarity_maps(dog: tuple) -> None:
    subject, truth, _ = dog
    assert [(m.block, m.query) for m in subject.similarity] == [*((12, subject.place(p)) for p in ("ear", "background", "corner", "nose", "chest")), (1, "P74")]
    for found in subject.similarity:
        features = truth["blocks"][found.block - 1]["out"][1:]
        query = features[rows.index(found.query) - 1]
        cosine = features @ query / np.linalg.norm(features, axis=1) / np.linalg.norm(query)
        same(found.values, cosine)
        other = {rows.name(i + 1): v for i, v in enumerate(found.values) if rows.name(i + 1) != found.query}
        assert other[found.strongest] == found.strongest_value == max(other.values())
    for block in (1, 12):
        ear = subject.similarity_map(block, "P74")
        assert ear.pairs == {"P82": ear.values[81]}


def test_top_class_is_one_weighted_sum(both: tuple) -> None:
    subject, truth, state, _ = both
    top, best = subject.top_class, subject.prediction.top[0]
    same(top.weights, state["head.weight"][best.index])
    assert sum(top.products) + top.others + top.bias == pytest.approx(top.logit, abs=1e-5)
    assert top.logit == best.logit
    same(top.products, truth["h"][:2] * state["head.weight"][best.index, :2], 1e-6)


def test_the_selected_product(dog: tuple) -> None:
    product, (_, truth, state) = dog[0].projection.product, dog
    assert product.x == pytest.approx(truth["patches"][62, 291], abs=1e-6)
    assert product.weight == pytest.approx(state["patch_embed.proj.weight"][0, 1, 2, 3], abs=1e-7)
    assert product.x * product.weight == pytest.approx(product.product, abs=1e-7)
    assert product.total == pytest.approx(dog[0].projection.linear[1], abs=1e-5)


def test_covers_one_by_one(first: First) -> None:
    found, x = first.run.dog.covers, first.x()
    with torch.inference_mode():
        original = first.model(x).softmax(-1)[0]
    assert found.target.index == int(original.argmax()) and found.fill == 0.5
    single = found.patches
    assert (single.count, len(single.probabilities), len(single.points), len(single.labels)) == (196,) * 4
    boxes = {c.name: (c.top, c.left, c.height, c.width, c.probability, c.label.index) for c in found.quadrants}
    for number in (1, 14, 15, 63, 132, 196, rows.index(single.largest.name)):
        boxes[f"P{number}"] = ((number - 1) // 14 * 16, (number - 1) % 14 * 16, 16, 16, single.probabilities[number - 1], single.labels[number - 1])
    for top, left, height, width, probability, label in boxes.values():
        copy = x.clone()
        copy[:, :, top:top + height, left:left + width] = 0
        with torch.inference_mode():
            p = first.model(copy).softmax(-1)[0]
        assert p[found.target.index].item() == pytest.approx(probability, abs=1e-6)
        assert p[label].item() == pytest.approx(p.max().item(), abs=1e-6)


def test_what_the_covers_say(first: First) -> None:
    found = first.run.dog.covers
    single = found.patches
    for cover in (*found.quadrants, single.largest):
        assert cover.points == pytest.approx(100 * (cover.probability - found.target.probability), abs=1e-6)
        assert cover.keeps == (cover.label.index == found.target.index)
    assert found.quadrants_keep == sum(c.keeps for c in found.quadrants)
    assert single.keep == sum(i == found.target.index for i in single.labels)
    assert single.largest.points == min(single.points) and single.largest.name == f"P{1 + single.points.index(min(single.points))}"
    assert (single.rise is None) == (max(single.points) <= 0)
    assert single.rise is None or single.rise.points == max(single.points)
    assert max(map(abs, single.points)) <= single.scale <= 3 * max(map(abs, single.points))


def test_provenance(first: First) -> None:
    provenance = first.run.provenance
    assert (provenance.kind, provenance.checkpoint.source, provenance.checkpoint.detail) == ("random", "random", "seed 1")
    assert set(provenance.versions) == {"python", "torch", "timm", "numpy", "pillow"}
    total = hashlib.sha256()
    for name, value in sorted(first.model.state_dict().items()):  # this model's state is its parameters
        total.update(f"{name}\0{','.join(map(str, value.shape))}\0".encode() + value.numpy().tobytes())
    assert provenance.checkpoint.sha256 == total.hexdigest()


def test_checks_are_recorded(first: First) -> None:
    checks = first.run.checks
    assert len(checks.largest_difference) >= 12 and max(checks.largest_difference.values()) < checks.tolerance
    assert first.run.projection_difference < 1e-4
