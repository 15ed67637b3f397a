"""The lecture's printed figures against a run: what rounds to them is met, what does not is found, other runs are refused."""

from __future__ import annotations

import json
import re

import pytest
from measuring import command, refused
from vit_data import run, verify
from vit_data.story import LECTURE


@pytest.fixture(scope="module")
def lecture(tmp_path_factory) -> tuple[run.Run, object]:
    """The stand-in's document under the lecture's provenance, its figures replaced by the published ones: a perfect run."""
    document = json.loads(run.PUBLISHED.read_text(encoding="utf-8"))
    document["provenance"].update(kind="lecture", date="2026-12-01")
    document["provenance"]["checkpoint"].update(source="hub", detail="main")
    for role in ("dog", "cat"):
        document[role]["photo"]["sha256"] = LECTURE[role].sha256
    folder = tmp_path_factory.mktemp("lecture")
    document["name"] = "lecture"
    made = run.Run.model_validate(document)
    run.save(made, folder)
    return made, folder


def test_the_table_is_whole():
    figures = verify.printed()
    assert len(figures) > 170
    assert len({(p.field, p.text) for p in figures}) == len(figures)
    assert {p.page.split("/")[0] for p in figures} >= {"reference", "lecture"}
    published = run.load("published")
    for p in figures:
        assert re.fullmatch(r"−?\d[\d,]*\.\d+%?", p.text), p
        assert verify.number(published, p.field) is not None, p.field


def test_published_figures_meet_their_own_table():
    # 0.9572675228 is printed with more digits than a run keeps; the tolerance for float32 covers it
    assert [row.printed for row in verify.compare(run.load("published")) if not row.met] == []


@pytest.mark.parametrize(("text", "value", "half"), [("−0.852", -0.852, 0.0005), ("95.73%", 0.9573, 0.00005), ("1,397.25", 1397.25, 0.005), ("0.0240", 0.024, 0.00005)])
def test_printed_texts_are_read_with_their_decimals(text, value, half):
    figure = verify.Printed("x", text, "p")
    assert figure.value == pytest.approx(value) and figure.half_unit == pytest.approx(half)


def test_a_value_meets_a_figure_if_it_rounds_to_it():
    figure = verify.Printed("x", "−0.852", "p")
    assert verify.Row(figure, -0.85245).met and verify.Row(figure, -0.85155).met
    assert not verify.Row(figure, -0.8526).met and not verify.Row(figure, 0.852).met and not verify.Row(figure, None).met


def test_verify_passes_a_run_that_agrees(lecture):
    done = command("verify", "lecture", "--folder", lecture[1])
    assert done.exit_code == 0, done.output
    total = len(verify.printed())
    assert f"{total} of {total} printed figures agree" in done.stdout


@pytest.mark.parametrize(("path", "value", "figure"), [
    (("dog", "prediction", "top", 0, "probability"), 0.9561, "dog.prediction.top.0.probability"),
    (("dog", "patches", "P63", "c", "first", 0), -0.8531, "dog.patches.P63.c.1"),
])
def test_verify_names_what_is_off_with_its_page(lecture, tmp_path, path, value, figure):
    document = json.loads(run.dumps(lecture[0]))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (tmp_path / "lecture.json").write_text(json.dumps(document), encoding="utf-8")
    done = command("verify", "lecture", "--folder", tmp_path)
    assert done.exit_code == 1
    assert figure in done.stdout and "off" in done.stdout and "/s0" in done.stdout
    rows = [row for row in verify.compare(run.load(str(tmp_path / "lecture.json"))) if not row.met]
    assert {row.printed.field for row in rows} == {figure}


def test_other_runs_are_refused_with_the_reason(first, lecture, tmp_path):
    assert "its weights are not the lecture's" in refused(command("verify", "standin"))
    assert "random weights, seed 1" in refused(command("verify", "first", "--folder", first.folder))
    document = json.loads(run.dumps(lecture[0]))
    document["cat"]["photo"]["sha256"] = "0" * 64
    (tmp_path / "other.json").write_text(json.dumps(document | {"name": "other"}), encoding="utf-8")
    assert "its cat is not the lecture's photograph" in refused(command("verify", "other", "--folder", tmp_path))
