"""The committed run is what the committed weights, drawings and code measure: every number of it, measured again.

If this fails after a change that is meant to move figures, look at the listed ones, then accept them with
``python -m vit_data measure --checkpoint standin --name standin``.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from measuring import command
from PIL import Image
from vit_data import run

RELATIVE, ABSOLUTE = 2e-3, 3e-4  # float32 on other processors; the slides print three decimals
NOT_MEASURED = ("provenance.date", "provenance.versions")


def leaves(value: object, path: str = "") -> dict[str, object]:
    """Every number, string and null of a JSON document under its dotted path."""
    if isinstance(value, dict):
        return {k: v for key, part in value.items() for k, v in leaves(part, f"{path}.{key}" if path else key).items()}
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in leaves(part, f"{path}[{i}]").items()} | {f"{path}.length": len(value)}
    return {path: value}


def moved(kept: dict[str, object], now: dict[str, object]) -> list[str]:
    """One line for each leaf that differs beyond the tolerance."""
    out = [f"{path}: only in {'the new' if path in now else 'the committed'} run" for path in sorted(kept.keys() ^ now.keys())]
    for path in kept.keys() & now.keys():
        a, b = kept[path], now[path]
        both = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
        if not (math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) if both else a == b):
            out.append(f"{path}: {a} became {b}")
    return out


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("again")
    result = command("measure", "--checkpoint", "standin", "--name", "standin", "--folder", folder)
    assert result.exit_code == 0, result.output
    return folder


def test_every_number_of_the_committed_run_is_measured_again(again):
    kept, now = (leaves(json.loads((folder / "standin.json").read_text(encoding="utf-8"))) for folder in (run.CACHE, again))
    kept, now = ({path: v for path, v in one.items() if not path.startswith(NOT_MEASURED)} for one in (kept, now))
    assert len(kept) > 10_000
    assert moved(kept, now) == []


def test_the_committed_pictures_are_drawn_again(again):
    for kept in run.CACHE.glob("standin.*.png"):
        assert np.array_equal(np.asarray(Image.open(kept)), np.asarray(Image.open(again / kept.name))), kept.name


@pytest.mark.parametrize("path, change", [("dog.patches.P63.c.first[0]", 0.002), ("dog.prediction.top[0].probability", -0.004)])
def test_a_moved_figure_is_seen(path, change):
    kept = leaves(json.loads((run.CACHE / "standin.json").read_text(encoding="utf-8")))
    assert [line.split(":")[0] for line in moved(kept, kept | {path: kept[path] + change})] == [path]
