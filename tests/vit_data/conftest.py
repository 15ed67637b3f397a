"""One real measurement for all tests: random weights, seed 1, on the drawings; through the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result
from PIL import Image
from vit_data import checkpoint, run
from vit_data.__main__ import cli


torch.set_num_threads(1)  # on a busy machine the threads of such small products mostly wait for each other


def command(*words: object) -> Result:
    """Run the command line in this process; standard output and standard error are apart."""
    return CliRunner().invoke(cli, [str(w) for w in words])


def refused(result: Result) -> str:
    """The one sentence that a refusal wrote to standard error."""
    assert result.exit_code == 2, (result.exit_code, result.output, result.exception)
    sentence = result.stderr.strip()
    assert sentence.startswith("Error: ") and "\n" not in sentence and "Traceback" not in sentence
    return sentence.removeprefix("Error: ")


@dataclass
class First:
    """A measured run with the model that it was measured from."""

    folder: Path
    run: run.Run
    model: torch.nn.Module

    def x(self, subject: str = "dog") -> torch.Tensor:
        """The model's input (1 × 3 × 224 × 224), made from the stored picture and not from the measuring code."""
        pixels = np.asarray(Image.open(self.run.picture(subject)), dtype=np.float32)
        return torch.from_numpy((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]


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
