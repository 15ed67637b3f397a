"""The published figures load, and those that belong together agree within the rounding of their last printed digit."""

from __future__ import annotations

import math

import pytest
from vit_data import rows, run


@pytest.fixture(scope="module")
def published() -> run.Run:
    return run.load("published")


def close(a: float, b: float, half_units: float) -> bool:
    """Equal within a sum of half units of the last printed digits."""
    return math.isclose(a, b, rel_tol=0, abs_tol=half_units + 1e-9)


def test_the_file_is_canonical(published: run.Run) -> None:
    assert run.dumps(published) == run.PUBLISHED.read_text(encoding="utf-8")
    assert published.provenance.kind == "published"
    assert published.picture("dog") is None


def test_pixels_normalize_to_the_printed_row(published: run.Run) -> None:
    patch = published.dog.patches["P63"]
    for channel, row in enumerate((patch.x.red, patch.x.green, patch.x.blue)):
        for pixel, x in zip(patch.pixels, row.first, strict=False):
            assert close((pixel[channel] / 255 - 0.5) / 0.5, x, 0.0005)


def test_content_and_position_make_the_input_row(published: run.Run) -> None:
    patch = published.dog.patches["P63"]
    for c, p, e in zip(patch.c.first, patch.p.first, patch.e.first, strict=False):
        assert close(c + p, e, 0.0015)


def test_both_pictures_start_from_the_same_summary_row(published: run.Run) -> None:
    assert published.dog.cls == published.cat.cls
    assert published.dog.block1.u != published.cat.block1.u


def test_weights_times_values_make_the_contributions(published: run.Run) -> None:
    head = published.dog.block1.head1
    for name, contribution in head.contributions.items():
        weight = head.attention["CLS"].weights[name]
        for v, part in zip(head.v[name].first, contribution.first, strict=True):
            assert close(weight * v, part, weight * 0.0005 + 0.5e-6 * abs(v) + 0.5e-6)


def test_contributions_add_up_to_the_message(published: run.Run) -> None:
    block = published.dog.block1
    head = block.head1
    assert head.others_count + len(head.contributions) == published.model.tokens
    for i in range(2):
        total = sum(part.first[i] for part in head.contributions.values()) + head.others.first[i]
        assert close(total, block.cls_messages[0].first[i], 0.0005 + 2.5e-6)


def test_residual_additions(published: run.Run) -> None:
    dog = published.dog
    block = dog.block1
    for i in range(2):
        assert close(dog.cls.e.first[i] + block.update.first[i], block.u.first[i], 0.0015)
        assert close(block.u.first[i] + block.mlp_update.first[i], block.out.first[i], 0.0015)
    for before, after in zip(block.hidden_before.first, block.hidden_after.first, strict=True):
        assert close(before * 0.5 * (1 + math.erf(before / math.sqrt(2))), after, 0.001)
    assert block.joined.first == block.cls_messages[0].first


def test_the_top_class_is_one_weighted_sum(published: run.Run) -> None:
    dog, top = published.dog, published.dog.top_class
    assert close(sum(top.products) + top.others + top.bias, top.logit, 0.0002)
    for h, w, product in zip(dog.h.first, top.weights.first, top.products, strict=True):
        assert close(h * w, product, 0.0005 * abs(w) + 0.5e-5 * abs(h) + 0.5e-4)
    assert close(top.logit, dog.prediction.top[0].logit, 0.0006)


def test_probabilities_follow_from_the_scores(published: run.Run) -> None:
    prediction = published.dog.prediction
    best, *others = prediction.top
    assert close(sum(s.probability for s in prediction.top) + prediction.rest, 1, 0.0002)
    for other in others:
        assert math.isclose(math.exp(other.logit - best.logit), other.probability / best.probability, rel_tol=0.01)
    assert close(-math.log(best.probability), prediction.loss, 0.0001)
    assert prediction.correct and prediction.known == best


def test_cover_points_are_differences(published: run.Run) -> None:
    covers = published.dog.covers
    for cover in (*covers.quadrants, covers.patches.largest):
        assert close(100 * (cover.probability - covers.target.probability), cover.points, 0.011)
    assert min(covers.quadrants, key=lambda c: c.points).name == covers.quadrant_largest
    assert [(c.top, c.left) for c in covers.quadrants] == [(0, 0), (0, 112), (112, 0), (112, 112)]
    largest = covers.patches.largest
    assert (largest.top, largest.left) == rows.pixel_box(rows.index(largest.name))[:2]
    assert covers.patches.scale >= abs(largest.points)


def test_maps_name_their_largest(published: run.Run) -> None:
    for found in published.dog.attention:
        assert found.largest >= found.strongest_weight and found.strongest != found.query
    pair = published.dog.similarity_map(12, "P74")
    assert pair.pairs[pair.strongest] == pair.strongest_value


def test_the_selected_product(published: run.Run) -> None:
    product = published.dog.projection.product
    assert product.flat == product.channel * 256 + product.row * 16 + product.column
    assert close(product.x * product.weight, product.product, 1e-6)
    assert close(product.total, published.dog.projection.linear.first[0], 0.0005)
    assert published.dog.projection.linear == published.dog.projection.conv


def test_counts_follow_from_the_shapes(published: run.Run, first: object) -> None:
    assert published.model == first.run.model, "random weights have the lecture's architecture, so its counts too"
