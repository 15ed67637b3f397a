"""A run: one typed document with every number that the slides show.

``measure`` writes it, ``scenes`` reads it, and nothing else passes between the two. Symbols are the lecture's:
x pixel row, c content, p position, e input, E block states, q, k, v, S scores, A weights, u the row after attention,
h the final CLS row. Rows are named ``CLS`` and ``P1`` … ``P196`` (:mod:`vit_data.rows`); blocks and heads count from 1.

A field that is absent (``None``) was not measured or, in the published run, is not printed by the lecture.
"""

from __future__ import annotations

import base64
import contextlib
import difflib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AllowInfNan, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from . import rows

SCHEMA = 1
CACHE = Path(__file__).parent / "cache"
PUBLISHED = Path(__file__).parent / "published.json"
MAX_BYTES = 20_000_000

Number = Annotated[float, AllowInfNan(False)]
Probability = Annotated[float, Field(ge=0, le=1), AllowInfNan(False)]
RowName = Annotated[str, Field(pattern=r"^(CLS|P[1-9]\d{0,5})$")]


class RunError(Exception):
    """A run that can't be found, read or believed; the message is one sentence for the user."""


_watch: Callable[[Part, str], None] | None = None


class Part(BaseModel):
    """Base of all parts of a run: unknown fields are refused, values can't be changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __getattribute__(self, name: str) -> Any:
        if _watch is not None:
            _watch(self, name)
        return object.__getattribute__(self, name)

    def __deepcopy__(self, _memo: Any = None) -> Part:
        """Itself: a part never changes, and Manim copies mobjects, with the runs they hold, at every animation."""
        return self


@contextlib.contextmanager
def watching(note: Callable[[Part, str], None]) -> Iterator[None]:
    """Tell ``note`` of every part and attribute that is read in this block, methods and internals included."""
    global _watch
    before, _watch = _watch, note
    try:
        yield
    finally:
        _watch = before


class Vector(Part):
    """A row of numbers, known whole or only by its ends."""

    length: int = Field(ge=1, description="number of coordinates")
    first: list[Number] = Field(min_length=1, description="leading coordinates, at least four where measured")
    last: Number | None = Field(None, description="coordinate number `length`")
    values: list[Number] | None = Field(None, description="all coordinates, where known")

    @model_validator(mode="after")
    def _consistent(self) -> Vector:
        if self.values is not None:
            if len(self.values) != self.length:
                raise ValueError(f"a vector of length {self.length} holds {len(self.values)} values")
            if self.first != self.values[: len(self.first)] or self.last != self.values[-1]:
                raise ValueError("a vector's ends differ from its values")
        if len(self.first) > self.length:
            raise ValueError("a vector has more leading values than coordinates")
        return self

    @classmethod
    def of(cls, values: Any) -> Vector:
        """From a one-dimensional sequence of numbers, kept whole at 7 significant digits."""
        whole = [significant(float(v)) for v in values]
        return cls(length=len(whole), first=whole[:4], last=whole[-1], values=whole)

    @classmethod
    def unknown(cls, length: int) -> Vector:
        """A stand-in of the right length for a row that the run does not hold; its one zero is never printed."""
        return cls(length=length, first=[0.0])

    def __getitem__(self, coordinate: int) -> float:
        """The one-based ``coordinate``; KeyError if this run does not know it."""
        known = self.values or self.first
        if 1 <= coordinate <= len(known):
            return known[coordinate - 1]
        if coordinate == self.length and self.last is not None:
            return self.last
        raise KeyError(f"coordinate {coordinate} of {self.length} is not known in this run")


class Grid(Part):
    """A whole matrix, kept small for pictures: half precision, about three digits. What a slide prints is a Vector or a number."""

    rows: int = Field(ge=1)
    columns: int = Field(ge=1)
    half: str = Field(pattern=r"^[A-Za-z0-9+/]*={0,2}$", description="base64 of little-endian float16, row by row")

    @model_validator(mode="after")
    def _whole(self) -> Grid:
        if len(base64.b64decode(self.half)) != 2 * self.rows * self.columns:
            raise ValueError(f"a grid of {self.rows} × {self.columns} holds {len(base64.b64decode(self.half))} bytes")
        if not np.isfinite(self.array()).all():
            raise ValueError("a grid holds a number that is not finite")
        return self

    @classmethod
    def of(cls, values: Any) -> Grid:
        """From a two-dimensional array of numbers; what half precision can't hold is cut at its ends."""
        most = float(np.finfo("<f2").max)
        whole = np.clip(np.asarray(values, dtype=np.float64), -most, most).astype("<f2")
        return cls(rows=whole.shape[0], columns=whole.shape[1], half=base64.b64encode(whole.tobytes()).decode())

    def array(self) -> np.ndarray:
        """(rows, columns) float64."""
        return np.frombuffer(base64.b64decode(self.half), dtype="<f2").reshape(self.rows, self.columns).astype(float)


class ClassScore(Part):
    """One of the classifier's labels with its score."""

    index: int = Field(ge=0, description="zero-based ImageNet-1k index")
    label: str = Field(min_length=1, max_length=120, description="timm's label, its first name")
    logit: Number | None = Field(None, description="score before softmax")
    probability: Probability = Field(description="softmax over all classes")


class Checkpoint(Part):
    """Which weights were measured."""

    name: str = Field(description="timm architecture and tag")
    source: Literal["hub", "file", "random", "standin", "published"]
    detail: str = Field(description="file name, seed or revision")
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$", description="over names, shapes and float32 bytes of all parameters, sorted by name")


class Provenance(Part):
    """Where the numbers come from."""

    kind: Literal["lecture", "standin", "random", "custom", "published"] = Field(
        description="lecture: the lecture's checkpoint on the lecture's photographs; standin: this project's own; "
        "random: untrained weights; custom: anything else measured; published: the printed figures")
    checkpoint: Checkpoint
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$", description="day of measurement, ISO 8601")
    versions: dict[str, str] = Field(description="python, torch, timm, numpy, pillow")


class Transform(Part):
    """timm's evaluation transform for the checkpoint."""

    resize: int = Field(description="shorter side after resizing, pixels")
    crop: int = Field(description="side of the centre crop, pixels")
    interpolation: str
    mean: list[Number] = Field(min_length=3, max_length=3)
    std: list[Number] = Field(min_length=3, max_length=3)


class Parameters(Part):
    """Counts of trainable numbers, from the model's own tensors."""

    patch_weights: int
    patch_biases: int
    patch_total: int
    cls: int
    position_patches: int = Field(description="position table without the CLS row")
    position_total: int
    block: int = Field(description="one Transformer block")
    head: int = Field(description="classifier weights and biases")
    total: int


class Work(Part):
    """Counts of attention scores for one picture."""

    scores_per_head: int = Field(description="tokens × tokens")
    scores_total: int = Field(description="tokens × tokens × heads × depth")


class Model(Part):
    """Shapes and counts of the model itself."""

    image: int = Field(description="side of the input, pixels")
    patch: int = Field(description="side of a patch, pixels")
    grid: int = Field(description="patches along one side")
    patches: int
    tokens: int = Field(description="patches and CLS")
    channels: int
    patch_values: int = Field(description="numbers in one flattened patch")
    width: int = Field(description="features of a row, D")
    heads: int
    head_width: int
    depth: int = Field(description="Transformer blocks")
    hidden: int = Field(description="MLP hidden units")
    classes: int
    transform: Transform
    parameters: Parameters
    work: Work


class Photo(Part):
    """A picture, before and after the model's transform."""

    id: str = Field(pattern=r"^[\w.-]{1,80}$")
    kind: Literal["photograph", "drawing"]
    species: Literal["dog", "cat"] = Field(description="the role in the story")
    known: int | None = Field(None, description="ImageNet-1k index of the breed that the picture is known to show")
    known_label: str | None = None
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$", description="of the picture's file, or of its pixels if drawn")
    width: int | None = Field(None, ge=1, description="pixels, before the transform")
    height: int | None = Field(None, ge=1, description="pixels, before the transform")
    input_file: str | None = Field(None, pattern=r"^[\w-][\w.-]*\.png$", description="224 × 224 model input beside the run, RGB before normalization")
    original_file: str | None = Field(None, pattern=r"^[\w-][\w.-]*\.png$", description="the picture before the transform, at most 640 pixels wide and high")
    places: dict[str, int] = Field(description="patch number of each part that the story names")


class PixelRow(Part):
    """x: one patch flattened as F.unfold does it: all R, then G, then B; left to right, top to bottom."""

    red: Vector = Field(description="256 normalized values")
    green: Vector | None = None
    blue: Vector | None = None


class Patch(Part):
    """One image patch on its way to an input row."""

    pixels: list[tuple[int, int, int]] | None = Field(None, description="8-bit RGB in reading order: all 256, or the leading ones")
    x: PixelRow | None = None
    c: Vector | None = Field(None, description="content: patch projection of x, 192")
    p: Vector | None = Field(None, description="learned position row, 192")
    e: Vector | None = Field(None, description="c + p, the row that enters block 1, 192")


class ClsStart(Part):
    """The CLS row before block 1."""

    s: Vector = Field(description="stored learned CLS token, 192")
    p: Vector | None = Field(None, description="position row 0, 192")
    e: Vector = Field(description="s + p, 192")


class AttentionRow(Part):
    """One row of A: a receiver's weights over all sources."""

    receiver: RowName
    weights: dict[RowName, Probability] = Field(description="the sources that the slides name")
    values: list[Probability] | None = Field(None, description="all tokens, CLS first")
    scores: list[Number] | None = Field(None, description="the same row of S = qkᵀ/√64")


class HeadOne(Part):
    """Head 1 of block 1."""

    q: dict[RowName, Vector] = Field(description="64 each")
    k: dict[RowName, Vector]
    v: dict[RowName, Vector]
    attention: dict[RowName, AttentionRow] = Field(description="by receiver")
    contributions: dict[RowName, Vector] = Field(description="weight × value row for the CLS receiver, 64 each")
    others: Vector = Field(description="sum of all other contributions to CLS, 64")
    others_count: int
    p_message: Vector = Field(description="message for the nose patch, 64")


class BlockOne(Part):
    """Block 1 on the CLS row."""

    ln_cls: Vector | None = Field(None, description="LayerNorm(E), CLS row, 192")
    head1: HeadOne | None = None
    cls_messages: list[Vector] | None = Field(None, description="one message for CLS a head, 64 each")
    cls_attention: list[AttentionMap] = Field(default_factory=list, description="the CLS row's weights in each head")
    joined: Vector | None = Field(None, description="messages side by side, 192")
    update: Vector | None = Field(None, description="attention update of CLS after the output projection, 192")
    u: Vector = Field(description="CLS after attention and residual, 192")
    ln2_cls: Vector | None = Field(None, description="LayerNorm(U), CLS row, what the MLP reads, 192")
    hidden_before: Vector | None = Field(None, description="MLP units before GELU, 768")
    hidden_after: Vector | None = Field(None, description="MLP units after GELU, 768")
    mlp_update: Vector | None = Field(None, description="192")
    out: Vector | None = Field(None, description="CLS after block 1, 192")


class Prediction(Part):
    """The classifier's answer for one picture."""

    top: list[ClassScore] = Field(min_length=3, description="largest first")
    rest: Probability | None = Field(None, description="probability of all classes outside the top three")
    known: ClassScore | None = Field(None, description="the breed that the picture is known to show")
    correct: bool | None = Field(None, description="top label is the known breed; absent if none is known")
    loss: Number | None = Field(None, ge=0, description="cross-entropy for the top label, nats")
    logits: list[Number] | None = None
    probabilities: list[Probability] | None = None


class TopClass(Part):
    """The output neuron of the top label: one weighted sum."""

    weights: Vector = Field(description="192")
    bias: Number
    products: list[Number] = Field(min_length=2, max_length=2, description="first two of h × w")
    others: Number = Field(description="sum of the remaining products")
    logit: Number


class ClassRow(Part):
    """One class of the head: the learned row that h is compared with, and its score."""

    index: int = Field(ge=0, description="zero-based ImageNet-1k index")
    label: str = Field(min_length=1, max_length=120, description="timm's label, its first name")
    weights: Vector | None = Field(None, description="the row of the head's weight matrix, 192")
    bias: Number | None = None
    logit: Number | None = Field(None, description="h · weights + bias")


class AttentionMap(Part):
    """One query's weights in one head, as a map over the picture."""

    block: int = Field(ge=1)
    head: int = Field(ge=1)
    query: RowName
    values: list[Probability] | None = Field(None, description="all tokens, CLS first; sum 1")
    cls_weight: Probability | None = None
    strongest: RowName = Field(description="the other patch with the largest weight")
    strongest_weight: Probability
    largest: Probability | None = Field(None, description="largest weight on any patch, the query's own included")


class SimilarityMap(Part):
    """Cosine of every patch's features after a block with the query's."""

    block: int = Field(ge=1)
    query: RowName
    values: list[Annotated[float, Field(ge=-1.00001, le=1.00001), AllowInfNan(False)]] | None = Field(None, description="196, P1 first")
    strongest: RowName | None = Field(None, description="the other patch with the largest cosine")
    strongest_value: Number | None = None
    pairs: dict[RowName, Number] = Field(default_factory=dict, description="cosines that the slides name")


class BlockWalk(Part):
    """One query through all blocks: what it attends to in each, and what it resembles after each."""

    query: RowName
    partner: RowName = Field(description="the row whose cosine with the query is followed")
    head: int = Field(ge=1)
    attention: list[AttentionMap] = Field(min_length=1, description="one a block, in order")
    similarity: list[SimilarityMap] = Field(min_length=1, description="one a block, in order; pairs holds the partner")


class Cover(Part):
    """One forward pass with a rectangle of the normalized input set to zero (grey)."""

    name: str
    top: int
    left: int
    height: int
    width: int
    probability: Probability = Field(description="of the uncovered picture's top label")
    points: Number = Field(description="change against the uncovered picture, percentage points")
    label: ClassScore = Field(description="top label of the covered picture")
    keeps: bool = Field(description="top label unchanged")


class PatchCovers(Part):
    """196 covers of one patch each."""

    probabilities: list[Probability] | None = None
    points: list[Number] | None = None
    labels: list[int] | None = Field(None, description="top label's index of each test")
    largest: Cover = Field(description="the test with the largest fall, or the smallest rise if none falls")
    rise: Cover | None = Field(None, description="the test with the largest rise; absent if none rises")
    keep: int = Field(description="tests that keep the top label")
    count: int
    scale: Number = Field(gt=0, description="symmetric colour limit, percentage points")


class Covers(Part):
    """Occlusion tests on one picture, all against the same uncovered pass."""

    target: ClassScore
    fill: Number = Field(description="RGB value of the cover before normalization, 0 to 1")
    quadrants: list[Cover] = Field(min_length=4, max_length=4)
    quadrant_largest: str = Field(description="name of the cover with the largest fall, or the smallest rise if none falls")
    quadrants_keep: int = Field(description="covers that keep the top label")
    patches: PatchCovers | None = None

    @property
    def worst_quadrant(self) -> Cover:
        """The cover that ``quadrant_largest`` names."""
        return next(c for c in self.quadrants if c.name == self.quadrant_largest)


class Product(Part):
    """One pixel × weight inside the patch projection; zero-based indices as in the code."""

    output: int
    channel: int
    row: int
    column: int
    flat: int = Field(description="index in the flattened row")
    x: Number
    weight: Number
    product: Number
    bias: Number
    total: Number = Field(description="all products + bias: the output feature")


class Projection(Part):
    """The dog's nose patch, of either picture, through Linear on unfolded rows and through Conv2d."""

    linear: Vector
    conv: Vector
    product: Product | None = None


class HeadGrids(Part):
    """Whole matrices of one head of block 1, for pictures."""

    q: Grid = Field(description="queries, 197 × 64")
    k: Grid = Field(description="keys, 197 × 64")
    v: Grid = Field(description="values, 197 × 64")


class Matrices(HeadGrids):
    """Whole matrices of block 1 and its head 1, for pictures; rows are tokens, CLS first."""

    p: Grid = Field(description="learned position table, 197 × 192")
    e: Grid = Field(description="input of block 1, 197 × 192")
    x: Grid = Field(description="LayerNorm(E), 197 × 192")
    more_heads: list[HeadGrids] = Field(default_factory=list, description="heads 2, 3, … of block 1")
    messages: Grid | None = Field(None, description="messages of all heads of block 1 side by side, before the output projection, 197 × 192")
    out: Grid | None = Field(None, description="rows after block 1, 197 × 192")


class Depth(Part):
    """What the blocks make of the rows, before the final LayerNorm; from hooks on the blocks."""

    cls: list[Vector] = Field(description="CLS row after blocks 1, 2, …, 192 each")
    cosines: list[Annotated[float, Field(ge=-1.00001, le=1.00001), AllowInfNan(False)]] = Field(description="cosine of each of them with the last one")
    start: Annotated[float, Field(ge=-1.00001, le=1.00001), AllowInfNan(False)] = Field(
        description="cosine of the CLS row that enters block 1 with the last one"
    )
    after: dict[int, dict[RowName, Vector]] = Field(description="rows CLS, P1 and the last patch after blocks 0 (the input), 1, 2 and the last, 192 each")
    norm: dict[RowName, Vector] = Field(description="the same rows after the final LayerNorm, 192 each")
    update: dict[RowName, Vector] = Field(description="the same rows of block 1's attention update, 192 each")
    middle: dict[RowName, Vector] = Field(description="the same rows after block 1's attention and residual, 192 each")


class Subject(Part):
    """Everything measured on one picture."""

    photo: Photo
    patches: dict[RowName, Patch]
    cls: ClsStart | None = None
    block1: BlockOne | None = None
    h: Vector | None = Field(None, description="final CLS row after LayerNorm, 192")
    prediction: Prediction
    top_class: TopClass | None = None
    class_rows: list[ClassRow] = Field(default_factory=list, description="own top label, the other picture's, and a class of another kind; all different")
    attention: list[AttentionMap] = Field(default_factory=list)
    similarity: list[SimilarityMap] = Field(default_factory=list)
    walk: BlockWalk | None = Field(None, description="the ear through all blocks, head 1")
    covers: Covers | None = None
    projection: Projection | None = None
    attention_distance: list[list[Number]] | None = Field(None, description="pixels between a patch and what it reads, mean by weight, blocks × heads")
    matrices: Matrices | None = None
    depth: Depth | None = None

    def place(self, part: str) -> str:
        """Row name of a part that the story names: ``place("nose")`` → ``"P63"``."""
        return rows.name(self.photo.places[part])

    def attention_map(self, block: int, head: int, query: str) -> AttentionMap:
        """The map with these one-based numbers; KeyError if the run has none."""
        for found in self.attention:
            if (found.block, found.head, found.query) == (block, head, query):
                return found
        raise KeyError(f"no attention map of block {block}, head {head}, query {query} in this run")

    def similarity_map(self, block: int, query: str) -> SimilarityMap:
        """The map with this block and query; KeyError if the run has none."""
        for found in self.similarity:
            if (found.block, found.query) == (block, query):
                return found
        raise KeyError(f"no similarity map of block {block}, query {query} in this run")


class StripeView(Part):
    """The drawn stripe at one place (:mod:`vit_data.stripe`)."""

    cells: list[RowName] = Field(description="the patches that hold it, from the top")
    content: Vector = Field(description="patch projection of the middle one, 192")
    attention: AttentionMap = Field(description="of the middle patch, block 1, head 1")
    on_stripe: Probability = Field(description="sum of that row's weights on the stripe's patches")


class MovedStripe(Part):
    """One stripe at two places, each a picture of its own through the model."""

    before: StripeView
    after: StripeView
    content_difference: Number = Field(description="largest |before − after| over the content rows of the stripe's patches, float32")


class Flow(Part):
    """What one line of ``lab.py`` gives."""

    shape: list[int | Literal["B"]] = Field(description="lengths of the axes; B follows the number of pictures; empty for one number")
    tensors: int = Field(1, ge=1, description="how many tensors of this shape")


class Step(Part):
    """One training step of the lab's model on the run's two pictures."""

    rate: Number = Field(description="learning rate of plain gradient descent")
    labels: list[int] = Field(description="class index of each picture: its known breed, or its top label where none is known")
    before: Number = Field(description="cross-entropy before the step, nats, mean of the pictures")
    after: Number = Field(description="the same with the changed parameters")
    gradients: dict[str, Number] = Field(description="length of the gradient that reached position, cls and patch projection")


class Lab(Part):
    """The implementation lab's own model (``lab.py``) with this checkpoint's parameters."""

    logit_difference: Number = Field(description="largest |lab − timm| over the logits of both pictures, float32")
    flow: dict[str, dict[str, Flow]] = Field(description="by function and line of code")
    filters: Grid = Field(description="the first twelve output neurons of the patch projection, 12 × 768, each flattened R, G, B")
    step: Step


class ToyPatch(Part):
    """One 2 × 2 patch of the toy and its embedding."""

    pixels: list[tuple[int, int, int]] = Field(min_length=4, max_length=4, description="A, B, C, D; RGB from 0 to 1")
    x: list[Number] = Field(min_length=12, max_length=12, description="flattened: R, then G, then B")
    products: list[list[Number]] = Field(description="x × weight, outputs × inputs")
    c: list[Number] = Field(description="the two outputs")


class ToyMessage(Part):
    """One receiver's message from a few sources: each value row times its weight, and the sum. Chosen and computed, not measured."""

    weights: list[Probability] = Field(description="one a source, sum 1")
    values: list[list[Number]] = Field(description="sources × features")
    contributions: list[list[Number]] = Field(description="weight × value row, sources × features")
    total: list[Number] = Field(description="sum over the sources: the message")


class Toy(Part):
    """The four-pixel example: 12 inputs, one linear layer, 2 outputs. Chosen and computed, not measured."""

    entries: list[str] = Field(min_length=12, max_length=12, description="names of the inputs, A.R to D.B")
    weights: list[list[Number]] = Field(description="outputs × inputs")
    bias: list[Number]
    parameters: int
    patches: dict[RowName, ToyPatch]
    message: ToyMessage | None = Field(None, description="the attention example with three sources")


class GalleryPicture(Part):
    """One of the six labelled animals that open the reference deck."""

    kind: Literal["photograph", "drawing"]
    species: Literal["dog", "cat"]
    breed: str = Field(min_length=1, max_length=60)
    file: str | None = Field(None, pattern=r"^[\w-][\w.-]*\.png$", description="picture beside the run")


class Evaluation(Part):
    """The checkpoint on labelled pictures that its training never saw, with breeds counted as dog or cat."""

    kind: Literal["photograph", "drawing"]
    training: int = Field(ge=1, description="pictures that training saw")
    validation: int = Field(ge=1, description="pictures that chose the settings")
    test: int = Field(ge=1, description="held-out pictures, used once")
    pets: int = Field(ge=1, description="dogs and cats among them")
    dog: dict[Literal["dog", "cat", "other"], int] = Field(description="pictures of dogs by the species of the top label")
    cat: dict[Literal["dog", "cat", "other"], int] = Field(description="pictures of cats by the species of the top label")
    correct: int = Field(ge=0, description="dogs and cats whose top label has the right species")
    accuracy: Probability = Field(description="correct / pets")


class Checks(Part):
    """How far the hand-made recomputation is from the model's own output."""

    largest_difference: dict[str, Number] = Field(description="by quantity, absolute, float32")
    tolerance: Number


class Run(Part):
    """One checkpoint on two pictures."""

    schema_version: Literal[1] = SCHEMA
    name: str = Field(pattern=r"^[\w-][\w.-]{0,63}$")
    provenance: Provenance
    model: Model
    dog: Subject
    cat: Subject
    projection_difference: Number | None = Field(None, description="largest |Linear − Conv2d| over both pictures")
    toy: Toy
    gallery: list[GalleryPicture] = Field(default_factory=list, description="labelled examples of the data set, in reading order")
    evaluation: Evaluation | None = Field(None, description="test of the checkpoint, where this project ran one")
    stripe: MovedStripe | None = None
    lab: Lab | None = None
    checks: Checks | None = None
    _folder: Path = PrivateAttr(default=CACHE)

    def picture(self, subject: Literal["dog", "cat"], which: Literal["input", "original"] = "input") -> Path | None:
        """Path of a picture that belongs to the run; None where the run has none."""
        photo = getattr(self, subject).photo
        return self.file(photo.input_file if which == "input" else photo.original_file)

    def file(self, name: str | None) -> Path | None:
        """Path of a file that the run names; None for None."""
        return self._folder / name if name else None


def significant(value: float, digits: int = 7) -> float:
    """``value`` at ``digits`` significant digits, and never −0.0."""
    return float(f"{value:.{digits}g}") + 0.0


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return significant(value)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


def dumps(run: Run) -> str:
    """Deterministic JSON: sorted keys, 7 significant digits, short rows on one line, trailing newline."""
    text = json.dumps(_rounded(run.model_dump(exclude_none=True)), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    # a list of plain numbers reads, and diffs, better on one line
    flat = re.compile(r"\[\s+([^\[\]{}\"]*?)\s+\]")
    text = flat.sub(lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", text)
    return text + "\n"


def write_safely(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: to a neighbour first, then renamed."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def save(run: Run, folder: Path = CACHE) -> Path:
    """Write ``run`` as ``folder/NAME.json`` and return the path. An existing run is replaced whole or kept."""
    path = folder / f"{run.name}.json"
    write_safely(path, dumps(run).encode("utf-8"))
    return path


def available() -> list[str]:
    """Names of the runs at hand, the published figures included."""
    return sorted({p.stem for p in CACHE.glob("*.json")} | ({"published"} if PUBLISHED.exists() else set()))


def default() -> str:
    """The run to show when none is named: the lecture's if it was measured here, else the stand-in."""
    return "lecture" if (CACHE / "lecture.json").exists() else "standin"


def path_of(name: str) -> Path:
    """The file of a run, whether it exists or not."""
    return PUBLISHED if name == "published" else Path(name) if name.endswith(".json") else CACHE / f"{name}.json"


def load(name: str | None = None) -> Run:
    """Read and check a run by name, ``published``, or the path of a ``.json`` file.

    Raises RunError, with one sentence that says what to do, for a name that does not exist and for a file that is
    not a run of this schema, or whose parts do not belong together (:mod:`vit_data.sound`).
    """
    name = name or default()
    path = path_of(name)
    if not os.path.isfile(path):  # Path.is_file raises for names that are too long
        near = difflib.get_close_matches(name, available(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(available()) or 'none'}."
        stem = re.sub(r"[^\w.-]+", "_", path.stem).lstrip(".")[:64]
        raise RunError(f"There is no run '{_told(name)}'; {hint} Measure one with: python -m vit_data measure --name {stem or 'NAME'}")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RunError(f"{path} is larger than a run can be; choose another file.")
        raw = json.loads(path.read_text(encoding="utf-8"))
        version = raw.get("schema_version") if isinstance(raw, dict) else None
        if version != SCHEMA or isinstance(version, bool):
            raise RunError(f"{path} has schema version {_told(version)}, this program reads {SCHEMA}: measure it again with "
                           f"python -m vit_data measure --name {path.stem}")
        run = Run.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(x) for x in first["loc"]) or "the document"
        more = f" ({error.error_count()} faults in all)" if error.error_count() > 1 else ""
        raise RunError(f"{path} is not a valid run: {_told(where)}: {_told(first['msg'])}{more}; measure it again.") from error
    except (OSError, ValueError, RecursionError, OverflowError) as error:  # ValueError: no UTF-8, no JSON, a number of 5,000 digits
        raise RunError(f"{path} can't be read as a run ({_told(error)}); measure it again.") from error
    from . import sound  # it needs this module

    fault = sound.fault(raw, run)
    if fault:
        raise RunError(f"{path} is not a valid run: {_told(fault)}; measure it again.")
    run._folder = path.parent
    return run


def _told(text: object) -> str:
    """What a file holds, for a message: on one line, without control characters, not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= 160 else line[:159] + "…"
