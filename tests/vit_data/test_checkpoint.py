"""Weights from files, from the hub's cache and from a seed, and the sentences for what can't be used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from measuring import First
from safetensors.torch import save_file
from vit_data import checkpoint
from vit_data.checkpoint import CheckpointError


@pytest.fixture
def state(first: First) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in first.model.state_dict().items()}


def opened(path: Path) -> tuple[torch.nn.Module, object]:
    return checkpoint.load(checkpoint.choose(str(path)))


@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: {"state_dict": s, "epoch": 3}, lambda s: {"model": s}])
def test_torch_files(first: First, state: dict, wrap: object, tmp_path: Path) -> None:
    torch.save(wrap(state), tmp_path / "mine.pth")
    model, record = opened(tmp_path / "mine.pth")
    assert (record.source, record.detail, record.name) == ("file", "mine.pth", "vit_tiny_patch16_224")
    assert record.sha256 == first.run.provenance.checkpoint.sha256 and not model.training


def test_half_precision_safetensors(state: dict, tmp_path: Path) -> None:
    save_file({name: value.half() for name, value in state.items()}, tmp_path / "half.safetensors")
    model, _ = opened(tmp_path / "half.safetensors")
    weight = model.blocks[3].mlp.fc1.weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight, state["blocks.3.mlp.fc1.weight"].half().float(), rtol=0, atol=0)


def test_a_seed_gives_the_same_weights_and_leaves_torchs_own_alone(first: First) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    _, again = checkpoint.load(checkpoint.choose("random:1"))
    torch.testing.assert_close(torch.rand(3), expected)
    _, other = checkpoint.load(checkpoint.choose("random:2"))
    assert again.sha256 == first.run.provenance.checkpoint.sha256 != other.sha256


def change(state: dict, name: str, value: torch.Tensor | None) -> dict:
    return {k: v for k, v in {**state, name: value}.items() if v is not None}


@pytest.mark.parametrize(("damage", "expected"), [
    (lambda s: change(s, "head.weight", torch.zeros(10, 192)), "'head.weight' has shape (10, 192), expected (1000, 192)"),
    (lambda s: change(s, "norm.bias", None), "'norm.bias' is missing"),
    (lambda s: change(s, "extra", torch.zeros(1)), "'extra' is unknown"),
    (lambda s: change(s, "norm.bias", torch.full((192,), torch.nan)), "not finite"),
])
def test_state_dicts_that_do_not_fit(state: dict, damage: object, expected: str, tmp_path: Path) -> None:
    torch.save(damage(state), tmp_path / "other.pth")
    with pytest.raises(CheckpointError) as error:
        opened(tmp_path / "other.pth")
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_damaged_files(state: dict, tmp_path: Path) -> None:
    torch.save(state, tmp_path / "whole.pth")
    save_file(state, tmp_path / "whole.safetensors")
    whole, safe = (tmp_path / "whole.pth").read_bytes(), (tmp_path / "whole.safetensors").read_bytes()
    torch.save({"weights": [1, 2]}, tmp_path / "list.pth")
    torch.save([1, 2], tmp_path / "no-dict.pth")
    for name, content in {"cut.pth": whole[:1000], "cut.safetensors": safe[:-5], "head.safetensors": safe[:50], "empty.pth": b"", "text.pth": b"hello",
                          "page.pth": b"<html>not found</html>", "length.safetensors": b"\xff" * 8 + b"{}"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CheckpointError, match="can't be read"):
            opened(tmp_path / name)
    for name in ("list.pth", "no-dict.pth"):
        with pytest.raises(CheckpointError, match="no state dict"):
            opened(tmp_path / name)


class Surprise:
    """Would create a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def test_torch_files_run_no_code(tmp_path: Path) -> None:
    torch.save({"state_dict": Surprise(tmp_path / "ran")}, tmp_path / "strange.pth")
    with pytest.raises(CheckpointError, match="can't be read"):
        opened(tmp_path / "strange.pth")
    assert not (tmp_path / "ran").exists()


def test_the_hubs_cache_needs_no_network(no_network: None, first: First, state: dict, tmp_path: Path) -> None:
    folder = tmp_path / "hub" / f"models--{checkpoint.HUB_ID.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc123")
    (folder / "snapshots" / "abc123").mkdir(parents=True)
    save_file(state, folder / "snapshots" / "abc123" / checkpoint.HUB_FILE)
    _, record = checkpoint.load(checkpoint.choose("hub"))
    assert (record.source, record.detail, record.name) == ("hub", "abc123", checkpoint.NAME)
    assert record.sha256 == first.run.provenance.checkpoint.sha256


def test_offline_by_choice(no_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(CheckpointError, match="HF_HUB_OFFLINE is set"):
        checkpoint.choose("hub")


def test_standin(state: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "STANDIN", tmp_path / "standin.safetensors")
    with pytest.raises(CheckpointError, match="not been trained yet"):
        checkpoint.choose("standin")
    save_file({name: value.half() for name, value in state.items()}, checkpoint.STANDIN)
    with pytest.raises(CheckpointError, match="report.json"):
        checkpoint.choose("standin")
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"sha256": hashlib.sha256(checkpoint.STANDIN.read_bytes()).hexdigest()}))
    _, record = checkpoint.load(checkpoint.choose("standin"))
    assert (record.source, record.detail) == ("standin", "standin.safetensors")
    report.write_text(json.dumps({"sha256": "0" * 64}))
    with pytest.raises(CheckpointError, match="differ from the SHA-256"):
        checkpoint.choose("standin")
