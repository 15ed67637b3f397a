"""How often a checkpoint is right on pictures that it was not trained on, from the report of its training."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from .run import Evaluation, significant
from .standin.breeds import BREEDS

REPORT = Path(__file__).parent / "standin" / "report.json"


def standin_test(report: Path = REPORT) -> Evaluation:
    """The stand-in's test on its dogs and cats: breeds counted as dog or cat, any other class as neither."""
    found = json.loads(report.read_text(encoding="utf-8"))
    species = {breed.index: breed.species for breed in BREEDS.values() if breed.index is not None}
    test, drawings = found["test"], found["drawings"]
    kinds = [species[index] for index in test["indices"]]
    counts: dict[str, Counter[str]] = {kind: Counter(dog=0, cat=0, other=0) for kind in ("dog", "cat")}
    for kind, row in zip(kinds, test["confusion"], strict=True):
        for answer, number in zip([*kinds, "other"], row, strict=True):
            if kind in counts:
                counts[kind][answer if answer in counts else "other"] += number
    pets = sum(sum(row.values()) for row in counts.values())
    correct = sum(counts[kind][kind] for kind in counts)
    return Evaluation(
        kind="drawing", training=drawings["train_112"], validation=drawings["validation"], test=test["drawings"], pets=pets,
        dog=dict(counts["dog"]), cat=dict(counts["cat"]), correct=correct, accuracy=significant(correct / pets))
