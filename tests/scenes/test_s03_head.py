"""Section 3, position to one head: what stands on these pages adds up, multiplies out and normalizes, on any run.

The numbers are read off the laid-out slides, as an audience would, and only then compared.
"""

import json
import math
import re

import numpy as np
import pytest
from scenes import decks
from scenes.kit.check import check
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from vit_data import head, run as runs
from vit_data.run import Grid, Run, Vector

NUMBER = re.compile(r"−?\d[\d,]*\.\d+")
PAGES = [f"reference/s03/{i}" for i in range(1, 26)]


def worked_run(seed: int, size: float) -> Run:
    """The stand-in's document with the head of other, random numbers, worked out here and not by the measuring code."""
    rng = np.random.default_rng(seed)
    document = json.loads((runs.CACHE / "standin.json").read_text(encoding="utf-8"))
    dog, block = document["dog"], document["dog"]["block1"]
    names = list(block["head1"]["v"])
    places = [0 if n == "CLS" else int(n[1:]) for n in names]
    nose = f"P{dog['photo']['places']['nose']}"
    whole = {k: rng.normal(0, size, (197, 64)) for k in "qkv"}
    whole["k"] /= size
    scores = whole["q"] @ whole["k"].T / 8
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)

    def vector(values):
        return Vector.of(values).model_dump(exclude_none=True)
    one = block["head1"]
    for key in "qkv":
        one[key] = {n: vector(whole[key][0 if n == "CLS" else int(n[1:])]) for n in one[key]}
    for receiver, i in (("CLS", 0), (nose, int(nose[1:]))):
        one["attention"][receiver] = {"receiver": receiver, "weights": {n: float(weights[i, p]) for n, p in zip(names, places)},
                                      "values": weights[i].tolist(), "scores": scores[i].tolist()}
    one["contributions"] = {n: vector(weights[0, p] * whole["v"][p]) for n, p in zip(names, places)}
    rest = [p for p in range(197) if p not in places]
    one["others"] = vector(weights[0, rest] @ whole["v"][rest])
    one["p_message"] = vector(weights[int(nose[1:])] @ whole["v"])
    block["cls_messages"][0] = vector(weights[0] @ whole["v"])
    c, p, e0, update = (rng.normal(0, size, 192) for _ in range(4))
    dog["patches"][nose] |= {"c": vector(c), "p": vector(p), "e": vector(c + p)}
    dog["cls"]["e"], block["update"], block["u"] = vector(e0), vector(update), vector(e0 + update)
    for key in "qkv":
        dog["matrices"][key] = Grid.of(whole[key]).model_dump()
    made = Run.model_validate(document)
    made._folder = runs.CACHE
    return made


RUNS = {"published": lambda: runs.load("published"), "standin": lambda: runs.load("standin"), "small numbers": lambda: worked_run(1, 0.05),
        "usual numbers": lambda: worked_run(2, 1.0), "large numbers": lambda: worked_run(3, 6.0)}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    made = RUNS[request.param]()
    yield made
    Slide._chosen = None


def printed(run, page):
    """The numbers on the last step, each with its decimals and place: rows from the top, each from left to right."""
    Slide.use_run(run)
    found = [(round(w.get_y(), 1), w.get_x(), NUMBER.findall(w.text)) for w in lay_out(decks.slides()[f"reference/s03/{page}"]).shown() if w.role == "body"]
    table: dict[float, list] = {}
    for y, x, numbers in sorted(found, key=lambda f: (-f[0], f[1])):
        for number in numbers:
            table.setdefault(y, []).append(Printed(number))
    return list(table.values())


class Printed(float):
    """A number as printed; ``half`` is the most that rounding can have changed it."""

    def __new__(cls, text):
        made = super().__new__(cls, text.replace("−", "-").replace(",", ""))
        made.half = 0.5 * 10.0 ** -len(text.partition(".")[2])
        return made


def agree(terms, total):
    """A printed sum is the sum of the printed terms, within their rounding."""
    return abs(sum(terms) - total) <= sum(t.half for t in terms) + total.half + 1e-12


def product(a, b, c):
    """A printed product is the product of the printed factors, within their rounding."""
    return abs(a * b - c) <= a.half * abs(b) + b.half * abs(a) + a.half * b.half + c.half + 1e-12


def test_content_and_position_add_up(run):
    c, p, e = printed(run, 4)
    assert len(e) == 2 and all(agree((c[i], p[i]), e[i]) for i in range(2))


def test_the_made_up_step_closes(run):
    (old, rate, gradient, new), = [r for r in printed(run, 5) if len(r) == 4]
    assert new == pytest.approx(old - rate * gradient, abs=1e-12)


def test_scores_become_weights(run):
    rows = [r for r in printed(run, 16) if len(r) > 1]
    weights = rows[-1]
    assert sum(w - w.half for w in weights) <= 1 and all(0 <= w <= 1 for w in weights)
    if len(rows) == 2:  # scores are known too
        for s, a in zip(*rows):
            for t, b in zip(*rows):
                if min(a, b) > 2 * a.half:
                    slack = s.half + t.half + math.log((a + a.half) / (a - a.half)) + math.log((b + b.half) / (b - b.half))
                    assert abs(math.log(a / b) - (s - t)) <= slack


def test_the_filled_cell_is_a_scaled_dot_product(run):
    q, k = run.dog.block1.head1.q, run.dog.block1.head1.k
    score = [r for r in printed(run, 15) if r]
    if q:
        nose = run.dog.place("nose")
        exact = sum(a * b for a, b in zip(q["CLS"].values, k[nose].values, strict=True)) / math.sqrt(64)
        assert abs(score[-1][0] - exact) <= score[-1][0].half + 1e-4
    else:
        assert score == []


def test_one_weight_scales_the_features(run):
    rows = printed(run, 21)
    (weight,), values = (r for r in rows if r)
    assert len(values) == 6
    assert all(product(weight, v, c) for v, c in zip(values[:3], values[3:]))


def test_every_contribution_is_weight_times_value(run):
    rows = [r for r in printed(run, 22) if r]
    weights, lines = [r[0] for r in rows if len(r) == 1], [r for r in rows if len(r) == 4]
    assert len(weights) == len(lines) == len(run.dog.block1.head1.contributions)
    assert all(product(w, line[i], line[i + 2]) for w, line in zip(weights, lines) for i in range(2))


def test_contributions_add_up_to_the_message(run):
    *terms, total = [r for r in printed(run, 23) if len(r) == 2]
    assert len(terms) == len(run.dog.block1.head1.contributions) + 1
    assert all(agree([t[i] for t in terms], total[i]) for i in range(2))


def test_update_and_row_add_up(run):
    before, after = (r for r in printed(run, 24) if len(r) == 4)
    update, now, new = before[2:], after[:2], after[2:]
    assert all(agree((now[i], update[i]), new[i]) for i in range(2))


def test_counts_close(run):
    m = run.model
    Slide.use_run(run)
    assert m.patches * m.width == m.parameters.position_patches
    assert m.patches + 1 == m.tokens and m.width == m.heads * m.head_width


@pytest.mark.parametrize("size", [0.05, 6.0])
def test_pages_stay_clean_with_other_numbers(size):
    Slide.use_run(worked_run(4, size))
    assert [str(f) for page in PAGES for f in check(decks.slides()[page])] == []
    Slide._chosen = None


def test_the_drawn_matrices_are_the_runs(run):
    """A cell of a drawn matrix has the colour of the number that belongs to its row and column."""
    if run.dog.matrices is None:
        pytest.skip("this run has no whole matrices")
    from scenes.kit import TokenMatrix, theme, token_names
    values = head.weights(run.dog.matrices)
    names = token_names(run)
    drawn = TokenMatrix(values, values.shape, 3.0, 3.0, theme.TEAL, down=names, across=names, weights=True)
    for r in names:
        for c in names:
            place = drawn.cell(r, c).get_center() - drawn.image.get_corner([-1, 1, 0])
            y, x = (int(-place[1] / 3.0 * drawn.image.pixel_array.shape[0]), int(place[0] / 3.0 * drawn.image.pixel_array.shape[1]))
            expected = theme.ramp(values[drawn.vertical.index(r), drawn.horizontal.index(c)], None, theme.TEAL, drawn.scale_end)
            assert drawn.image.pixel_array[y, x, :3].tolist() == expected.tolist()
