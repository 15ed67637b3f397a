"""The nine examples of the lab: what they look at, and words that follow from the map."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from vit_data import examples, run
from vit_data.examples import EXAMPLES

PUBLISHED, STANDIN = run.load("published"), run.load("standin")
DECK = [  # (kind, block, head, query, strongest source, title) as the lecture has them
    ("similarity", 12, 1, "P182", "P70", "Background finds background"),
    ("similarity", 12, 1, "P1", "P183", "Check a true corner"),
    ("similarity", 12, 1, "P74", "P82", "One ear finds the other side"),
    ("similarity", 12, 1, "P63", "P77", "Move the reference to the nose"),
    ("similarity", 12, 1, "P147", "P162", "Follow the body’s dark fur"),
    ("similarity", 1, 1, "P74", None, "Rewind to block 1"),
    ("attention", 4, 1, "P74", "P60", "Ask what the ear reads"),
    ("attention", 4, 2, "P74", "P38", "Change only the attention head"),
    ("attention", 12, 1, "CLS", "P64", "Let CLS gather an image summary"),
]


def test_published_examples_are_the_lectures() -> None:
    found = [(e.kind, e.depth(PUBLISHED), e.head, e.query(PUBLISHED), e.find(PUBLISHED).strongest, e.title(PUBLISHED)) for e in EXAMPLES]
    assert found == DECK and [e.number for e in EXAMPLES] == list(range(1, 10))


def changed(**places: int) -> run.Run:
    document = json.loads((run.CACHE / "standin.json").read_text(encoding="utf-8"))
    document["dog"]["photo"]["places"] |= places
    return run.Run.model_validate(document)


def test_claims_need_the_map() -> None:
    assert EXAMPLES[2].find(STANDIN).strongest != STANDIN.dog.place("other_ear")
    assert EXAMPLES[2].title(STANDIN) == "Compare one ear with the other side"
    strongest = int(EXAMPLES[2].find(STANDIN).strongest[1:])
    assert EXAMPLES[2].title(changed(other_ear=strongest)) == "One ear finds the other side"
    assert EXAMPLES[0].title(STANDIN) == "What does background find?"
    assert EXAMPLES[1].title(STANDIN) == "Check a true corner" and EXAMPLES[1].title(changed(corner=2)) == "Check the corner"
    assert EXAMPLES[4].title(STANDIN) == "Follow the body’s dark fur"
    unknown = STANDIN.model_copy(update={"dog": STANDIN.dog.model_copy(update={"photo": STANDIN.dog.photo.model_copy(update={"known": None})})})
    assert EXAMPLES[4].title(unknown) == "Follow the body down from the chest"


def test_every_map_sums_to_one_and_its_strongest_is_found() -> None:
    for example in EXAMPLES:
        found = example.find(STANDIN)
        values = found.values
        if example.kind == "attention":
            assert sum(values) == pytest.approx(1, abs=1e-5) and len(values) == 197
            values = values[1:]
        best = examples.top_sources(values, found.query, 3)
        assert best[0][0] == found.strongest and best == sorted(best, key=lambda pair: -pair[1])
        assert found.query not in dict(best)


def test_own_weight() -> None:
    ear, _, cls = PUBLISHED.dog.attention
    assert examples.own_weight(ear) == 0.1035 and examples.own_weight(cls) is None
    measured = STANDIN.dog.attention[0]
    assert examples.own_weight(measured) == measured.values[74]
    assert examples.own_weight(PUBLISHED.dog.attention[1]) is None  # its largest weight is the other patch's


def test_walk() -> None:
    whole, known = examples.walk(STANDIN), examples.walk(PUBLISHED)
    assert [b for b, _, _ in whole] == [b for b, _, _ in known] == list(range(1, 13))
    assert all(s and a for _, s, a in whole)
    assert [b for b, s, _ in known if s] == [1, 12] and [b for b, _, a in known if a] == [4]


def test_places_on_the_grid() -> None:
    assert examples.corners(14) == ("P1", "P14", "P183", "P196")
    assert examples.neighbours("P63", "P77", 14) and examples.neighbours("P63", "P48", 14)
    assert not examples.neighbours("P14", "P15", 14) and not examples.neighbours("P63", "P63", 14)
    assert [examples.level("P63", b, 14) for b in ("P77", "P49", "P70")] == ["lower", "higher", "in the same row"]


@given(st.lists(st.floats(1e-9, 1), min_size=2, max_size=4))
def test_printed_shares_add_up(raw: list[float]) -> None:
    shares = (np.array(raw) / sum(raw)).tolist()
    printed = examples.split_in_hundred(shares)
    assert round(sum(printed), 2) == 100 and all(p >= 0 for p in printed)
    assert all(abs(p - 100 * s) <= 0.0251 for p, s in zip(printed, shares, strict=True))


def test_examples_need_no_torch() -> None:
    source = Path(examples.__file__).read_text(encoding="utf-8")
    assert "import torch" not in source and "import timm" not in source
