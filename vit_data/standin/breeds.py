"""What each breed looks like. Lengths are in head units: half the width of the skull is 1."""

from __future__ import annotations

from dataclasses import dataclass

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Breed:
    """One kind of pet: its ImageNet-1k class (None: drawn for the gallery only) and its looks."""

    key: str
    index: int | None
    label: str
    species: str  # dog, cat or rabbit
    coat: RGB
    chest: RGB
    ear: RGB
    muzzle: RGB
    paw: RGB
    nose: RGB = (0.07, 0.06, 0.065)
    eye: RGB = (0.30, 0.17, 0.08)
    fur: float = 0.15  # hair length on the head
    mane: float = 0.3  # how far the ruff stands out
    ears: str = "drop"  # drop, button, prick, cat or rabbit
    ear_size: float = 1.0
    skull: tuple[float, float] = (1.0, 0.95)
    snout: tuple[float, float, float] = (1.0, 0.35, 0.0)  # width, length towards the viewer, drop
    eyes: tuple[float, float, float] = (0.15, 0.40, -0.12)  # radius, half the gap, height
    build: float = 1.0  # girth of the body
    gloss: float = 0.10
    marks: tuple[str, ...] = ()


BLACK, WHITE = (0.115, 0.104, 0.106), (0.93, 0.91, 0.87)
RUST, TAN, GOLD = (0.56, 0.28, 0.13), (0.62, 0.37, 0.16), (0.80, 0.57, 0.30)

_ALL = (
    Breed("newfoundland", 256, "Newfoundland", "dog", BLACK, BLACK, (0.095, 0.083, 0.082), (0.15, 0.132, 0.125), BLACK,
          fur=0.17, mane=0.28, skull=(1.0, 0.88), snout=(1.12, 0.42, 0.02), build=1.25, gloss=0.27),
    Breed("tibetan_mastiff", 244, "Tibetan mastiff", "dog", (0.10, 0.085, 0.08), (0.13, 0.10, 0.085),
          (0.08, 0.07, 0.065), TAN, TAN, fur=0.20, mane=0.85, skull=(1.0, 0.92), snout=(1.2, 0.36, 0.02), build=1.3,
          gloss=0.20, marks=("tan",)),
    Breed("briard", 226, "briard", "dog", (0.66, 0.48, 0.28), (0.70, 0.54, 0.34), (0.40, 0.28, 0.17),
          (0.46, 0.33, 0.20), (0.66, 0.50, 0.31), fur=0.36, mane=0.55, ears="drop", ear_size=1.15, skull=(0.95, 1.0),
          snout=(0.95, 0.40, 0.05), build=1.05, gloss=0.10, marks=("fringe",)),
    Breed("great_pyrenees", 257, "Great Pyrenees", "dog", (0.90, 0.87, 0.80), (0.93, 0.91, 0.86),
          (0.80, 0.70, 0.56), (0.93, 0.90, 0.84), WHITE, fur=0.19, mane=0.42, skull=(0.96, 0.92),
          snout=(1.0, 0.48, 0.02), build=1.2, gloss=0.05),
    Breed("samoyed", 258, "Samoyed", "dog", (0.95, 0.94, 0.92), (0.97, 0.96, 0.95), (0.93, 0.90, 0.87),
          (0.96, 0.95, 0.93), (0.95, 0.94, 0.92), fur=0.18, mane=0.70, ears="prick", ear_size=0.82,
          skull=(1.0, 0.9), snout=(0.82, 0.40, -0.02), build=1.15, gloss=0.06, marks=("smile",)),
    Breed("pug", 254, "pug", "dog", (0.80, 0.66, 0.48), (0.83, 0.71, 0.55), (0.12, 0.10, 0.10), (0.13, 0.11, 0.11),
          (0.78, 0.65, 0.48), fur=0.045, mane=0.0, ears="button", ear_size=0.85, skull=(1.0, 0.9),
          snout=(1.25, 0.05, -0.08), eyes=(0.21, 0.47, 0.0), build=1.15, gloss=0.10, marks=("mask", "wrinkles")),
    Breed("golden_retriever", 207, "golden retriever", "dog", GOLD, (0.86, 0.68, 0.42), (0.68, 0.44, 0.20),
          (0.86, 0.69, 0.46), (0.84, 0.65, 0.40), fur=0.13, mane=0.30, ear_size=1.0, skull=(0.92, 0.9),
          snout=(0.95, 0.50, 0.0), build=1.0, gloss=0.16, marks=("smile",)),
    Breed("saint_bernard", 247, "Saint Bernard", "dog", RUST, WHITE, (0.26, 0.13, 0.075), (0.92, 0.89, 0.85), WHITE,
          fur=0.11, mane=0.22, ear_size=1.0, skull=(1.02, 0.95), snout=(1.3, 0.38, 0.05), build=1.25, gloss=0.10,
          marks=("blaze", "patches", "bib")),
    Breed("german_shepherd", 235, "German shepherd", "dog", (0.64, 0.44, 0.24), (0.68, 0.49, 0.29),
          (0.20, 0.14, 0.10), (0.11, 0.09, 0.085), (0.66, 0.47, 0.28), fur=0.10, mane=0.28, ears="prick",
          ear_size=1.25, skull=(0.86, 0.88), snout=(0.85, 0.58, 0.04), build=0.95, gloss=0.14,
          marks=("shepherd", "saddle")),
    Breed("dalmatian", 251, "dalmatian", "dog", (0.93, 0.92, 0.90), (0.94, 0.93, 0.91), (0.10, 0.09, 0.09),
          (0.93, 0.92, 0.90), (0.93, 0.92, 0.90), fur=0.035, mane=0.0, ear_size=0.95, skull=(0.86, 0.88),
          snout=(0.92, 0.50, 0.02), build=0.85, gloss=0.10, marks=("spots",)),
    Breed("persian", 283, "Persian cat", "cat", (0.90, 0.80, 0.65), (0.94, 0.87, 0.76), (0.86, 0.74, 0.59),
          (0.94, 0.87, 0.77), (0.92, 0.84, 0.72), nose=(0.74, 0.44, 0.40), eye=(0.82, 0.47, 0.10), fur=0.22, mane=0.72,
          ears="cat", ear_size=0.68, skull=(1.06, 0.92), snout=(1.15, 0.0, -0.16), eyes=(0.23, 0.45, 0.02),
          build=1.15, gloss=0.06),
    Breed("siamese", 284, "Siamese cat", "cat", (0.84, 0.76, 0.64), (0.90, 0.84, 0.75), (0.17, 0.12, 0.105),
          (0.20, 0.145, 0.125), (0.20, 0.15, 0.13), nose=(0.12, 0.09, 0.09), eye=(0.28, 0.55, 0.92), fur=0.035,
          mane=0.0, ears="cat", ear_size=1.25, skull=(0.86, 0.84), snout=(0.86, 0.20, 0.06),
          eyes=(0.18, 0.40, -0.08), build=0.78, gloss=0.14, marks=("points",)),
    Breed("egyptian", 285, "Egyptian cat", "cat", (0.64, 0.60, 0.54), (0.76, 0.73, 0.68), (0.52, 0.48, 0.43),
          (0.78, 0.75, 0.70), (0.58, 0.54, 0.49), nose=(0.50, 0.28, 0.26), eye=(0.62, 0.80, 0.36), fur=0.035,
          mane=0.0, ears="cat", ear_size=1.05, skull=(0.88, 0.86), snout=(0.9, 0.14, 0.03),
          eyes=(0.20, 0.41, -0.06), build=0.8, gloss=0.16, marks=("forehead", "cat_spots")),
    Breed("tabby", 281, "tabby", "cat", (0.54, 0.41, 0.27), (0.74, 0.62, 0.46), (0.45, 0.33, 0.22),
          (0.86, 0.80, 0.70), (0.60, 0.47, 0.32), nose=(0.66, 0.36, 0.32), eye=(0.78, 0.72, 0.26), fur=0.075,
          mane=0.12, ears="cat", ear_size=0.9, skull=(0.98, 0.88), snout=(1.0, 0.12, 0.02),
          eyes=(0.20, 0.42, -0.05), build=0.95, gloss=0.10, marks=("forehead", "stripes")),
    Breed("angora", 332, "Angora", "rabbit", (0.94, 0.92, 0.90), (0.96, 0.95, 0.93), (0.90, 0.85, 0.82),
          (0.95, 0.93, 0.91), (0.94, 0.92, 0.90), nose=(0.84, 0.58, 0.56), eye=(0.26, 0.12, 0.10), fur=0.33, mane=0.8,
          ears="rabbit", ear_size=1.0, skull=(0.86, 0.98), snout=(0.8, 0.22, 0.0), eyes=(0.17, 0.58, -0.08),
          build=1.35, gloss=0.04),
    Breed("sphynx", None, "Sphynx", "cat", (0.86, 0.67, 0.58), (0.88, 0.71, 0.63), (0.86, 0.62, 0.54),
          (0.89, 0.72, 0.64), (0.86, 0.68, 0.60), nose=(0.78, 0.46, 0.43), eye=(0.70, 0.76, 0.42), fur=0.012, mane=0.0,
          ears="cat", ear_size=1.45, skull=(0.86, 0.84), snout=(0.9, 0.14, 0.02), eyes=(0.21, 0.41, -0.08),
          build=0.75, gloss=0.12, marks=("wrinkles",)),
    Breed("birman", None, "Birman", "cat", (0.90, 0.84, 0.74), (0.95, 0.91, 0.84), (0.27, 0.20, 0.17),
          (0.33, 0.25, 0.21), (0.96, 0.94, 0.91), nose=(0.40, 0.27, 0.26), eye=(0.30, 0.50, 0.88), fur=0.16, mane=0.55,
          ears="cat", ear_size=0.82, skull=(1.0, 0.9), snout=(1.0, 0.12, 0.0), eyes=(0.21, 0.43, -0.04),
          build=1.0, gloss=0.07, marks=("points",)),
)

BREEDS: dict[str, Breed] = {breed.key: breed for breed in _ALL}
"""Every breed by key, in a fixed order; the ones with an index are the stand-in's classes."""

TRAINED: tuple[Breed, ...] = tuple(breed for breed in _ALL if breed.index is not None)
"""The breeds that the stand-in's checkpoint is trained on, in the order of its confusion matrix."""
