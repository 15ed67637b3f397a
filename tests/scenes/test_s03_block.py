"""Sums on the pages of block 1 and of the classifier close as printed, on every run; the block's three levels of detail."""

import json
import random
import re
from decimal import Decimal

import pytest
from scenes import decks
from scenes.kit import STAGE, Block, SparseMatrix, theme
from scenes.kit.check import check
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from vit_data import block, run as runs


def document(name):
    path = runs.PUBLISHED if name == "published" else runs.CACHE / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def made_up(seed):
    """The published run with other numbers in every sum; they add up exactly, their roundings need not."""
    dice, raw = random.Random(seed), document("published")
    dog, b = raw["dog"], raw["dog"]["block1"]

    def two():
        return [dice.gauss(0, 1), dice.gauss(0, 1)]
    e, update, mlp = two(), two(), two()
    u = [a + c for a, c in zip(e, update)]
    for part, values in ((dog["cls"]["e"], e), (b["update"], update), (b["u"], u), (b["mlp_update"], mlp), (b["out"], [a + c for a, c in zip(u, mlp)])):
        part["first"] = values
    c = dog["top_class"]
    c["products"], c["others"], c["bias"] = [dice.gauss(0, 0.01), dice.gauss(0, 0.01)], dice.gauss(0, 9), dice.choice((0.0, dice.gauss(0, 0.02)))
    c["logit"] = sum(c["products"]) + c["others"] + c["bias"]
    shares = sorted((dice.random() ** 4 for _ in range(4)), reverse=True)
    shares = [s / sum(shares) for s in shares]
    for score, share in zip(dog["prediction"]["top"], shares):
        score["probability"] = share
    dog["prediction"]["rest"] = shares[3]
    return runs.Run.model_validate(raw)


RUNS = {"published": lambda: runs.load("published"), "standin": lambda: runs.load("standin"), **{f"made up {i}": lambda i=i: made_up(i) for i in range(12)}}


@pytest.fixture(params=RUNS)
def run(request):
    Slide.use_run(RUNS[request.param]())
    yield Slide._chosen
    Slide._chosen = None


def printed(route):
    """The texts of a page in reading order, line by line, repeated ones included."""
    return [w.text for w in sorted(lay_out(decks.slides()[route]).shown(), key=lambda w: (round(-w.get_y(), 1), w.get_x()))]


def value(text):
    return Decimal(text.replace("−", "-").replace(",", "").rstrip("%"))


def left_and_right(texts, start):
    """Both sides of the sum with an ≈ sign that begins at ``start``: printed terms with their signs, printed total."""
    sign, terms, i = 1, [], start
    while texts[i] != "≈":
        if texts[i] in "+−":
            sign = 1 if texts[i] == "+" else -1
        else:
            terms.append(sign * value(texts[i]))
        i += 1
    return terms, value(texts[i + 1])


def closes(terms, total):
    """The printed terms, added up and rounded to the total's decimals, are the printed total."""
    step = Decimal(1).scaleb(total.as_tuple().exponent)
    return abs(sum(terms) - total) * 2 <= (step if min(t.as_tuple().exponent for t in terms) < total.as_tuple().exponent else 0)


@pytest.mark.parametrize("route, before, update, after", [
    ("reference/s03/33", lambda d: d.cls.e, lambda d: d.block1.update, lambda d: d.block1.u),
    ("reference/s03/36", lambda d: d.block1.u, lambda d: d.block1.mlp_update, lambda d: d.block1.out)])
def test_residual_additions_close(run, route, before, update, after):
    texts = printed(route)
    terms, total = left_and_right(texts, texts.index("First coordinate:") + 1)
    assert len(terms) == 2 and closes(terms, total)
    for shown, vector in zip((*terms, total), (before(run.dog), update(run.dog), after(run.dog))):
        assert abs(float(shown) - vector.first[0]) <= 0.5001 * 10.0 ** shown.as_tuple().exponent
    numbers = " ".join(texts)
    assert all(str(t).replace("-", "−") in numbers for t in (terms[0], total)), "the rows print the decimals that the sum uses"


def test_class_score_closes(run):
    texts = printed("reference/s03/42")
    terms, total = left_and_right(texts, texts.index("≈") - 7)
    c = run.dog.top_class
    assert len(terms) == 4 and closes(terms, total)
    for shown, measured in zip((*terms, total), (*c.products, c.others, c.bias, c.logit)):
        assert abs(float(shown) - measured) <= 0.5001 * 10.0 ** shown.as_tuple().exponent


def test_percentages_add_up_to_a_hundred(run):
    shares = [value(t) for t in printed("reference/s03/43") if re.fullmatch(r"[\d.]+%", t)]
    assert len(shares) == 4 and sum(shares) == 100


@pytest.mark.parametrize("route", ["reference/s03/33", "reference/s03/36", "reference/s03/42", "reference/s03/43"])
def test_more_decimals_still_fit(route):
    for seed in range(4):
        Slide.use_run(made_up(seed))
        assert check(decks.slides()[route]) == []
    Slide._chosen = None


def test_the_loss_is_that_of_the_known_breed():
    raw = document("standin")
    other = raw["dog"]["prediction"]["known"]
    other.update(index=5, label="electric ray", probability=0.05)
    raw["dog"]["prediction"]["correct"] = False
    Slide.use_run(runs.Run.model_validate(raw))
    texts = printed("reference/s04/4")
    Slide._chosen = None
    assert any("2.9957" in t for t in texts)


def test_depth_shows_the_run(standin):
    texts = printed("reference/s03/39")
    assert [t for t in (f"{c:.2f}" for c in standin.dog.depth.cosines) if t not in texts] == []


class TestBlock:
    @pytest.fixture(params=[Block.CARD, Block.BRANCHES, Block.OPEN])
    def part(self, request):
        return Block(runs.load("published").model, 1, request.param)

    def test_fits_the_stage(self, part):
        assert part.width <= STAGE.width and part.height <= STAGE.height

    def test_rows_enter_left_and_leave_right(self, part):
        assert part.entry[0] < part.exit[0] and part.entry[1] == pytest.approx(part.exit[1])

    def test_grey_path_runs_below_and_ends_in_the_plus(self, part):
        for lane in (part.attention, part.mlp):
            if lane is not None:
                assert lane.skip.get_bottom()[1] < lane.stages.get_bottom()[1]
                assert all(line.get_color().to_hex() == theme.SKIP for line in lane.skip)
                assert lane.skip.get_right()[0] == pytest.approx(lane.plus.get_center()[0], abs=0.12)

    def test_heads_keep_their_tints(self):
        part = Block(runs.load("published").model, 1, Block.OPEN)
        boxes = part.attention.stages[1].boxes
        assert [b.border.get_stroke_color().to_hex() for b in boxes] == list(theme.HEADS)


def test_sparse_matrix_places_its_rows():
    vector = runs.Vector.of([float(i) for i in range(8)])
    part = SparseMatrix(["CLS", "P1", "", "P196"], {"CLS": vector, "P196": vector}, 2.0, 8, step=0.4, gap=0.1)
    assert part.cell("CLS").get_top()[1] == pytest.approx(part.image.get_top()[1])
    assert part.cell("P196").get_bottom()[1] == pytest.approx(part.image.get_bottom()[1])
    assert part.image.pixel_array[-1, -1].tolist() == part.image.pixel_array[0, -1].tolist()


def test_heads_of_a_run_without_matrices(published):
    assert block.heads(published) is None
