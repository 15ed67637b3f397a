"""Plain functions of a run's fields that slides print: numbers and the words that follow from them.

Needs neither torch nor timm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from .run import AttentionMap, Run
from .story import LECTURE

WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
Role = Literal["dog", "cat"]


def normalize(value8: int, mean: float, std: float) -> float:
    """An 8-bit colour value as the model sees it: ``(value / 255 − mean) / std``."""
    return (value8 / 255 - mean) / std


def picture_word(run: Run, subject: Role) -> str:
    """``photograph`` or ``drawing``: what the run's picture of this subject is called."""
    return getattr(run, subject).photo.kind


def describe(run: Run, weights: bool = True, pictures: bool = True) -> str:
    """One line for the footer of a slide: which weights, which pictures, measured when.

    ``vit_tiny_patch16_224 · stand-in weights 3f9a12c · drawn pictures · measured 2026-12-01``. Only a run of the
    lecture's checkpoint on the lecture's photographs is called the lecture's. A page that shows nothing of the weights
    or of the pictures (see the parameters) does not name them, so that other weights leave its film as it is; only that
    weights are the stand-in's is said on every page.
    """
    if run.provenance.kind == "published":
        return "published figures of the lecture"
    checkpoint = run.provenance.checkpoint
    if not weights:
        kind = ["stand-in weights"] if checkpoint.source == "standin" else []
        return " · ".join((checkpoint.name.partition(".")[0], *kind, *([_pictures(run)] if pictures else [])))
    short = (checkpoint.sha256 or "")[:7]
    architecture = checkpoint.name.partition(".")[0]
    measured = f"measured {run.provenance.date}"
    if run.provenance.kind == "lecture":
        return " · ".join((architecture, "lecture checkpoint and photographs", measured))
    named = {"hub": "lecture checkpoint", "random": f"random weights, {checkpoint.detail}", "standin": f"stand-in weights {short}",
             "file": f"weights {checkpoint.detail} {short}"}.get(checkpoint.source, checkpoint.detail).strip()
    return " · ".join((architecture, named, _pictures(run), measured))


def _pictures(run: Run) -> str:
    def which(subject: Role) -> str:
        photo = getattr(run, subject).photo
        if photo.kind == "drawing":
            return "drawn picture"
        return "lecture photograph" if photo.sha256 == LECTURE[subject].sha256 else "own photograph"
    dog, cat = which("dog"), which("cat")
    return f"{dog}s" if dog == cat else f"{dog} of the dog, {cat} of the cat"


def common_scale(maps: Iterable[AttentionMap]) -> float | None:
    """The largest weight on any patch over several attention maps, so that they can share one colour scale.

    Maps whose largest weight is not known are passed over; None if none is known.
    """
    known = [max(m.values[1:]) if m.values else m.largest for m in maps if m.values or m.largest is not None]
    return max(known, default=None)


def nice_scale(largest: float) -> float:
    """The smallest round number that is not below ``largest``, for the end of a colour scale.

    1, 2, 3 … 10, then 15, 20, 25 …; below one 0.5, 0.2, 0.1, 0.05 … Zero, where nothing changed, gives 1.
    """
    if not 0 <= largest < math.inf:
        raise ValueError(f"a scale needs a finite size, not {largest}")
    if largest == 0:
        return 1.0
    if largest > 10:
        return 5.0 * math.ceil(largest / 5)
    if largest > 0.5:
        return float(math.ceil(largest))
    exponent = math.floor(math.log10(largest))
    # written as text, so that 0.2 is 0.2 and not 0.2 plus a rounding error
    steps = (float(f"{step}e{power}") for power in (exponent, exponent + 1) for step in (1, 2, 5))
    return next(step for step in steps if step >= largest)


def number_word(number: int) -> str:
    """``three`` up to twelve, then digits with thousands commas."""
    return ("zero", *WORDS[1:])[number] if 0 <= number < len(WORDS) else f"{number:,}"


def how_many(keep: int, total: int) -> str:
    """``all four``, ``three of the four`` or ``none of the four``; figures above twelve: ``195 of the 196``."""
    if not 0 <= keep <= total or total < 1:
        raise ValueError(f"{keep} of {total} is no share")
    if keep == total:
        return "the only one" if total == 1 else f"all {number_word(total)}"
    return f"{'none' if keep == 0 else number_word(keep)} of the {number_word(total)}"


def training(run: Run) -> tuple[str, str]:
    """Where the checkpoint's weights come from, in two stages."""
    return {
        "hub": ("Pretrain on ImageNet-21k", "then fine-tune on ImageNet-1k"),
        "published": ("Pretrain on ImageNet-21k", "then fine-tune on ImageNet-1k"),
        "standin": ("Train on small drawings of pets", "then on drawings of full size"),
        "random": ("Draw every weight at random", "no training yet"),
        "file": ("Weights from a file", "trained elsewhere"),
    }[run.provenance.checkpoint.source]


def weights_word(run: Run) -> str:
    """How the checkpoint is introduced, in one or a few words."""
    return {"hub": "pretrained", "published": "pretrained", "standin": "trained on drawings", "random": "not trained yet", "file": "your own weights"}[
        run.provenance.checkpoint.source
    ]


def label_loss(run: Run, subject: Role = "dog") -> tuple[str, float]:
    """The label that a picture's loss is for, and the loss in nats: the known breed, or the top label where none is known."""
    prediction = getattr(run, subject).prediction
    if prediction.known is None or prediction.known.index == prediction.top[0].index:
        loss = prediction.loss
        return prediction.top[0].label, loss if loss is not None else -math.log(max(prediction.top[0].probability, 1e-38))
    return prediction.known.label, -math.log(max(prediction.known.probability, 1e-38))


def even_distance(grid: int, patch: int) -> float:
    """Mean distance in pixels between the centres of two patches, for equal weights on all: a patch and itself counts too."""
    return patch * sum(math.hypot(a - c, b - d) for a in range(grid) for b in range(grid) for c in range(grid) for d in range(grid)) / grid**4
