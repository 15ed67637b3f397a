"""The fixed pictures of the lecture: its dog, its cat and the six of the gallery."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .anatomy import Pose, mix
from .breeds import BREEDS, TAN, Breed
from .paint import Light, View
from .picture import paint

ORIGINAL = (640, 480)  # width, height of the two originals, pixels


def _large(breed: Breed, pose: Pose, place: str, light: Light, seed: int, width: int, height: int, side: float) -> np.ndarray:
    """A picture drawn twice as large and averaged, uint8 (height, width, 3). `side`: pixels of the unit square,
    which lies in the middle."""
    left, top = 0.5 - width / side / 2, 0.5 - height / side / 2
    view = View(2 * width, 2 * height, 2 * side, left, top)
    big = paint(breed, pose, place, light, view, np.random.default_rng(seed), 7000).astype(np.uint16)
    return ((big[::2, ::2] + big[1::2, ::2] + big[::2, 1::2] + big[1::2, 1::2] + 2) // 4).astype(np.uint8)


def _original(breed: Breed, pose: Pose, place: str, light: Light, seed: int) -> np.ndarray:
    """A landscape original whose evaluation crop (shorter side to 248 pixels, middle 224) is the unit square."""
    width, height = ORIGINAL
    return _large(breed, pose, place, light, seed, width, height, height * 224 / 248)


def lecture_dog() -> np.ndarray:
    """The story's Newfoundland, uint8 (480, 640, 3).

    DOG_PLACES counts the 16 x 16 patches of what timm's evaluation transform makes of it: the shorter side
    resized to 248 pixels (bicubic), the middle 224 x 224 cut out.
    """
    # A trace of a mastiff's brown on muzzle, chest and paws, chosen by looking at the stand-in's answer: a coat as
    # black as the breed's average leaves it in no doubt, and then no cover would change anything.
    black = BREEDS["newfoundland"]
    breed = replace(black, build=1.12, mane=0.5, muzzle=mix(black.muzzle, TAN, 0.11), chest=mix(black.chest, TAN, 0.055),
                    paw=mix(black.paw, TAN, 0.11))
    pose = Pose("sit", x=118 / 224, y=67 / 224, unit=61 / 224, yaw=-0.15, pitch=0.13, roll=0.0, side=1)
    light = Light((-0.5, -0.6, 0.75), (1.0, 0.95, 0.86), (0.44, 0.48, 0.55), gain=0.95)
    return _original(breed, pose, "story", light, 31)


def lecture_cat() -> np.ndarray:
    """The story's Persian cat, uint8 (480, 640, 3); CAT_PLACES as for the dog."""
    pose = Pose("portrait", x=112 / 224, y=98 / 224, unit=58 / 224, yaw=0.14, pitch=0.0, roll=0.05, side=-1)
    light = Light((0.5, -0.6, 0.65), (1.0, 0.95, 0.86), (0.38, 0.39, 0.42), gain=0.84)
    return _original(replace(BREEDS["persian"], ear_size=0.78), pose, "sofa", light, 98)


DOG_PLACES = MappingProxyType({
    "nose": 63, "face": 64, "ear": 74, "other_ear": 82, "chest": 147, "background": 182, "corner": 1, "dark_patch": 122,
    "branches": 27})
"""Where the lecture's dog has what: one-based numbers of 16 x 16 patches, row by row, 14 a row."""

CAT_PLACES = MappingProxyType({
    "nose": 92, "face": 78, "ear": 33, "other_ear": 39, "chest": 175, "background": 14, "corner": 1, "dark_patch": 145,
    "branches": 84})
"""The same for the lecture's cat, whose picture has a cushion where the dog's has branches."""

PLACES = MappingProxyType({"dog": DOG_PLACES, "cat": CAT_PLACES})
"""The places of both lecture pictures."""


class Drawing(NamedTuple):
    """A picture with its name: breed key, the name to print, the ImageNet-1k index or None, uint8 (h, w, 3)."""

    key: str
    name: str
    index: int | None
    pixels: np.ndarray


def gallery(size: int = 224) -> tuple[Drawing, ...]:
    """Six pets, each uint8 (size, size, 3): three dogs, then three cats. The last two are breeds that ImageNet-1k
    does not have and that the stand-in has never seen."""
    day = Light((-0.5, -0.6, 0.65), (1.0, 0.95, 0.86), (0.42, 0.46, 0.52), gain=0.86)
    lamp = Light((0.5, -0.65, 0.6), (1.0, 0.94, 0.84), (0.38, 0.39, 0.42), gain=0.84)
    scenes = (
        ("newfoundland", Pose("lie", 0.36, 0.42, 0.185, yaw=0.12, pitch=0.04, roll=-0.04, side=1), "grass", day, 3),
        ("pug", Pose("sit", 0.50, 0.31, 0.160, yaw=-0.10, pitch=0.02, roll=0.10, side=1), "sofa", lamp, 12),
        ("great_pyrenees", Pose("portrait", 0.50, 0.40, 0.230, yaw=-0.20, pitch=0.05, side=1, mouth=0.16), "sky", day, 5),
        ("persian", Pose("lie", 0.62, 0.43, 0.185, yaw=-0.12, pitch=0.0, roll=0.05, side=-1), "wall", lamp, 8),
        ("sphynx", Pose("sit", 0.50, 0.34, 0.160, yaw=0.14, pitch=0.03, roll=-0.05, side=-1), "sofa", lamp, 21),
        ("birman", Pose("portrait", 0.50, 0.42, 0.225, yaw=0.10, pitch=0.02, roll=0.03, side=1), "branches", day, 6),
    )
    found = []
    for key, pose, place, light, seed in scenes:
        breed = BREEDS[key]
        pixels = _large(breed, pose, place, light, seed, size, size, float(size))
        found.append(Drawing(key, breed.label if breed.index is not None else f"{breed.label}-like", breed.index, pixels))
    return tuple(found)


def story_square(original: np.ndarray) -> np.ndarray:
    """The middle square of an original at its own resolution: what the model sees, before the resizing."""
    h, w, _ = original.shape
    side = round(min(h, w) * 224 / 248)
    top, left = (h - side) // 2, (w - side) // 2
    return original[top:top + side, left:left + side]
