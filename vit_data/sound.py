"""Whether a run file, perhaps a stranger's, hangs together: read once more after its schema, before anything is drawn from it.

The schema (:mod:`vit_data.run`) knows types and the range of single numbers. Here are the rules between fields: sizes
follow the model, row names lie on the grid, what every slide needs is there, and no text holds control characters.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from PIL import Image

from . import rows, toy
from .run import (PUBLISHED, AttentionMap, AttentionRow, BlockOne, BlockWalk, ClassRow, ClassScore, Cover, Covers, Depth, Evaluation, Flow, Grid,
                  HeadGrids, HeadOne, Lab, Matrices, Part, Patch, PatchCovers, Photo, PixelRow, Prediction, Run, RunError, SimilarityMap, Step,
                  StripeView, Subject, Transform, Vector)
from .story import PLACES, PlaceError, check_place

LARGEST, LONGEST = 1e6, 400  # of a number that the model computes; characters of a text
MOST_PIXELS = 4096 * 4096
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
_ROW = re.compile(r"P[1-9]\d*")
# what a run may lack although the published figures have it: nobody knows the breed of a user's picture
_FREE = {"known", "known_label", "correct", "sha256", "places", "toy", "model", "provenance"}


def fault(document: dict[str, Any], run: Run) -> str | None:
    """The first thing that is wrong with a run, in a few words; None if it is sound. ``document`` is its JSON."""
    return next(_faults(document, run), None)


def _faults(document: dict[str, Any], run: Run) -> Iterator[str]:
    yield from _leaves(document, "", run.model.patches)
    template = _published()
    if {k: v for k, v in document["model"].items() if k != "transform"} != {k: v for k, v in template["model"].items() if k != "transform"}:
        yield "model: this program draws vit_tiny_patch16_224 only, and these are other shapes or counts"
        return
    for name, subject in (("dog", run.dog), ("cat", run.cat)):
        if subject.photo.species != name:
            yield f"{name}.photo.species: '{subject.photo.species}' in the place of the {name}"
        yield from _places(name, subject)
    found = None
    try:
        for found in _parts(run, "", run, run.model.width):
            yield found
    except PlaceError as error:
        yield str(error)
    if found is None:
        yield from _story(run)
        yield from _lacks(template, document, "", _names(template, run))
    if run.toy != toy.toy():
        yield "toy: it is not the four-pixel example of this program"


@cache
def _published() -> dict[str, Any]:
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))


def _leaves(value: Any, path: str, patches: int) -> Iterator[str]:
    """Numbers beyond any measurement, texts that would upset a terminal, rows that are not on the grid."""
    if isinstance(value, dict):
        for key, part in value.items():
            if len(key) > LONGEST or _CONTROL.search(key):
                yield f"{path or 'the document'}: a name in it is too long or holds control characters"
                return
            if _ROW.fullmatch(key) and int(key[1:]) > patches:
                yield f"{path}: there is no patch {key}"
            yield from _leaves(part, f"{path}.{key}" if path else key, patches)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            if type(part) is not float or not abs(part) <= LARGEST:
                yield from _leaves(part, f"{path}.{i}", patches)
    elif isinstance(value, str):
        if path.endswith(".half"):
            return
        if len(value) > LONGEST or _CONTROL.search(value):
            yield f"{path}: the text is too long or holds control characters"
        elif _ROW.fullmatch(value) and not path.endswith("label") and int(value[1:]) > patches:
            yield f"{path}: there is no patch {value}"
    elif isinstance(value, (int, float)) and abs(value) > (LARGEST if isinstance(value, float) else 1e9):
        yield f"{path}: the number is larger than anything that is measured"


def _places(name: str, subject: Subject) -> Iterator[str]:
    try:
        for part in PLACES:
            if part not in subject.photo.places:
                yield f"{name}.photo.places: the place of '{part}' is missing"
        for part, patch in subject.photo.places.items():
            check_place(part, patch)
    except PlaceError as error:
        yield f"{name}.photo.places: {str(error).rstrip('.')}"


def _parts(value: Any, path: str, run: Run, length: int) -> Iterator[str]:
    """Every part against the sizes of the model; ``length`` is what a vector at this place must have."""
    if isinstance(value, Vector):
        if value.length != length:
            yield f"{path}: a row of {value.length} numbers instead of {length}"
    elif isinstance(value, Part):
        for what in _rules(value, run):
            yield f"{path}: {what}"
        for name in type(value).model_fields:
            yield from _parts(getattr(value, name), f"{path}.{name}" if path else name, run, _length(value, name, run))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(part, f"{path}.{key}", run, length)
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], (Part, list, dict)):
        for i, part in enumerate(value):
            yield from _parts(part, f"{path}.{i}", run, length)


def _length(part: Part, name: str, run: Run) -> int:
    """What vectors under this field hold: 192 almost everywhere."""
    m = run.model
    if isinstance(part, PixelRow):
        return m.patch**2
    if isinstance(part, HeadOne) or (isinstance(part, BlockOne) and name == "cls_messages"):
        return m.head_width
    return m.hidden if isinstance(part, BlockOne) and name.startswith("hidden_") else m.width


def _rules(part: Part, run: Run) -> Iterator[str]:
    """What must hold for one part."""
    m = run.model

    def size(what: str, values: list | None, wanted: int) -> Iterator[str]:
        if values is not None and len(values) != wanted:
            yield f"{len(values)} {what} instead of {wanted}"
    match part:
        case AttentionMap():
            yield from size("weights", part.values, m.tokens)
            if part.block > m.depth or part.head > m.heads:
                yield f"there is no head {part.head} in block {part.block}"
            if part.strongest == rows.CLS:
                yield "the strongest patch is no patch"
        case AttentionRow():
            yield from size("weights", part.values, m.tokens)
            yield from size("scores", part.scores, m.tokens)
        case SimilarityMap():
            yield from size("cosines", part.values, m.patches)
            if part.block > m.depth or rows.CLS in (part.query, part.strongest):
                yield "there is no such block or patch"
            if part.values is not None and (part.strongest is None or part.strongest_value is None):
                yield "the strongest patch is missing"
        case BlockWalk():
            yield from size("attention maps", part.attention, m.depth)
            yield from size("similarity maps", part.similarity, m.depth)
            if any(part.partner not in s.pairs for s in part.similarity):
                yield "a cosine with the partner is missing"
        case ClassScore() | ClassRow():
            if part.index >= m.classes:
                yield f"there is no class {part.index}"
        case Prediction():
            yield from size("logits", part.logits, m.classes)
            yield from size("probabilities", part.probabilities, m.classes)
            if [s.probability for s in part.top] != sorted((s.probability for s in part.top), reverse=True):
                yield "the labels are not in order"
        case Photo():
            if part.known is not None and not 0 <= part.known < m.classes:
                yield f"there is no class {part.known}"
        case Patch():
            if part.pixels is not None and (len(part.pixels) > m.patch**2 or not all(0 <= c <= 255 for pixel in part.pixels for c in pixel)):
                yield "pixels are three numbers from 0 to 255, at most 256 of them"
        case BlockOne():
            if part.cls_messages is not None:
                yield from size("messages", part.cls_messages, m.heads)
            yield from size("attention maps", part.cls_attention or None, m.heads)
            if any(a.values is None or a.largest is None for a in part.cls_attention):
                yield "a map of cls_attention is not whole"
        case Cover():
            if not (0 <= part.top < part.top + part.height <= m.image and 0 <= part.left < part.left + part.width <= m.image):
                yield "the cover leaves the picture"
        case Covers():
            if not 0 <= part.fill <= 1 or not 0 <= part.quadrants_keep <= 4 or part.quadrant_largest not in {c.name for c in part.quadrants}:
                yield "fill, quadrant_largest and quadrants_keep do not belong to the covers"
        case PatchCovers():
            for values in (part.probabilities, part.points, part.labels):
                yield from size("tests", values, m.patches)
            if part.count != m.patches or not 0 <= part.keep <= part.count or not all(0 <= i < m.classes for i in part.labels or ()):
                yield "keep, count or labels are out of range"
        case Matrices() | HeadGrids():
            for name in type(part).model_fields:
                grid = getattr(part, name)
                wanted = (m.tokens, m.head_width if name in "qkv" else m.width)
                if isinstance(grid, Grid) and (grid.rows, grid.columns) != wanted:
                    yield f"{name} has {grid.rows} × {grid.columns} numbers instead of {wanted[0]} × {wanted[1]}"
            if isinstance(part, Matrices):
                yield from size("more heads", part.more_heads or None, m.heads - 1)
        case Depth():
            yield from size("rows", part.cls, m.depth)
            yield from size("cosines", part.cosines, m.depth)
            named = {rows.CLS, "P1", rows.name(m.patches)}
            if set(part.after) != {0, 1, 2, m.depth} or any(not named <= some.keys() for some in (*part.after.values(), part.norm, part.update, part.middle)):
                yield "rows after some of the blocks are missing"
        case StripeView():
            if not part.cells or rows.CLS in part.cells or part.attention.largest is None or part.attention.values is None:
                yield "the stripe has no patches, or its map is not whole"
        case Transform():
            if not m.image == part.crop <= part.resize <= 4 * part.crop or min(part.std) <= 0:
                yield "the sizes or deviations are impossible"
        case Evaluation():
            kinds = {"dog", "cat", "other"}
            if not kinds == set(part.dog) == set(part.cat) or min(*part.dog.values(), *part.cat.values()) < 0 or part.pets > part.test:
                yield "the counts do not belong together"
        case Lab():
            if part.filters.columns != m.patch_values or part.filters.rows != 12:
                yield "filters are 12 rows of 768 numbers"
        case Step():
            if len(part.labels) != 2 or not all(0 <= i < m.classes for i in part.labels) or set(part.gradients) != {"cls", "patch projection", "position"}:
                yield "labels or gradients are missing"
        case Flow():
            if len(part.shape) > 8 or any(isinstance(n, int) and n < 0 for n in part.shape):
                yield "there is no such shape"
        case Subject():
            if part.attention_distance is not None:
                yield from size("blocks of distances", part.attention_distance, m.depth)
                if any(len(heads) != m.heads or min(heads, default=0) < 0 for heads in part.attention_distance):
                    yield "a distance is missing or below 0"


def _story(run: Run) -> Iterator[str]:
    """The maps that slides ask for by name, and pairs of parts that one slide shows together."""
    dog, depth = run.dog, run.model.depth
    ear = dog.place("ear")
    have = {(a.block, a.head, a.query) for a in dog.attention}
    for wanted in ((4, 1, ear), (4, 2, ear), (depth, 1, rows.CLS)):
        if wanted not in have:
            yield f"dog.attention: the map of block {wanted[0]}, head {wanted[1]}, query {wanted[2]} is missing"
    have = {(s.block, s.query) for s in dog.similarity}
    for wanted in ((depth, dog.place(part)) for part in ("ear", "background", "corner", "nose", "chest")):
        if wanted not in have:
            yield f"dog.similarity: the map of block {wanted[0]}, query {wanted[1]} is missing"
    if any(dog.place("other_ear") not in s.pairs for s in dog.similarity if s.query == ear):
        yield f"dog.similarity: the cosine of {ear} with {dog.place('other_ear')} is missing"


def _names(template: dict[str, Any], run: Run) -> dict[str, str]:
    """Row names of the published figures → those at the same places of this run's pictures."""
    places = template["dog"]["photo"]["places"]
    named = {rows.name(places[part]): run.dog.place(part) for part in ("nose", "ear", "other_ear")}
    return named | {rows.name(places["nose"] + 1): rows.name(run.dog.photo.places["nose"] + 1)}


def _lacks(template: Any, value: Any, path: str, names: dict[str, str]) -> Iterator[str]:
    """What the published figures have and the run does not; every slide can be drawn from as much as they have."""
    if isinstance(template, dict):
        for key, part in template.items():
            own = names.get(key, key)
            if key in _FREE or part == []:
                continue
            if not (isinstance(value, dict) and value.get(own) is not None):
                yield f"{path}.{own}".lstrip(".") + " is missing"
            else:
                yield from _lacks(part, value[own], f"{path}.{own}".lstrip("."), names)
    elif isinstance(template, list) and template:
        if len(value) < len(template):
            yield f"{path}: {len(value)} entries, at least {len(template)} are needed"
        elif isinstance(template[0], dict) and not path.endswith(("similarity", "attention")):  # those go by name, see _story
            for i, (known, part) in enumerate(zip(template, value)):
                yield from _lacks(known, part, f"{path}.{i}", names)


def check_pictures(run: Run) -> None:
    """Raise RunError if a picture that the run names is not beside it, or is none."""
    named = [(subject.photo.input_file, run.model.image) for subject in (run.dog, run.cat)]
    named += [(subject.photo.original_file, None) for subject in (run.dog, run.cat)] + [(picture.file, None) for picture in run.gallery]
    for name, side in named:
        path = run.file(name)
        if path is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with Image.open(path, formats=["PNG"]) as opened:
                    if opened.width * opened.height > MOST_PIXELS or (side and opened.size != (side, side)):
                        raise RunError(f"{path} has {opened.width} × {opened.height} pixels, which does not fit the run; measure it again.")
                    opened.verify()
        except RunError:
            raise
        except Exception as error:  # Pillow's reader lets errors of many kinds through when a file is damaged
            why = "is missing" if isinstance(error, FileNotFoundError) else "can't be read as a picture"
            raise RunError(f"{path} belongs to the run {run.name} and {why}; measure it again.") from error
