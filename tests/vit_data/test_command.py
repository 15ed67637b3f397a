"""The command line of the data layer: what it refuses, what it prints, what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from measuring import First, command, refused
from PIL import Image
from vit_data import forward, measure, run, store


def test_two_measurements_are_the_same_bytes(first: First, tmp_path: Path) -> None:
    result = command("measure", "--checkpoint", "random:1", "--name", "first", "--folder", tmp_path, "--date", "2026-12-02")
    assert result.exit_code == 0, result.output
    names = sorted(p.name for p in tmp_path.iterdir())
    pictures = [name for name in names if name.endswith(".png")]
    assert {"first.cat.original.png", "first.cat.png", "first.dog.original.png", "first.dog.png"} < set(pictures)
    assert names == sorted([*pictures, "first.json", "first.lab.npz"])
    for name in [*pictures, "first.lab.npz"]:
        assert (tmp_path / name).read_bytes() == (first.folder / name).read_bytes()
    again = (tmp_path / "first.json").read_text(encoding="utf-8")
    assert again.replace("2026-12-02", "2026-12-01") == (first.folder / "first.json").read_text(encoding="utf-8")
    assert "random weights, seed 1" in result.stdout and str(tmp_path / "first.json") in result.stdout


@pytest.mark.parametrize(("words", "expected"), [
    (["--checkpoint", "random:"], "names no seed"),
    (["--checkpoint", "random:-1"], "names no seed"),
    (["--checkpoint", "random:x"], "names no seed"),
    (["--checkpoint", "nowhere.pth"], "no checkpoint 'nowhere.pth'"),
    (["--checkpoint", "."], "is a folder"),
    (["--name", "published"], "belongs to the figures"),
    (["--name", "../up"], "can't name a run"),
    (["--name", ".hidden"], "can't name a run"),
    (["--date", "tomorrow"], "is no date"),
    (["--place", "tail=3"], "no part 'tail'"),
    (["--place", "nose=197"], "not on the grid"),
    (["--place", "nose=0"], "not on the grid"),
    (["--place", "nose=70"], "last of its row"),
    (["--place", "nose"], "is no place"),
    (["--dog", "nowhere.jpg"], "can't be opened"),
])
def test_refusals_come_before_any_measuring(words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", None)  # would fail if it were called
    checkpoint = [] if "--checkpoint" in words else ["--checkpoint", "random:0"]
    sentence = refused(command("measure", *checkpoint, *words, "--folder", tmp_path))
    assert expected in sentence and sentence.endswith(".")
    assert not list(tmp_path.iterdir())


def test_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sentence = refused(command("measure", "--checkpoint", "random:0", "--folder", tmp_path / "file" / "below"))
    assert "can't be written to" in sentence


def test_no_network_is_said_at_once(no_network: None, tmp_path: Path) -> None:
    start = time.monotonic()
    sentence = refused(command("measure", "--folder", tmp_path))
    assert time.monotonic() - start < 2
    assert "can't be reached" in sentence and "--checkpoint standin" in sentence and "random:0" in sentence


def test_no_network_for_the_photographs(no_network: None, tmp_path: Path) -> None:
    sentence = refused(command("measure", "--checkpoint", "random:0", "--dog", "lecture", "--folder", tmp_path))
    assert "newfoundland_31.jpg" in sentence and "Persian" not in sentence and "--dog standin" in sentence


def test_an_existing_run_survives_a_failure(first: First, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {p.name: p.read_bytes() for p in first.folder.iterdir()}

    def differs(*_: object) -> dict[str, float]:
        raise forward.MeasureError("The model's logits differ from what the lecture's formulas give by 1.")
    monkeypatch.setattr(measure, "verify", differs)
    assert "logits differ" in refused(command("measure", "--checkpoint", "random:2", "--name", "first", "--folder", first.folder))
    assert {p.name: p.read_bytes() for p in first.folder.iterdir()} == before


def test_a_full_disk_leaves_the_old_run_whole(first: First, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {p.name: p.read_bytes() for p in first.folder.iterdir()}
    written = run.write_safely

    def full(path: Path, content: bytes) -> None:
        if ".json" in path.name:
            raise OSError(28, "No space left on device")
        written(path, content)
    monkeypatch.setattr(store, "write_safely", full)
    with pytest.raises(store.StoreError, match="No space left"):
        store.write(first.run, {"first.dog.png": b"new"}, first.folder)
    assert {p.name: p.read_bytes() for p in first.folder.iterdir()} == before


def test_show(first: First) -> None:
    folder = ("--folder", first.folder)
    summary = command("show", "first", *folder).stdout
    assert "random weights, seed 1" in summary and "5,717,416" in summary and "drawing" in summary
    vector = command("show", "first", "dog.patches.P63.c", *folder).stdout
    assert "192 numbers" in vector and len(vector.splitlines()) == 25
    assert len(command("show", "first", "dog.attention.0.values", *folder).stdout.splitlines()) == 25
    assert command("show", "published", "dog.covers.quadrants.1.points").stdout.strip() == "−16.11"
    assert "index 256, label Newfoundland" in command("show", "published", "dog.covers").stdout


@pytest.mark.parametrize(("words", "expected"), [
    (["show", "frist"], "did you mean 'first'?"),
    (["show", "zzz"], "there are: first, published."),
    (["show", "first", "dog.cover"], "did you mean 'dog.covers'?"),
    (["show", "first", "dog.patches.zzz"], "there are: P1, "),
    (["show", "first", "name.x"], "it ends there"),
    (["show", "first", "dog.attention.9"], "there are: 0, 1, 2"),
    (["shwo"], "did you mean 'show'?"),
    (["zzz"], "there are: diff, list, measure, show, verify"),
])
def test_unknown_things_name_the_nearest(first: First, words: list[str], expected: str) -> None:
    folder = ["--folder", first.folder] if len(words) > 1 else []
    assert expected in refused(command(*words, *folder))


def test_list(first: First) -> None:
    (first.folder / "broken.json").write_text("{")
    lines = command("list", "--folder", first.folder).stdout.splitlines()
    (first.folder / "broken.json").unlink()
    assert [line.split()[0] for line in lines] == ["broken", "first", "published"]
    assert "can't be read as a run" in lines[0] and "random weights, seed 1" in lines[1]


def test_help_teaches() -> None:
    text = command("measure", "--help").stdout
    for word in ("hub", "standin", "random:SEED", "FILE", "nose=63", "Examples"):
        assert word in text
    assert "measure" in command("--help").stdout


def test_names_of_unnamed_runs(tmp_path: Path) -> None:
    from vit_data import checkpoint, photos
    from vit_data.__main__ import _default_name

    pictures = (photos.drawn("dog"), photos.drawn("cat"))
    usual = {"dog": "standin", "cat": "standin"}
    photographs = {"dog": "lecture", "cat": "lecture"}
    assert _default_name(checkpoint.Choice("random", seed=7), usual, pictures) == "random-7"
    assert _default_name(checkpoint.Choice("standin"), usual, pictures) == "standin"
    assert _default_name(checkpoint.Choice("hub"), photographs, pictures) == "lecture"
    Image.new("RGB", (40, 40)).save(tmp_path / "my dog.png")
    own = (photos.picture(str(tmp_path / "my dog.png"), "dog"), pictures[1])
    assert _default_name(checkpoint.Choice("standin"), {**usual, "dog": "x"}, own) == "standin-my_dog"
    assert _default_name(checkpoint.Choice("hub"), {**photographs, "dog": "x"}, own) == "hub-my_dog"
    assert _default_name(checkpoint.Choice("file", Path("a b.pth")), photographs, pictures) == "a_b"


def test_the_schema_and_the_figures_need_no_torch() -> None:
    code = ("import sys, vit_data.run, vit_data.rows, vit_data.figures, vit_data.show, vit_data.__main__; "
            "sys.exit(any(m in sys.modules for m in ('torch', 'timm', 'manim')))")
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0
