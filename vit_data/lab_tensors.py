"""The tensors that the lab page computes with: q, k and features of every block, in one compact file beside a run.

``NAME.lab.npz`` holds whole numbers with a step for each coordinate: value = level × step. The levels are as fine as
the page's printed digits need, found by computing all attention weights and cosines from them: a weight is at most half
of 0.01% off, a cosine half of 0.001. Needs numpy only.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .run import Run
from .story import LECTURE

SUBJECTS = ("dog", "cat")
VERSION = 1
BITS = range(9, 25)
WEIGHT_TOLERANCE = 0.5e-4  # half of the last digit printed, 0.01%
COSINE_TOLERANCE = 0.5e-3  # half of the last digit printed, 0.001
MAX_BYTES = 60_000_000


class LabError(Exception):
    """Tensors that a run doesn't have, or that can't be used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Levels:
    """Numbers as whole levels: ``levels × steps``. A step belongs to one coordinate of all rows of one matrix."""

    levels: np.ndarray  # int32, (…, rows, coordinates)
    steps: np.ndarray   # float32, (…, 1, coordinates)

    @classmethod
    def of(cls, values: np.ndarray, bits: int) -> Levels:
        """The nearest levels, ``bits`` for the largest value of each coordinate."""
        largest = np.abs(values).max(axis=-2, keepdims=True)
        steps = np.where(largest > 0, largest / (2 ** (bits - 1) - 1), 1).astype(np.float32)
        return cls(np.rint(values / steps).astype(np.int32), steps)

    def values(self) -> np.ndarray:
        """float64, shaped as the levels."""
        return self.levels * self.steps.astype(np.float64)


@dataclass(frozen=True)
class LabTensors:
    """All that the page computes from. First axis: dog, cat; then blocks, then heads for q and k; then rows, CLS first."""

    q: Levels         # 2 × 12 × 3 × 197 × 64
    k: Levels
    features: Levels  # 2 × 12 × 197 × 192, after the block
    weight_error: float  # largest |softmax(qkᵀ/√64) from levels − the model's|
    cosine_error: float  # largest |cosine from levels − the model's|


def softmax_rows(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """softmax(q kᵀ / √coordinates) over the last axis."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def cosines(features: np.ndarray) -> np.ndarray:
    """Cosine of every row with every row."""
    length = np.linalg.norm(features, axis=-1, keepdims=True)
    unit = features / np.where(length > 0, length, 1)
    return unit @ np.swapaxes(unit, -1, -2)


def quantize(q: np.ndarray, k: np.ndarray, features: np.ndarray, weights: np.ndarray) -> LabTensors:
    """The coarsest levels that keep every weight and cosine within half of the last digit printed.

    ``weights`` are the model's own (2 × 12 × 3 × 197 × 197). Raises LabError if they are not those of q and k.
    """
    q, k, features = (np.asarray(a, dtype=np.float64) for a in (q, k, features))
    for bits in BITS:
        near = Levels.of(q, bits), Levels.of(k, bits)
        weight_error = float(np.abs(softmax_rows(*(n.values() for n in near)) - weights).max())
        if weight_error <= WEIGHT_TOLERANCE:
            break
    truth = cosines(features)
    for bits in BITS:
        after = Levels.of(features, bits)
        cosine_error = float(np.abs(cosines(after.values()) - truth).max())
        if cosine_error <= COSINE_TOLERANCE:
            break
    if not (weight_error <= WEIGHT_TOLERANCE and cosine_error <= COSINE_TOLERANCE):
        raise LabError(f"The lab's attention would be {weight_error:.2g} and its cosines {cosine_error:.2g} from the model's.")
    return LabTensors(*near, after, weight_error, cosine_error)


def file_name(run: str) -> str:
    """Name of the file beside the run of this name."""
    return f"{run}.lab.npz"


def dumps(tensors: LabTensors, run: Run) -> bytes:
    """The file's bytes; the same for the same tensors. It remembers which weights and pictures of ``run`` it belongs to."""
    arrays = {"about": np.frombuffer(json.dumps({"version": VERSION, "of": _identity(run), "weight_error": tensors.weight_error,
                                                 "cosine_error": tensors.cosine_error}, sort_keys=True).encode(), dtype=np.uint8)}
    for name in ("q", "k", "features"):
        part: Levels = getattr(tensors, name)
        arrays |= {name: planes(part.levels), f"{name}_steps": part.steps}
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def planes(levels: np.ndarray) -> np.ndarray:
    """All low bytes, then all higher ones (2 or 3 × …, uint8): high bytes are alike, so this packs a third smaller."""
    many = 2 if np.abs(levels).max(initial=0) < 2**15 else 3
    return np.moveaxis(np.ascontiguousarray(levels, dtype="<i4").view(np.uint8).reshape(*levels.shape, 4), -1, 0)[:many]


def _levels(stored: np.ndarray) -> np.ndarray:
    if stored.dtype != np.uint8 or len(stored) not in (2, 3):
        raise ValueError("levels need 2 or 3 bytes")
    *lower, high = stored
    levels = high.view(np.int8).astype(np.int32)
    for plane in reversed(lower):
        levels = 256 * levels + plane
    return levels


def load(run: Run) -> LabTensors:
    """The tensors of a run. Raises LabError if there are none, or if they were measured from something else."""
    path = run.file(file_name(run.name))
    if run.provenance.kind == "published":
        raise LabError("The published figures hold no q, k and features for the lab; measure a run that does: python -m vit_data measure")
    if not path.is_file():
        raise LabError(f"The run '{run.name}' has no {path.name} beside it for the lab; {_again(run)}")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        with np.load(path, allow_pickle=False) as stored:
            if sum(i.file_size for i in stored.zip.infolist()) > 4 * MAX_BYTES:
                raise ValueError("too large")
            about = json.loads(stored["about"].tobytes())
            parts = [Levels(_levels(stored[name]), stored[f"{name}_steps"]) for name in ("q", "k", "features")]
            tensors = LabTensors(*parts, float(about["weight_error"]), float(about["cosine_error"]))
            version, identity = about["version"], about["of"]
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise LabError(f"{path} can't be read ({str(error) or type(error).__name__}); {_again(run)}") from error
    m = run.model
    rows, wide = (2, m.depth, m.heads, m.tokens, m.head_width), (2, m.depth, m.tokens, m.width)
    if version != VERSION or [p.levels.shape for p in parts] != [rows, rows, wide] or [p.steps.shape for p in parts] != [
            (*rows[:3], 1, rows[4]), (*rows[:3], 1, rows[4]), (2, wide[1], 1, wide[3])]:
        raise LabError(f"{path} holds tensors of another shape than the run's model; {_again(run)}")
    if identity != _identity(run):
        raise LabError(f"{path} was measured from other weights or pictures than the run; {_again(run)}")
    return tensors


def _identity(run: Run) -> list[str | None]:
    return [run.provenance.checkpoint.sha256, run.dog.photo.sha256, run.cat.photo.sha256]


def _again(run: Run) -> str:
    """How to measure ``run`` once more, as the end of a sentence."""
    checkpoint = run.provenance.checkpoint
    weights = {"standin": " --checkpoint standin", "random": f" --checkpoint random:{checkpoint.detail.split()[-1]}",
               "file": f" --checkpoint {checkpoint.detail}"}
    usual = "drawing" if checkpoint.source in ("standin", "random") else "photograph"
    own = "".join(f" --{s} FILE" for s in SUBJECTS if _own(run, s, usual))
    return f"measure it again: python -m vit_data measure{weights.get(checkpoint.source, '')}{own} --name {run.name}"


def _own(run: Run, subject: str, usual: str) -> bool:
    photo = getattr(run, subject).photo
    return photo.kind != usual or (photo.kind == "photograph" and photo.sha256 != LECTURE[subject].sha256)


def stack(arrays: Iterable[Iterable[np.ndarray]]) -> np.ndarray:
    """pictures × blocks × … from one array for each block of each picture."""
    return np.stack([np.stack(list(blocks)) for blocks in arrays])


__all__ = ["LabError", "LabTensors", "Levels", "SUBJECTS", "cosines", "dumps", "file_name", "load", "planes", "quantize", "softmax_rows", "stack"]
