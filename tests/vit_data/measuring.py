"""What the tests of the data layer share: the command line in this process, and a measured run with its model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from click.testing import CliRunner, Result
from PIL import Image
from vit_data import run
from vit_data.__main__ import cli


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
