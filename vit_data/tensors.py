"""Whole arrays behind the lab's pictures, as plain functions of a run; entries that the run does not know are NaN."""

from __future__ import annotations

import numpy as np
from PIL import Image

from .run import Run


def pixel_rows(run: Run, subject: str = "dog") -> np.ndarray:
    """Normalized flattened patches, patches × pixel values, in the order of ``F.unfold``: all R, then G, then B."""
    m = run.model
    path = run.picture(subject)
    if path is None or not path.exists():
        return np.full((m.patches, m.patch_values), np.nan)
    pixels = np.asarray(Image.open(path).convert("RGB"), dtype=float)
    values = (pixels / 255 - np.array(m.transform.mean)) / np.array(m.transform.std)
    blocks = values.reshape(m.grid, m.patch, m.grid, m.patch, m.channels)
    return blocks.transpose(0, 2, 4, 1, 3).reshape(m.patches, m.patch_values)


def _matrix(run: Run, name: str) -> np.ndarray | None:
    matrices = run.dog.matrices
    grid = None if matrices is None else getattr(matrices, name)
    return None if grid is None else grid.array()


def table(run: Run, name: str) -> np.ndarray:
    """Tokens × features of ``p``, ``e``, ``x``, ``messages`` or ``out`` (:class:`vit_data.run.Matrices`)."""
    found = _matrix(run, name)
    return np.full((run.model.tokens, run.model.width), np.nan) if found is None else found


def content(run: Run) -> np.ndarray:
    """Patches × features before positions are added: e − p."""
    return (table(run, "e") - table(run, "p"))[1:]


def heads(run: Run, role: str) -> list[np.ndarray]:
    """``q``, ``k`` or ``v`` of each head of block 1, tokens × head width."""
    m, matrices = run.model, run.dog.matrices
    if matrices is None:
        return [np.full((m.tokens, m.head_width), np.nan)] * m.heads
    return [getattr(each, role).array() for each in (matrices, *matrices.more_heads)][: m.heads]


def scores(run: Run, head: int = 1) -> np.ndarray:
    """Q Kᵀ / √width of a one-based head of block 1, tokens × tokens."""
    return heads(run, "q")[head - 1] @ heads(run, "k")[head - 1].T / np.sqrt(run.model.head_width)


def weights(run: Run, head: int = 1) -> np.ndarray:
    """Softmax of each row of :func:`scores`."""
    s = scores(run, head)
    powers = np.exp(s - s.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def messages(run: Run, head: int = 1) -> np.ndarray:
    """Weights × values of a head of block 1, tokens × head width."""
    return weights(run, head) @ heads(run, "v")[head - 1]


def filters(run: Run) -> np.ndarray:
    """The leading output neurons of the patch projection, each a filter of channels × side × side."""
    m = run.model
    shape = (-1, m.channels, m.patch, m.patch)
    return np.full((12, m.patch_values), np.nan).reshape(shape) if run.lab is None else run.lab.filters.array().reshape(shape)
