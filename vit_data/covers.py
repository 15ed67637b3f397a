"""Occlusion tests: cover a rectangle of the picture with grey, run the whole model again, compare."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor, nn

from . import rows
from .figures import nice_scale
from .forward import softmax
from .run import ClassScore, Cover, Covers, PatchCovers, significant

BATCH = 14
Box = tuple[int, int, int, int]  # top, left, bottom, right in pixels, ends excluded


def covered(x: Tensor, box: Box) -> Tensor:
    """A copy of the normalized picture with ``box`` set to zero, which is the mean colour: grey."""
    top, left, bottom, right = box
    copy = x.clone()
    copy[:, top:bottom, left:right] = 0
    return copy


def quadrants(side: int) -> dict[str, Box]:
    """The four quarters of a square picture by name."""
    half = side // 2
    return {"top left": (0, 0, half, half), "top right": (0, half, half, side),
            "bottom left": (half, 0, side, half), "bottom right": (half, half, side, side)}


def classify(model: nn.Module, x: Tensor, boxes: Sequence[Box], tell: Callable[[int], None]) -> Tensor:
    """Logits (covers × 1,000) of one covered copy for each box. ``tell`` hears how many are done after every batch.

    Batches run side by side, one thread each: the sums inside a batch are then added in the same order on any
    number of cores.
    """
    def run(start: int) -> Tensor:
        with torch.inference_mode():  # a thread has its own mode
            return model(torch.stack([covered(x, box) for box in boxes[start:start + BATCH]]))
    results = []
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        for logits in pool.map(run, range(0, len(boxes), BATCH)):
            results.append(logits)
            tell(sum(len(r) for r in results))
    return torch.cat(results)


def measure(model: nn.Module, x: Tensor, target: ClassScore, label: Callable[[int], str], fill: float,
            tell: Callable[[int], None] = lambda done: None) -> Covers:
    """Four quadrant covers and one cover for each patch, all against the probability of ``target``, the uncovered
    picture's top label. ``x`` is 3 × 224 × 224; ``label`` names a class index."""
    size, columns = model.patch_embed.patch_size[0], model.patch_embed.grid_size[1]
    patches = {rows.name(n): rows.pixel_box(n, columns, size) for n in range(1, model.patch_embed.num_patches + 1)}
    boxes = {**quadrants(x.shape[-1]), **patches}
    logits = classify(model, x, list(boxes.values()), tell)
    probabilities = softmax(logits)
    tops = probabilities.argmax(-1).tolist()

    def cover(number: int) -> Cover:
        name, (top, left, bottom, right) = list(boxes.items())[number]
        p, best = probabilities[number, target.index].item(), tops[number]
        return Cover(name=name, top=top, left=left, height=bottom - top, width=right - left, probability=significant(p),
                     points=significant(100 * (p - target.probability)), keeps=best == target.index,
                     label=ClassScore(index=best, label=label(best), logit=significant(logits[number, best].item()),
                                      probability=significant(probabilities[number, best].item())))

    everything = [cover(number) for number in range(len(boxes))]
    quarter, single = everything[:4], everything[4:]
    points = [c.points for c in single]
    rise = max(single, key=lambda c: c.points)
    return Covers(
        target=target, fill=fill, quadrants=quarter, quadrant_largest=min(quarter, key=lambda c: c.points).name,
        quadrants_keep=sum(c.keeps for c in quarter),
        patches=PatchCovers(probabilities=[c.probability for c in single], points=points, labels=tops[4:],
                            largest=min(single, key=lambda c: c.points), rise=rise if rise.points > 0 else None,
                            keep=sum(c.keeps for c in single), count=len(single), scale=nice_scale(max(map(abs, points)))))
