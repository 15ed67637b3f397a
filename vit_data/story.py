"""What the lecture's story fixes: its two photographs and the patches that it names on them."""

from __future__ import annotations

from dataclasses import dataclass

GRID = 14  # patches along one side of the model's input

PLACES: dict[str, int] = {
    "nose": 63,
    "face": 64,
    "ear": 74,
    "other_ear": 82,
    "chest": 147,
    "background": 182,
    "corner": 1,
    "dark_patch": 133,
    "branches": 27,
}
"""Patch number of each named part on the lecture's photograph; other pictures take the same numbers unless told."""


@dataclass(frozen=True)
class LecturePhoto:
    """One photograph of Oxford-IIIT Pet that the lecture shows."""

    id: str
    species: str
    sha256: str  # of the JPEG file
    known: int  # ImageNet-1k index of its breed
    known_label: str


LECTURE: dict[str, LecturePhoto] = {
    "dog": LecturePhoto("newfoundland_31", "dog", "617dc6f6dcd26c69303b54985eadd5c75bc07b8ba22cdb1ea511307096098d0a", 256, "Newfoundland"),
    "cat": LecturePhoto("Persian_98", "cat", "6071d201543c999e063615d6c2cc674ea004adb11711d34d29d3df11c0012292", 283, "Persian cat"),
}


class PlaceError(ValueError):
    """A place that the story can't use; the message is one sentence for the user."""


def check_place(part: str, patch: int) -> None:
    """Refuse a part that the story does not name and a patch that is not on the grid.

    The nose also needs a neighbour on its right, because a slide sends both through the same layer.
    """
    if part not in PLACES:
        raise PlaceError(f"The story has no part '{part}'; its parts are {', '.join(PLACES)}.")
    if not 1 <= patch <= GRID * GRID:
        raise PlaceError(f"Patch {patch} for '{part}' is not on the grid; choose a number from 1 to {GRID * GRID}.")
    if part == "nose" and patch % GRID == 0:
        raise PlaceError(f"Patch {patch} is the last of its row, and the story needs the patch to the right of the nose; choose another.")
