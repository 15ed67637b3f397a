"""What a Vision Transformer costs, by arithmetic: patches, tokens, attention scores, the numbers of a new head.

Attention compares every row with every row, so a head makes tokens × tokens scores. Needs no model.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Counts for one square picture of ``image`` pixels a side, cut into squares of ``patch`` pixels a side."""

    image: int
    patch: int

    def __post_init__(self) -> None:
        if self.image < 1 or self.patch < 1 or self.image % self.patch:
            raise ValueError(f"patches of {self.patch} pixels do not fill a picture of {self.image} pixels a side")

    @property
    def grid(self) -> int:
        """Patches along one side."""
        return self.image // self.patch

    @property
    def patches(self) -> int:
        return self.grid**2

    @property
    def tokens(self) -> int:
        """Patches and CLS."""
        return self.patches + 1

    @property
    def scores(self) -> int:
        """Scores of one attention head."""
        return self.tokens**2

    def total(self, heads: int, blocks: int) -> int:
        """Scores of all heads of all blocks for one picture."""
        return self.scores * heads * blocks

    def growth(self, before: Cost) -> float:
        """How many times as many scores as ``before``."""
        return self.scores / before.scores


@dataclass(frozen=True)
class Head:
    """Trainable numbers of a linear layer from ``width`` features to ``classes`` scores."""

    width: int
    classes: int

    @property
    def weights(self) -> int:
        return self.width * self.classes

    @property
    def biases(self) -> int:
        return self.classes

    @property
    def total(self) -> int:
        return self.weights + self.biases
