"""The head's rows that the lecture compares h with, and the six lines that end in their scores, against timm's model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from measuring import First
from vit_data import lab, lab_source, run
from vit_data.measure import ANOTHER_KIND, _three_classes


def test_scores_are_dot_products(first: First) -> None:
    dog, head = first.run.dog, first.model.head
    assert len(dog.class_rows) == 3
    for row in dog.class_rows:
        np.testing.assert_allclose(row.weights.values, head.weight[row.index].detach().numpy(), rtol=1e-6)
        assert np.dot(dog.h.values, row.weights.values) + row.bias == pytest.approx(row.logit, abs=1e-4)
        assert row.logit == dog.prediction.logits[row.index]
    assert dog.class_rows[0].label == dog.prediction.top[0].label and dog.class_rows[0].logit == dog.top_class.logit


def test_classes_are_all_different(first: First) -> None:
    assert len({r.index for r in first.run.dog.class_rows}) == 3
    dog, cat = first.run.dog, first.run.cat
    same = _three_classes(dog, dog)
    assert same == [dog.prediction.top[0].index, ANOTHER_KIND, dog.prediction.top[1].index]
    assert _three_classes(dog, cat)[0] == dog.prediction.top[0].index


def test_published_names_the_lectures_classes() -> None:
    published = run.load("published").dog
    assert [r.label for r in published.class_rows] == ["Newfoundland", "Persian cat", "sports car"]
    first = published.class_rows[0]
    assert (first.weights, first.bias) == (published.top_class.weights, published.top_class.bias)
    assert first.logit == published.prediction.top[0].logit


def test_six_lines_give_timms_logits(first: First) -> None:
    """With timm's own parts, and with the lab's."""
    ours, images = lab.ViT(), torch.cat([first.x("dog"), first.x("cat")])
    ours.load_state_dict(lab.from_timm(first.model.state_dict()))
    with torch.inference_mode():
        expected, m = first.model(images), first.model
        torch.testing.assert_close(lab.classify(images, m.patch_embed, m.cls_token, m.pos_embed, m.blocks, m.norm, m.head), expected, rtol=0, atol=1e-4)
        torch.testing.assert_close(lab.classify(images, ours.patch_rows, ours.cls, ours.pos, ours.blocks, ours.norm, ours.head), expected, rtol=0, atol=1e-4)


def test_six_lines_are_six_and_their_comments_are_what_flowed(first: First) -> None:
    define, *body = lab_source.piece("classify").lines
    assert define.key.startswith("def ") and len(body) == 6
    flow = first.run.lab.flow["classify"]
    assert {line.key: line.comment for line in body if line.comment} == {key: ", ".join(map(str, f.shape)) for key, f in flow.items()}
