"""The stand-in's test in the run against its report, counted in another way."""

from __future__ import annotations

import json

import numpy as np
import pytest
from vit_data import evaluation, run
from vit_data.standin.breeds import BREEDS


@pytest.fixture(scope="module")
def report() -> dict:
    return json.loads(evaluation.REPORT.read_text(encoding="utf-8"))


def test_counts_are_blocks_of_the_confusion_matrix(report: dict) -> None:
    found = evaluation.standin_test()
    table = np.array(report["test"]["confusion"])
    is_ = {kind: np.array([next(b.species for b in BREEDS.values() if b.label == label) == kind for label in report["test"]["labels"]])
           for kind in ("dog", "cat")}
    blocks = {row: {column: int(table[is_[row]][:, :-1][:, is_[column]].sum()) for column in is_} for row in is_}
    for name, row in (("dog", found.dog), ("cat", found.cat)):
        assert {k: row[k] for k in ("dog", "cat")} == blocks[name]
    assert sum(found.dog.values()) == table[is_["dog"]].sum() and sum(found.cat.values()) == table[is_["cat"]].sum()
    assert sum(found.dog.values()) + sum(found.cat.values()) == found.pets < found.test == report["test"]["drawings"]
    assert found.correct == found.dog["dog"] + found.cat["cat"]
    assert found.accuracy == pytest.approx(found.correct / found.pets)
    # a right breed has the right species
    assert found.correct >= table.diagonal()[is_["dog"] | is_["cat"]].sum()


def test_only_the_standin_has_a_test() -> None:
    assert run.load("standin").evaluation == evaluation.standin_test()
    assert run.load("published").evaluation is None
