"""How far attention reaches and what a moved stripe changes, against loops and the model itself."""

from __future__ import annotations

import by_hand
import numpy as np
import pytest
import torch
from measuring import First
from vit_data import figures, rows, stripe


@pytest.mark.parametrize("subject", ["dog", "cat"])
def test_attention_distance_by_loops(first: First, subject: str) -> None:
    state = {k: v.double().numpy() for k, v in first.model.state_dict().items()}
    truth = by_hand.forward(state, first.x(subject)[0].double().numpy())
    measured = getattr(first.run, subject).attention_distance
    assert [len(line) for line in measured] == [3] * 12
    places = [rows.grid_place(n) for n in range(1, 197)]
    for block in (0, 11):
        for head in range(3):
            a = truth["blocks"][block]["weights"][head]
            total = 0.0
            for i in range(196):
                share = a[i + 1, 1:] / a[i + 1, 1:].sum()
                total += sum(w * np.hypot(16 * (r - places[i][0]), 16 * (c - places[i][1])) for w, (r, c) in zip(share, places))
            assert measured[block][head] == pytest.approx(total / 196, abs=1e-2)


def test_equal_weights_reach_the_even_distance() -> None:
    assert figures.even_distance(1, 16) == 0
    assert figures.even_distance(2, 1) == pytest.approx((2 + np.sqrt(2)) / 4)  # from any corner: 0, 1, 1, √2
    assert figures.even_distance(14, 16) == pytest.approx(16 * figures.even_distance(14, 1))


def test_the_stripe_moves_by_whole_patches() -> None:
    before, after = stripe.picture(stripe.BEFORE), stripe.picture(stripe.AFTER)
    assert before.shape == (224, 224, 3) and not np.array_equal(before, after)
    for old, new in zip(stripe.cells(stripe.BEFORE), stripe.cells(stripe.AFTER), strict=True):
        (a, b, c, d), (e, f, g, h) = (rows.pixel_box(rows.index(n)) for n in (old, new))
        assert np.array_equal(before[a:c, b:d], after[e:g, f:h]) and before[a:c, b:d].max() == stripe.INK
    rest = before.copy()
    for name in stripe.cells(stripe.BEFORE):
        top, left, bottom, right = rows.pixel_box(rows.index(name))
        rest[top:bottom, left:right] = stripe.GROUND
    assert (rest == stripe.GROUND).all()


def test_the_stripe_through_the_model(first: First) -> None:
    found = first.run.stripe
    for view, place in ((found.before, stripe.BEFORE), (found.after, stripe.AFTER)):
        x = torch.from_numpy((stripe.picture(place).astype(np.float32) / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]
        query = rows.index(view.attention.query)
        with torch.inference_mode():
            content = first.model.patch_embed(x)[0]
            e = first.model.norm_pre(first.model._pos_embed(first.model.patch_embed(x)))
            qkv = first.model.blocks[0].attn.qkv(first.model.blocks[0].norm1(e))[0].reshape(197, 3, 3, 64)
            a = (qkv[query, 0, 0] @ qkv[:, 1, 0].T / 8).softmax(-1)
        np.testing.assert_allclose(view.content.values, content[query - 1], atol=1e-5)
        np.testing.assert_allclose(view.attention.values, a, atol=1e-6)
        assert view.on_stripe == pytest.approx(sum(a[rows.index(n)].item() for n in view.cells), abs=1e-6)
    assert found.content_difference <= 1e-5
    assert found.before.attention.values != found.after.attention.values
