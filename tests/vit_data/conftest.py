"""One real measurement for all tests: random weights, seed 1, on the drawings; through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from measuring import First, command
from vit_data import checkpoint, run


torch.set_num_threads(1)  # on a busy machine the threads of such small products mostly wait for each other


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    folder = tmp_path_factory.mktemp("runs")
    result = command("measure", "--checkpoint", "random:1", "--name", "first", "--folder", folder, "--date", "2026-12-01")
    assert result.exit_code == 0, result.output
    return First(folder, run.load(str(folder / "first.json")), checkpoint.load(checkpoint.choose("random:1"))[0])


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Empty caches, and servers at a local port where nobody listens."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("VIT_DATA_PETS_URL", "http://127.0.0.1:9/images.tar.gz")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
