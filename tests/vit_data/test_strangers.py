"""What strangers hand over: run files, pictures, words on the command line. Used, or refused in one sentence; never a traceback."""

from __future__ import annotations

import copy
import io
import json
import random
import string
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st
from measuring import command
from PIL import Image
from strangers import mutant
from vit_data import checkpoint, measure, photos, run, sound

STANDIN = json.loads((run.CACHE / "standin.json").read_text(encoding="utf-8"))
PUBLISHED = json.loads(run.PUBLISHED.read_text(encoding="utf-8"))
CONTROL = set(map(chr, [*range(32), 127]))
QUIET = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def outcome(path: Path) -> str | None:
    """None for a run that may be used, else the sentence that refuses it."""
    try:
        used = run.load(str(path))
    except run.RunError as error:
        sentence = str(error)
        assert sentence.endswith(".") or "--name" in sentence, sentence
        assert not CONTROL & set(sentence) and len(sentence) < 700, sentence
        return sentence
    for name in (used.dog.photo.input_file, used.cat.photo.original_file, *(g.file for g in used.gallery)):
        assert name is None or used.file(name).parent == path.parent, "a run's pictures lie beside it"
    return None


def tally(folder: Path, many: int, seed: int) -> dict[bool, int]:
    """``many`` mutated runs: how many were refused, how many can be used."""
    dice, path, found = random.Random(seed), folder / "stranger.json", {True: 0, False: 0}
    for _ in range(many):
        path.write_bytes(mutant(dice.choice((STANDIN, PUBLISHED, PUBLISHED, PUBLISHED)), dice))
        found[outcome(path) is None] += 1
    return found


def test_mutated_runs(tmp_path: Path) -> None:
    found = tally(tmp_path, 150, 1)
    assert found[True] > 10 and found[False] > 50


@pytest.mark.slow
def test_5000_mutated_runs(tmp_path: Path) -> None:
    found = tally(tmp_path, 5000, 2)
    assert sum(found.values()) == 5000 and min(found.values()) > 300


@QUIET
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass")),
                         st.recursive(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
                         .map(lambda v: json.dumps(v).encode())))
def test_files_that_are_no_runs(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "no-run.json"
    path.write_bytes(content)
    assert outcome(path)


def at(path: str, value: object, document: dict = STANDIN) -> dict:
    """The document with ``value`` at a dotted path; a value that can be called makes it from the old one."""
    document = copy.deepcopy(document)
    *way, last = path.split(".")
    part = document
    for step in way:
        part = part[int(step) if isinstance(part, list) else step]
    last = int(last) if isinstance(part, list) else last
    if value is DELETED:
        del part[last]
    else:
        part[last] = value(part[last]) if callable(value) else value
    return document


DELETED = object()


@pytest.mark.parametrize(("path", "value", "expected"), [
    ("schema_version", 2, "has schema version 2, this program reads 1: measure it again with python -m vit_data measure --name stranger"),
    ("schema_version", DELETED, "has schema version None"),
    ("schema_version", True, "has schema version True"),
    ("name", "../../up", "name: String should match pattern"),
    ("dog.photo.input_file", "../../secret.png", "input_file: String should match pattern"),
    ("dog.photo.original_file", "/etc/x.png", "original_file: String should match pattern"),
    ("gallery.0.file", "..", "gallery.0.file"),
    ("dog.prediction.top.0.probability", 1.5, "less than or equal to 1"),
    ("dog.prediction.top.0.probability", float("nan"), "probability"),
    ("dog.prediction.top.0.logit", float("inf"), "finite number"),
    ("dog.prediction.top.0.logit", 1e300, "larger than anything that is measured"),
    ("dog.prediction.top", lambda top: top[::-1], "the labels are not in order"),
    ("dog.prediction.top.0.index", 1000, "there is no class 1000"),
    ("dog.prediction.logits", lambda v: v[:-1], "999 logits instead of 1000"),
    ("dog.prediction.top.0.label", "x\x1b[2J", "dog.prediction.top.0.label: the text is too long or holds control characters"),
    ("provenance.checkpoint.detail", "a" * 401, "provenance.checkpoint.detail: the text is too long"),
    ("dog.h", lambda v: {"length": 3, "first": [1, 2, 3]}, "dog.h: a row of 3 numbers instead of 192"),
    ("dog.h", lambda v: {"length": 192, "first": v["first"][:1], "last": 1}, "dog.h.first: 1 entries, at least 2 are needed"),
    ("dog.patches.P63", DELETED, "dog.patches.P63 is missing"),
    ("dog.photo.places.nose", 70, "last of its row"),
    ("dog.photo.places.nose", 1000, "not on the grid"),
    ("dog.photo.places.ear", DELETED, "the place of 'ear' is missing"),
    ("dog.photo.places.nose", 1, "cat.patches.P1 is missing"),
    ("dog.attention.0.query", "P9", "block 4, head 1, query P74 is missing"),
    ("dog.attention.0.strongest", "P400", "there is no patch P400"),
    ("dog.attention.0.values", lambda v: v[1:], "196 weights instead of 197"),
    ("dog.attention.0.head", 4, "there is no head 4 in block 4"),
    ("dog.matrices.q.rows", 1, "grid"),
    ("dog.matrices.q", lambda q: {"rows": 64, "columns": 197, "half": q["half"]}, "q has 64 × 197 numbers instead of 197 × 64"),
    ("dog.covers.quadrants.0.left", 200, "the cover leaves the picture"),
    ("dog.covers.quadrant_largest", "nowhere", "do not belong to the covers"),
    ("dog.depth.after", {}, "rows after some of the blocks are missing"),
    ("dog.photo.species", "cat", "'cat' in the place of the dog"),
    ("model.depth", 24, "this program draws vit_tiny_patch16_224 only"),
    ("model.transform.std", [0.5, 0.5, 0.0], "the sizes or deviations are impossible"),
    ("dog.patches.P63.pixels", lambda v: [[300, 0, 0], *v[1:]], "pixels are three numbers from 0 to 255"),
    ("lab.step.labels", [1], "labels or gradients are missing"),
    ("toy.bias", [0.1, 0.2], "the four-pixel example"),
    ("dog.block1", DELETED, "dog.block1 is missing"),
    ("unknown", 1, "unknown"),
])
def test_what_is_wrong_is_named(path: str, value: object, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "stranger.json"
    file.write_text(json.dumps(at(path, value)), encoding="utf-8")
    assert expected in (outcome(file) or "used")


def test_what_may_be_absent(tmp_path: Path) -> None:
    file = tmp_path / "stranger.json"
    for path in ("dog.matrices", "dog.depth", "dog.walk", "stripe", "lab", "evaluation", "checks", "dog.prediction.known"):
        file.write_text(json.dumps(at(path, DELETED)), encoding="utf-8")
        assert outcome(file) is None, path


@pytest.mark.parametrize(("spoil", "expected"), [
    (lambda p: p.unlink(), "is missing"), (lambda p: p.write_bytes(b"GIF89a"), "can't be read as a picture"), (lambda p: p.write_bytes(p.read_bytes()[:-5000]), "can't be read"),
    (lambda p: Image.new("RGB", (30, 224)).save(p), "has 30 × 224 pixels"), (lambda p: Image.new("RGB", (224, 224)).save(p, "BMP"), "can't be read as a picture"),
])
def test_pictures_of_a_strangers_run(spoil: object, expected: str, tmp_path: Path) -> None:
    for kept in run.CACHE.glob("standin*.*"):
        if kept.suffix in (".png", ".json"):
            (tmp_path / kept.name).write_bytes(kept.read_bytes())
    made = run.load(str(tmp_path / "standin.json"))
    sound.check_pictures(made)
    spoil(made.picture("cat"))
    with pytest.raises(run.RunError, match=expected):
        sound.check_pictures(made)


@QUIET
@given(content=st.binary(max_size=300), start=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"II*\0", b"BM", b"8BPS"]))
def test_pictures_that_are_none(content: bytes, start: bytes) -> None:
    with pytest.raises(photos.PhotoError) as error:
        photos.upright_rgb(start + content, "x.png")
    assert "\n" not in str(error.value)


@QUIET
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"]), flips=st.integers(1, 6), cut=st.booleans())
def test_damaged_pictures(seed: int, kind: str, flips: int, cut: bool) -> None:
    dice, out = np.random.default_rng(seed), io.BytesIO()
    Image.fromarray(dice.integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(out, kind)
    content = bytearray(out.getvalue())
    for place in dice.integers(0, len(content), flips):
        content[place] = dice.integers(256)
    try:
        assert photos.upright_rgb(bytes(content[: len(content) // 2] if cut else content), "x").mode == "RGB"
    except photos.PhotoError as error:
        assert "\n" not in str(error)


WORD = st.one_of(st.sampled_from(["--checkpoint", "--dog", "--cat", "--name", "--place", "--folder", "--date", "--json", "--all", "standin", "random:0", "random:-0", "random:", "~nobody/x",
                                  "nose=63", "cat.nose=14", "nose=" + "9" * 400, "published", "--", "-", "..", "/", ".json", "a" * 300, "2026-02-30", "9" * 300, "\ud800"]),
                 st.text(alphabet=string.printable + "é\u202e\x00", max_size=12))


@QUIET
@given(verb=st.sampled_from(["measure", "show", "diff", "verify", "list", "lsit"]), words=st.lists(WORD, max_size=4))
def test_any_words_on_the_command_line(verb: str, words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "words"
    patch = pytest.MonkeyPatch()
    patch.setattr(measure, "measure", None)
    patch.setattr(checkpoint, "load", _stop)
    patch.setattr(checkpoint, "_hub_file", _stop)
    patch.setattr(photos, "check_network", _no_photographs)
    patch.chdir(tmp_path_factory.getbasetemp())
    try:
        result = command(verb, *words, "--folder", folder)
    finally:
        patch.undo()
    assert result.exception is None or isinstance(result.exception, SystemExit), (result.exc_info, words)
    assert result.exit_code in (0, 2) or (verb == "verify" and result.exit_code == 1)
    if result.exit_code == 2:
        assert "Error: " in result.stderr and "Traceback" not in result.stderr


def _stop(*_: object) -> None:
    raise checkpoint.CheckpointError("Far enough.")


def _no_photographs(wanted: list[str]) -> None:
    if wanted:
        raise photos.PhotoError("Far enough.")


@QUIET
@given(verb=st.sampled_from(["list", "stills", "check", "video", "texts", "status", "deck", "lab", "stlls"]),
       words=st.lists(st.one_of(WORD, st.sampled_from(["--run", "--jobs", "--quality", "--steps", "reference/s99", "lecture/", "refrence", "--field", "--changed"])), min_size=1, max_size=4))
def test_any_words_for_the_slides(verb: str, words: list[str]) -> None:
    """As far as the choice of slides and run; nothing is drawn."""
    import render

    patch = pytest.MonkeyPatch()
    for name in ("_perform", "_films", "_states"):
        patch.setattr(render, name, _far_enough(render))
    patch.setattr("scenes.labpage.build", _far_enough(render))
    try:
        result = CliRunner().invoke(render.main, [verb, *words])
    finally:
        patch.undo()
    assert result.exception is None or isinstance(result.exception, SystemExit), (result.exc_info, words)
    assert result.exit_code in (0, 2)


def _far_enough(render: object) -> object:
    def stop(*_: object, **__: object) -> None:
        raise render.Sentence("Far enough.")
    return stop
