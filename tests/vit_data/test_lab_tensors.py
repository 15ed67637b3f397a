"""The file that the lab page computes from: against torch's own attention, against a second forward pass, and when it is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import by_hand
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from measuring import First, command, refused
from vit_data import forward, lab_tensors, run
from vit_data.lab_tensors import COSINE_TOLERANCE, WEIGHT_TOLERANCE, LabError, Levels

STANDIN = run.load("standin")


@pytest.fixture(scope="module")
def tensors(first: First) -> lab_tensors.LabTensors:
    return lab_tensors.load(first.run)


def test_weights_are_those_of_torchs_own_attention(first: First, tensors: lab_tensors.LabTensors) -> None:
    q, k = tensors.q.values(), tensors.k.values()
    for number, subject in enumerate(lab_tensors.SUBJECTS):
        done = forward.record(first.model, first.x(subject)[0])
        for block, own in enumerate(done.blocks):
            # with the identity as value rows, the messages are the weights
            weights = F.scaled_dot_product_attention(own.q, own.k, torch.eye(197).expand(3, -1, -1)).numpy()
            far = np.abs(lab_tensors.softmax_rows(q[number, block], k[number, block]) - weights).max()
            assert far <= min(WEIGHT_TOLERANCE, tensors.weight_error + 1e-6)


def test_cosines_are_those_of_a_second_forward_pass(first: First, tensors: lab_tensors.LabTensors) -> None:
    state = {name: v.double().numpy() for name, v in first.model.state_dict().items()}
    for number, subject in enumerate(lab_tensors.SUBJECTS):
        truth = by_hand.forward(state, first.x(subject)[0].double().numpy())
        for block, stored in enumerate(tensors.features.values()[number]):
            out = truth["blocks"][block]["out"]
            unit = out / np.linalg.norm(out, axis=1, keepdims=True)
            assert np.abs(lab_tensors.cosines(stored) - unit @ unit.T).max() <= min(COSINE_TOLERANCE, tensors.cosine_error + 1e-4)


def test_the_standins_file_gives_the_maps_of_its_run() -> None:
    tensors = lab_tensors.load(STANDIN)
    q, k, features = (part.values()[0] for part in (tensors.q, tensors.k, tensors.features))
    row = {"CLS": 0, **{f"P{n}": n for n in range(1, 197)}}
    for found in [*STANDIN.dog.attention, *STANDIN.dog.walk.attention]:
        block, head, query = found.block - 1, found.head - 1, row[found.query]
        np.testing.assert_allclose(lab_tensors.softmax_rows(q[block, head, query], k[block, head]), found.values, rtol=0, atol=WEIGHT_TOLERANCE)
    for found in [*STANDIN.dog.similarity, *STANDIN.dog.walk.similarity]:
        np.testing.assert_allclose(lab_tensors.cosines(features[found.block - 1])[row[found.query], 1:], found.values, rtol=0, atol=COSINE_TOLERANCE)


def test_the_standins_file_is_small() -> None:
    assert STANDIN.file("standin.lab.npz").stat().st_size < 6_000_000


def test_walk_is_the_ear_through_all_blocks(first: First) -> None:
    walk, dog = first.run.dog.walk, first.run.dog
    assert (walk.query, walk.partner, walk.head) == (dog.place("ear"), dog.place("other_ear"), 1)
    assert [m.block for m in walk.attention] == [m.block for m in walk.similarity] == list(range(1, 13))
    assert walk.attention[3] == dog.attention_map(4, 1, walk.query)
    assert walk.similarity[0] == dog.similarity_map(1, walk.query) and walk.similarity[-1] == dog.similarity_map(12, walk.query)


@pytest.mark.parametrize("bits", [9, 12, 16, 17, 24])
def test_levels(bits: int) -> None:
    values = np.random.default_rng(bits).normal(size=(2, 5, 7)) * np.array([1, 100, 1e-6, 1, 1, 1, 0])
    levels = Levels.of(values, bits)
    assert np.abs(levels.levels).max() == 2 ** (bits - 1) - 1
    assert (np.abs(levels.values() - values) <= levels.steps * 0.5001).all()
    planes = lab_tensors.planes(levels.levels)
    *lower, high = planes.astype(int)
    high -= 256 * (high > 127)
    assert len(planes) == (2 if bits <= 16 else 3)
    assert (sum(256**i * p for i, p in enumerate([*lower, high])) == levels.levels).all()


def test_sharper_scores_get_finer_levels() -> None:
    def pack(size: float) -> lab_tensors.LabTensors:
        q, k = np.random.default_rng(0).normal(size=(2, 1, 1, 1, 197, 64)) * size
        return lab_tensors.quantize(q, k, np.random.default_rng(1).normal(size=(1, 1, 197, 192)), lab_tensors.softmax_rows(q, k))
    found = [pack(size) for size in (0.3, 2.5, 20)]  # scores up to about 0.4, 25 and 1,600
    finest = [np.abs(t.q.levels).max() for t in found]
    assert finest == sorted(set(finest)) and finest[1] > 2**15
    assert all(t.weight_error <= WEIGHT_TOLERANCE for t in found)


def test_weights_of_something_else_are_refused() -> None:
    q, k = np.random.default_rng(0).normal(size=(2, 1, 1, 1, 197, 64))
    with pytest.raises(LabError, match="from the model's"):
        lab_tensors.quantize(q, k, np.ones((1, 1, 197, 192)), lab_tensors.softmax_rows(k, q))


def test_no_run_is_written_without_its_tensors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab_tensors, "COSINE_TOLERANCE", -1.0)
    sentence = refused(command("measure", "--checkpoint", "random:1", "--name", "first", "--folder", tmp_path))
    assert "no run was written" in sentence and not list(tmp_path.iterdir())


def test_the_same_tensors_are_the_same_bytes(first: First, tensors: lab_tensors.LabTensors) -> None:
    assert lab_tensors.dumps(tensors, first.run) == first.run.file("first.lab.npz").read_bytes()


def copied(first: First, folder: Path, **change: object) -> run.Run:
    """The measured run in another folder, with parts of its document changed."""
    document = json.loads((first.folder / "first.json").read_text(encoding="utf-8"))
    for path, value in change.items():
        *way, last = path.split("__")
        part = document
        for step in way:
            part = part[step]
        part[last] = value
    shutil.copy(first.folder / "first.lab.npz", folder)
    other = run.Run.model_validate(document)  # reading it from a file would find more that is wrong
    other._folder = folder
    return other


def test_a_run_without_the_file_names_the_command(first: First, tmp_path: Path) -> None:
    other = copied(first, tmp_path)
    (tmp_path / "first.lab.npz").unlink()
    with pytest.raises(LabError, match="no first.lab.npz beside it.*python -m vit_data measure --checkpoint random:1 --name first$"):
        lab_tensors.load(other)
    with pytest.raises(LabError, match="python -m vit_data measure$"):
        lab_tensors.load(run.load("published"))


@pytest.mark.parametrize(("change", "said"), [
    ({"provenance__checkpoint__sha256": "0" * 64}, "other weights or pictures"),
    ({"cat__photo__sha256": "1" * 64}, "other weights or pictures"),
    ({"model__depth": 11}, "another shape"),
])
def test_a_file_of_something_else_is_refused(first: First, tmp_path: Path, change: dict, said: str) -> None:
    with pytest.raises(LabError, match=said):
        lab_tensors.load(copied(first, tmp_path, **change))


@pytest.mark.parametrize("spoil", [
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b"no archive"),
    lambda path: path.write_bytes(path.read_bytes()[:100_000]),
    lambda path: np.savez(path.open("wb"), q=np.zeros(3)),
    lambda path: np.savez(path.open("wb"), about=np.frombuffer(b"[]", np.uint8), q=np.zeros((2, 3), np.uint8)),
    lambda path: np.savez(path.open("wb"), about=np.array([object()])),
    lambda path: (path.unlink(), path.mkdir()),
])
def test_a_spoiled_file_is_one_sentence(first: First, tmp_path: Path, spoil) -> None:
    other = copied(first, tmp_path)
    spoil(tmp_path / "first.lab.npz")
    with pytest.raises(LabError) as error:
        lab_tensors.load(other)
    assert "measure it again: python -m vit_data measure" in str(error.value) and "\n" not in str(error.value)


def test_the_command_names_weights_and_pictures(first: First, tmp_path: Path) -> None:
    own = copied(first, tmp_path, provenance__checkpoint__source="file", provenance__checkpoint__detail="mine.pth",
                 dog__photo__kind="photograph", provenance__kind="custom")
    (tmp_path / "first.lab.npz").unlink()
    with pytest.raises(LabError, match="--checkpoint mine.pth --dog FILE --cat FILE --name first$"):
        lab_tensors.load(own)
