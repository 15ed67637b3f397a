"""Two runs side by side: nothing where nothing moved, every moved number, and the claims that flip with them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from measuring import command, refused
from vit_data import diff, run

STANDIN = json.loads((run.CACHE / "standin.json").read_text(encoding="utf-8"))


def numbers(value: object, path: tuple = ()) -> list[tuple]:
    """Where the document's measured numbers are."""
    if isinstance(value, dict):
        return [place for key, part in value.items() if key not in diff.NOT_FIGURES for place in numbers(part, (*path, key))]
    if isinstance(value, list):
        return [place for i, part in enumerate(value) for place in numbers(part, (*path, i))]
    return [path] if isinstance(value, float) else []


def with_value(document: object, path: tuple, value: object) -> object:
    """A copy with another value at a path; the other parts are shared."""
    if not path:
        return value
    if isinstance(document, dict):
        return {k: with_value(v, path[1:], value) if k == path[0] else v for k, v in document.items()}
    return [with_value(v, path[1:], value) if i == path[0] else v for i, v in enumerate(document)]


def at(document: object, path: tuple) -> object:
    for step in path:
        document = document[step]
    return document


NUMBERS = [path for path in numbers(STANDIN) if not {"first", "last", "values"} & set(path)]  # ends and whole vectors hold the same number


@pytest.fixture(scope="module")
def standin() -> run.Run:
    return run.load("standin")


def same_but(path: tuple, value: object, document: dict = STANDIN) -> run.Run:
    return run.Run.model_validate(with_value(document, path, value))


def flipped(before: run.Run, after: run.Run) -> dict[str, tuple[str, str]]:
    return {c.what: (c.before, c.after) for c in diff.compare(before, after).claims if c.flipped}


@pytest.mark.parametrize("name", ["standin", "published"])
def test_a_run_does_not_differ_from_itself(name: str) -> None:
    found = diff.compare(run.load(name), run.load(name))
    assert found.moved == [] and not any(c.flipped for c in found.claims) and found.claims


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(place=st.sampled_from(NUMBERS), change=st.floats(1e-4, 0.4))
def test_any_changed_number_is_found(standin: run.Run, place: tuple, change: float) -> None:
    old = at(STANDIN, place)
    new = old - change if old > 0.5 else old + change
    (moved,) = diff.compare(standin, same_but(place, new)).moved
    assert moved.field == ".".join(map(str, place)) and (moved.before, moved.after) == (old, new)
    assert moved.change == pytest.approx(new - old) and moved.places == 1
    (back,) = diff.compare(same_but(place, new), standin).moved
    assert back.change == -moved.change


def test_a_whole_vector_is_one_line_with_its_largest_change(standin: run.Run) -> None:
    logits = list(STANDIN["dog"]["prediction"]["logits"])
    place = ("dog", "prediction", "logits")
    logits[5], logits[700] = logits[5] + 0.25, logits[700] - 3
    (moved,) = diff.compare(standin, same_but(place, logits)).moved
    assert (moved.field, moved.places, moved.change) == ("dog.prediction.logits.700", 2, pytest.approx(-3))


def test_the_largest_change_comes_first(standin: run.Run) -> None:
    dice, document = random.Random(3), STANDIN
    for place in dice.sample(NUMBERS, 12):
        document = with_value(document, place, at(document, place) * 0.9)
    changes = [abs(m.change) for m in diff.compare(standin, run.Run.model_validate(document)).moved]
    assert changes == sorted(changes, reverse=True) and len(changes) > 3


def test_what_only_one_run_has_is_named(standin: run.Run) -> None:
    (moved,) = diff.compare(standin, run.Run.model_validate({k: v for k, v in STANDIN.items() if k != "stripe"})).moved
    assert moved.field == "stripe" and moved.after is None and moved.change is None


def test_day_and_versions_are_no_figures(standin: run.Run) -> None:
    other = with_value(with_value(STANDIN, ("provenance", "date"), "2030-01-01"), ("name",), "other")
    assert diff.compare(standin, run.Run.model_validate(other)).moved == []


@pytest.mark.parametrize(("path", "value", "claim"), [
    (("dog", "prediction", "top", 0, "label"), "tabby", "dog: top label"),
    (("cat", "prediction", "top", 1, "label"), "tabby", "cat: the next two"),
    (("cat", "prediction", "correct"), None, "cat: right about the known breed"),
    (("dog", "attention", 0, "strongest"), "P3", "strongest source, block 4, head 1, query ear"),
    (("dog", "attention", 2, "strongest"), "P3", "strongest source, block 12, head 1, query CLS"),
    (("dog", "covers", "quadrant_largest"), "nowhere", "covers: largest effect of a quarter"),
    (("dog", "covers", "quadrants_keep"), 1, "covers: quarters that keep the label"),
    (("dog", "covers", "quadrants", 3, "points"), 44.0, "covers: quarters that raise the probability"),
    (("dog", "covers", "patches", "largest", "name"), "P3", "covers: patch with the largest effect"),
    (("dog", "covers", "patches", "keep"), 0, "covers: patches that keep the label"),
])
def test_claims_flip(standin: run.Run, path: tuple, value: object, claim: str) -> None:
    found = flipped(standin, same_but(path, value))
    assert list(found) == [claim] and found[claim][0] != found[claim][1]


def test_a_number_that_moves_alone_flips_no_claim(standin: run.Run) -> None:
    path = ("dog", "prediction", "top", 0, "probability")
    assert flipped(standin, same_but(path, at(STANDIN, path) - 1e-3)) == {}


def test_the_command(tmp_path: Path, standin: run.Run) -> None:
    other = with_value(with_value(STANDIN, ("name",), "other"), ("dog", "prediction", "top", 0, "label"), "tabby")
    for place in random.Random(1).sample([place for place in NUMBERS if place[0] in ("dog", "cat")], 400):
        other = with_value(other, place, at(other, place) * 0.99)
    for name, document in (("standin", STANDIN), ("other", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    text = command("diff", "standin", "other", "--folder", tmp_path)
    assert text.exit_code == 0 and "claims flipped" in text.stdout and "dog: top label" in text.stdout
    assert "the 30 that moved most" in text.stdout
    everything = command("diff", "standin", "other", "--all", "--folder", tmp_path).stdout
    assert len(everything.splitlines()) > len(text.stdout.splitlines()) and "moved most" not in everything
    document = json.loads(command("diff", "standin", "other", "--json", "--folder", tmp_path).stdout)
    assert (document["before"], document["after"]) == ("standin", "other")
    assert {"field", "before", "after", "change", "places"} == set(document["moved"][0])
    flips = {c["what"]: (c["before"], c["after"]) for c in document["flipped"]}
    assert flips["dog: top label"] == (standin.dog.prediction.top[0].label, "tabby")
    assert "No figure differs." in command("diff", "other", "other", "--folder", tmp_path).stdout
    assert "did you mean 'other'?" in refused(command("diff", "standin", "othr", "--folder", tmp_path))
