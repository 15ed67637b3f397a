"""The nine examples of the attention and similarity lab: which map each one looks at, and what a run finds there.

A claim in a title is made only where the run's own map bears it out. Needs neither torch nor timm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import rows
from .run import AttentionMap, Run, SimilarityMap
from .story import LECTURE


@dataclass(frozen=True)
class Example:
    """One map of the dog: a query, a block, a head."""

    number: int
    kind: Literal["similarity", "attention"]
    place: str | None            # the query's part of the story; None: CLS
    block: int | None = None     # None: the last
    head: int = 1                # of attention maps; similarity compares whole rows
    partner: str | None = None   # a second part that the example compares with
    lesson: str = ""             # what it teaches, on any run

    def query(self, run: Run) -> str:
        """Row name of the query."""
        return run.dog.place(self.place) if self.place else rows.CLS

    def depth(self, run: Run) -> int:
        """One-based number of the block."""
        return self.block or run.model.depth

    def find(self, run: Run) -> AttentionMap | SimilarityMap:
        """The run's map of this example."""
        if self.kind == "attention":
            return run.dog.attention_map(self.depth(run), self.head, self.query(run))
        return run.dog.similarity_map(self.depth(run), self.query(run))

    def title(self, run: Run) -> str:
        """The example's headline."""
        return _TITLES[self.number](run, self)


EXAMPLES = (
    Example(1, "similarity", "background", lesson="Features can tell the surroundings from the animal. The map shows what is alike; nobody predicted a mask."),
    Example(2, "similarity", "corner", lesson="A close match need not be a part of an object. See where the matches lie before you name them."),
    Example(3, "similarity", "ear", partner="other_ear",
            lesson="Patches far apart can carry alike features. Another picture, or other weights, may answer otherwise."),
    Example(4, "similarity", "nose", lesson="Only the query moved, and with it every cosine of the map."),
    Example(5, "similarity", "chest", lesson="One animal holds several kinds of features: it need not light up as a whole."),
    Example(6, "similarity", "ear", block=1, partner="other_ear", lesson="The pixels stay, the features do not: every block rewrites the rows."),
    Example(7, "attention", "ear", block=4, lesson="A weight says how much of a source’s value row enters the message. Resemblance is something else."),
    Example(8, "attention", "ear", block=4, head=2,
            lesson="Heads gather different mixtures. Each map has its own scale: compare the percentages, not the brightness."),
    Example(9, "attention", None, lesson="CLS is a token of its own and no part of the picture. One head of one block does not explain the label."),
)


def _background(run: Run, _: Example) -> str:
    # where an unknown picture's background lies is not in a run
    known = run.provenance.kind == "published" or run.dog.photo.sha256 == LECTURE["dog"].sha256
    return "Background finds background" if known else "What does background find?"


def _corner(run: Run, example: Example) -> str:
    return "Check a true corner" if example.query(run) in corners(run.model.grid) else "Check the corner"


def _ear(run: Run, example: Example) -> str:
    return "One ear finds the other side" if example.find(run).strongest == run.dog.place(example.partner) else "Compare one ear with the other side"


def _chest(run: Run, _: Example) -> str:
    return "Follow the body’s dark fur" if run.dog.photo.known == LECTURE["dog"].known else "Follow the body down from the chest"


_TITLES = {
    1: _background, 2: _corner, 3: _ear, 5: _chest,
    4: lambda *_: "Move the reference to the nose",
    6: lambda *_: "Rewind to block 1",
    7: lambda *_: "Ask what the ear reads",
    8: lambda *_: "Change only the attention head",
    9: lambda *_: "Let CLS gather an image summary",
}


def corners(grid: int) -> tuple[str, str, str, str]:
    """Names of the four corner patches of a square grid."""
    return tuple(rows.name(n) for n in (1, grid, grid * (grid - 1) + 1, grid * grid))


def top_sources(values: Sequence[float], query: str, many: int) -> list[tuple[str, float]]:
    """The ``many`` largest of the patches other than the query, largest first; equal ones in reading order.

    ``values`` has a value a patch, P1 first.
    """
    named = [(rows.name(n), v) for n, v in enumerate(values, 1) if rows.name(n) != query]
    return sorted(named, key=lambda pair: -pair[1])[:many]


def own_weight(found: AttentionMap) -> float | None:
    """What a patch gives itself; None for CLS, and where the run doesn't know it.

    A weight above the strongest other patch's can only be the query's own.
    """
    if found.query == rows.CLS:
        return None
    if found.values:
        return found.values[rows.index(found.query)]
    return found.largest if found.largest and found.largest > found.strongest_weight else None


def split_in_hundred(shares: Sequence[float], digits: int = 2) -> list[float]:
    """Shares of one rounded to percent with ``digits`` decimals so that they still add up to their rounded sum.

    The largest share takes what rounding left over.
    """
    rounded = [round(100 * s, digits) for s in shares]
    largest = max(range(len(shares)), key=lambda i: shares[i])
    rounded[largest] = round(rounded[largest] + round(100 * sum(shares), digits) - sum(rounded), digits)
    return rounded


def neighbours(a: str, b: str, grid: int) -> bool:
    """Whether two patches touch, corners included."""
    (r, c), (s, d) = (rows.grid_place(rows.index(n), grid) for n in (a, b))
    return max(abs(r - s), abs(c - d)) == 1


def level(a: str, b: str, grid: int) -> str:
    """Where patch ``b`` lies seen from ``a``: ``lower``, ``higher`` or ``in the same row``."""
    r, s = (rows.grid_place(rows.index(n), grid)[0] for n in (a, b))
    return "lower" if s > r else "higher" if s < r else "in the same row"


def walk(run: Run) -> list[tuple[int, SimilarityMap | None, AttentionMap | None]]:
    """The ear's maps of every block, head 1; None where the run has no such map."""
    if run.dog.walk:
        return [(s.block, s, a) for s, a in zip(run.dog.walk.similarity, run.dog.walk.attention, strict=True)]
    query = run.dog.place("ear")
    similarity = {m.block: m for m in run.dog.similarity if m.query == query}
    attention = {m.block: m for m in run.dog.attention if (m.query, m.head) == (query, 1)}
    return [(b, similarity.get(b), attention.get(b)) for b in range(1, run.model.depth + 1)]
