"""From a model and two pictures to a run: every number that the slides print, measured and checked."""

from __future__ import annotations

import io
import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import PIL
import timm
import torch
import torch.nn.functional as F
from PIL import Image
from timm.data import ImageNetInfo, create_transform, resolve_model_data_config
from torch import Tensor, nn

from . import covers, photos, rows
from .forward import TOLERANCE, MeasureError, Pass, deterministic, linear_projection, patch_rows, record, verify
from .photos import Picture
from .run import (AttentionMap, AttentionRow, BlockOne, Checkpoint, Checks, ClassScore, ClsStart, GalleryPicture, HeadOne, Model, Parameters, Patch, Photo,
                  PixelRow, Prediction, Product, Projection, Provenance, Run, SimilarityMap, Subject, TopClass, Transform, Vector, Work,
                  significant)
from .toy import toy

ORIGINAL = 640  # pixels; longest side of the stored picture before the transform
STEPS = 230  # what `tell` counts to; a covered picture is one step
Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class Measured:
    """A finished run and the pictures that belong beside it, by file name."""

    run: Run
    pictures: dict[str, bytes]


@dataclass(frozen=True)
class _Input:
    """A picture on its way into the model."""

    picture: Picture
    crop: Image.Image  # 224 × 224 RGB
    x: Tensor  # 3 × 224 × 224, normalized


def measure(model: nn.Module, checkpoint: Checkpoint, dog: Picture, cat: Picture, *, name: str, date: str,
            tell: Tell = lambda what, done: None) -> Measured:
    """Run ``model`` on both pictures and on the covered copies of the dog, and fill a run called ``name``.

    ``date`` is the day to record, ISO 8601. ``tell`` hears what is being done and how many of ``STEPS`` are over.
    Nothing is written. Raises MeasureError if the model's numbers differ from the lecture's formulas.
    """
    with deterministic(), torch.inference_mode():
        config = resolve_model_data_config(model)
        transform = create_transform(**config, is_training=False)
        inputs = [_prepare(transform, picture, config) for picture in (dog, cat)]
        tell("one forward pass on each picture", 2)
        passes = [record(model, each.x) for each in inputs]
        tell("recomputing both passes by hand", 4)
        differences: dict[str, float] = {}
        for done in passes:
            for what, far in verify(model, done).items():
                differences[what] = max(far, differences.get(what, 0.0))
        linear = [linear_projection(model, done.x) for done in passes]
        projection_difference = max((by_rows - done.c).abs().max().item() for by_rows, done in zip(linear, passes, strict=True))
        tell("filling the run", 20)
        label = _labels()
        nose = dog.places["nose"]  # both pictures show the same patch where they are compared
        subjects = [_subject(model, name, *each, nose, label) for each in zip(inputs, passes, linear, strict=True)]
        subjects[0] = _dog_only(model, inputs[0], passes[0], subjects[0], label, config, lambda n: tell("covering the dog's picture", 30 + n))
    animals = photos.gallery()
    gallery = [GalleryPicture(kind=a.kind, species=a.species, breed=a.breed, file=f"{name}.gallery.{i}.png") for i, a in enumerate(animals, 1)]
    run = Run(
        name=name,
        provenance=Provenance(kind=kind(checkpoint, dog, cat), checkpoint=checkpoint, date=date, versions={
            "python": platform.python_version(), "torch": torch.__version__, "timm": timm.__version__, "numpy": np.__version__, "pillow": PIL.__version__}),
        model=_model(model, transform, config), dog=subjects[0], cat=subjects[1], projection_difference=projection_difference, toy=toy(), gallery=gallery,
        checks=Checks(largest_difference=differences, tolerance=TOLERANCE))
    pictures = {entry.file: _png(animal.image) for entry, animal in zip(gallery, animals, strict=True)}
    for each, subject in zip(inputs, subjects, strict=True):
        original = each.picture.image.copy()
        original.thumbnail((ORIGINAL, ORIGINAL), Image.Resampling.LANCZOS)
        pictures[subject.photo.input_file] = _png(each.crop)
        pictures[subject.photo.original_file] = _png(original)
    tell("done", STEPS)
    return Measured(run, pictures)


def kind(checkpoint: Checkpoint, dog: Picture, cat: Picture) -> str:
    """``lecture`` only for the lecture's checkpoint on both of its photographs; ``standin`` only on the drawings."""
    if checkpoint.source == "random":
        return "random"
    if checkpoint.source == "hub" and dog.is_lecture and cat.is_lecture:
        return "lecture"
    if checkpoint.source == "standin" and dog.kind == cat.kind == "drawing":
        return "standin"
    return "custom"


def _prepare(transform: Any, picture: Picture, config: dict[str, Any]) -> _Input:
    """timm's own evaluation transform, stopped half way to keep the crop as pixels."""
    resize, crop, *rest = transform.transforms
    cropped = crop(resize(picture.image))
    x: Any = cropped
    for step in rest:
        x = step(x)
    mean, std = (torch.tensor(config[key])[:, None, None] for key in ("mean", "std"))
    by_hand = (torch.from_numpy(np.array(cropped)).permute(2, 0, 1).float() / 255 - mean) / std
    if not (x - by_hand).abs().max().item() < 1e-5:
        raise MeasureError("timm's transform does something else than resize, crop and normalize, so no run was written.")
    return _Input(picture, cropped, x)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _labels() -> Callable[[int], str]:
    """timm's ImageNet-1k descriptions, first name only: 256 → ``Newfoundland``."""
    info = ImageNetInfo()
    return lambda index: info.index_to_description(index).split(",")[0].strip()


def _scores(done: Pass, label: Callable[[int], str]) -> Callable[[int], ClassScore]:
    return lambda index: ClassScore(index=index, label=label(index), logit=significant(done.logits[index].item()),
                                    probability=significant(done.probabilities[index].item()))


def _model(model: nn.Module, transform: Any, config: dict[str, Any]) -> Model:
    embed, block = model.patch_embed, model.blocks[0]
    tokens, width = model.pos_embed.shape[1:]
    resize, depth, heads = transform.transforms[0].size, len(model.blocks), block.attn.num_heads

    def count(part: nn.Module) -> int:
        return sum(p.numel() for p in part.parameters())
    return Model(
        image=embed.img_size[0], patch=embed.patch_size[0], grid=embed.grid_size[0], patches=embed.num_patches, tokens=tokens,
        channels=embed.proj.in_channels, patch_values=embed.proj.weight[0].numel(), width=width, heads=heads, head_width=width // heads,
        depth=depth, hidden=block.mlp.fc1.out_features, classes=model.head.out_features,
        transform=Transform(resize=resize if isinstance(resize, int) else resize[0], crop=config["input_size"][-1],
                            interpolation=config["interpolation"], mean=list(config["mean"]), std=list(config["std"])),
        parameters=Parameters(
            patch_weights=embed.proj.weight.numel(), patch_biases=embed.proj.bias.numel(), patch_total=count(embed), cls=model.cls_token.numel(),
            position_patches=model.pos_embed[:, 1:].numel(), position_total=model.pos_embed.numel(), block=count(block),
            head=count(model.head), total=count(model)),
        work=Work(scores_per_head=tokens**2, scores_total=tokens**2 * heads * depth))


def _subject(model: nn.Module, run: str, given: _Input, done: Pass, linear: Tensor, nose: int, label: Callable[[int], str]) -> Subject:
    """What is measured on both pictures. ``nose`` is the dog's, whose patch is compared across the pictures."""
    picture = given.picture
    score = _scores(done, label)
    order = sorted(range(len(done.logits)), key=lambda i: (-done.probabilities[i].item(), i))
    top, probability = order[:3], done.probabilities
    prediction = Prediction(
        top=[score(i) for i in top], rest=significant(probability[order[3:]].sum().item()),
        known=None if picture.known is None else score(picture.known),
        correct=None if picture.known is None else top[0] == picture.known,
        loss=significant(max(0.0, -probability[top[0]].log().item())),
        logits=_numbers(done.logits), probabilities=_numbers(probability))
    photo = Photo(id=picture.id, kind=picture.kind, species=picture.species, known=picture.known, known_label=picture.known_label,
                  sha256=picture.sha256, width=picture.image.width, height=picture.image.height, places=picture.places,
                  input_file=f"{run}.{picture.species}.png", original_file=f"{run}.{picture.species}.original.png")
    return Subject(
        photo=photo, patches={rows.name(n): Patch(c=Vector.of(done.c[n - 1])) for n in (nose, picture.places["nose"])},
        cls=ClsStart(s=Vector.of(model.cls_token[0, 0]), p=Vector.of(model.pos_embed[0, 0]), e=Vector.of(done.e[0])),
        block1=BlockOne(u=Vector.of(done.blocks[0].u[0])), h=Vector.of(done.h), prediction=prediction,
        projection=Projection(linear=Vector.of(linear[nose - 1]), conv=Vector.of(done.c[nose - 1])))


def _dog_only(model: nn.Module, given: _Input, done: Pass, subject: Subject, label: Callable[[int], str], config: dict[str, Any],
              tell: Callable[[int], None]) -> Subject:
    """Adds what the story follows on the dog alone."""
    places, best = given.picture.places, subject.prediction.top[0]
    ear, nose = rows.name(places["ear"]), places["nose"]
    queries = [rows.name(places[part]) for part in ("ear", "background", "corner", "nose", "chest")]
    pairs = {ear: [rows.name(places["other_ear"])]}
    return subject.model_copy(update={
        "patches": _patches(model, given, done), "block1": _block_one(done, rows.name(nose)), "top_class": _top_class(model, done, best.index),
        "attention": [_attention(done, 4, 1, ear), _attention(done, 4, 2, ear), _attention(done, 12, 1, rows.CLS)],
        "similarity": [*(_similarity(done, 12, query, pairs.get(query, [])) for query in dict.fromkeys(queries)),
                       _similarity(done, 1, ear, pairs[ear])],
        "projection": subject.projection.model_copy(update={"product": _product(model, done, nose)}),
        "covers": covers.measure(model, done.x, best, label, config["mean"][0], tell)})


def _numbers(values: Tensor) -> list[float]:
    return [significant(v) for v in values.tolist()]


def _patches(model: nn.Module, given: _Input, done: Pass) -> dict[str, Patch]:
    places, x_rows = given.picture.places, patch_rows(done.x, model.patch_embed.patch_size[0])
    nose = places["nose"]
    found = {}
    for number in (1, nose, nose + 1, places["ear"], len(x_rows)):
        parts: dict[str, Any] = {"c": Vector.of(done.c[number - 1])}
        if number in (nose, nose + 1):
            top, left, bottom, right = rows.pixel_box(number, model.patch_embed.grid_size[1], model.patch_embed.patch_size[0])
            red, green, blue = x_rows[number - 1].chunk(3)
            parts |= {"pixels": [tuple(p) for p in np.asarray(given.crop)[top:bottom, left:right].reshape(-1, 3).tolist()],
                      "x": PixelRow(red=Vector.of(red), green=Vector.of(green), blue=Vector.of(blue))}
        if number == nose:
            parts |= {"p": Vector.of(model.pos_embed[0, number]), "e": Vector.of(done.e[number])}
        found[rows.name(number)] = Patch(**parts)
    return found


def _block_one(done: Pass, nose: str) -> BlockOne:
    block, head = done.blocks[0], 0
    named = list(dict.fromkeys((rows.CLS, "P1", nose, rows.name(len(done.c)))))
    weights, values = block.weights[head], block.v[head].double()

    def attention(receiver: str) -> AttentionRow:
        row = weights[rows.index(receiver)]
        return AttentionRow(receiver=receiver, weights={n: significant(row[rows.index(n)].item()) for n in named}, values=_numbers(row),
                            scores=_numbers(block.scores[head, rows.index(receiver)]))
    to_cls = weights[0][:, None] * values  # 197 × 64: every source's contribution to CLS
    others = [i for i in range(len(to_cls)) if rows.name(i) not in named]
    head_width = values.shape[-1]
    return BlockOne(
        ln_cls=Vector.of(block.ln1[0]),
        head1=HeadOne(
            q={n: Vector.of(block.q[head, rows.index(n)]) for n in (rows.CLS, nose)},
            k={n: Vector.of(block.k[head, rows.index(n)]) for n in (rows.CLS, nose)},
            v={n: Vector.of(block.v[head, rows.index(n)]) for n in named},
            attention={n: attention(n) for n in (rows.CLS, nose)},
            contributions={n: Vector.of(to_cls[rows.index(n)]) for n in named},
            others=Vector.of(to_cls[others].sum(0)), others_count=len(others),
            p_message=Vector.of(block.joined[rows.index(nose), :head_width])),
        cls_messages=[Vector.of(part) for part in block.joined[0].split(head_width)], joined=Vector.of(block.joined[0]),
        update=Vector.of(block.update[0]), u=Vector.of(block.u[0]), hidden_before=Vector.of(block.before[0]),
        hidden_after=Vector.of(block.after[0]), mlp_update=Vector.of(block.mlp_update[0]), out=Vector.of(block.out[0]))


def _top_class(model: nn.Module, done: Pass, index: int) -> TopClass:
    products = (done.h.double() * model.head.weight[index].double()).tolist()
    return TopClass(weights=Vector.of(model.head.weight[index]), bias=significant(model.head.bias[index].item()),
                    products=[significant(p) for p in products[:2]], others=significant(sum(products[2:])),
                    logit=significant(done.logits[index].item()))


def _attention(done: Pass, block: int, head: int, query: str) -> AttentionMap:
    row = done.blocks[block - 1].weights[head - 1, rows.index(query)]
    other = [i for i in range(1, len(row)) if rows.name(i) != query]
    strongest = max(other, key=lambda i: row[i].item())
    return AttentionMap(block=block, head=head, query=query, values=_numbers(row), cls_weight=significant(row[0].item()), strongest=rows.name(strongest),
                        strongest_weight=significant(row[strongest].item()), largest=significant(row[1:].max().item()))


def _similarity(done: Pass, block: int, query: str, pairs: list[str]) -> SimilarityMap:
    features = F.normalize(done.blocks[block - 1].out[1:].double(), dim=-1)
    cosine = (features @ features[rows.index(query) - 1]).clamp(-1, 1)
    strongest = max((i for i in range(len(cosine)) if rows.name(i + 1) != query), key=lambda i: cosine[i].item())
    return SimilarityMap(block=block, query=query, values=_numbers(cosine), strongest=rows.name(strongest + 1),
                         strongest_value=significant(cosine[strongest].item()),
                         pairs={n: significant(cosine[rows.index(n) - 1].item()) for n in pairs})


def _product(model: nn.Module, done: Pass, nose: int) -> Product:
    """The pixel and weight that the lecture picks out: output 0, green, row 2, column 3 of the nose patch."""
    output, channel, row, column = 0, 1, 2, 3
    conv = model.patch_embed.proj
    flat = channel * conv.kernel_size[0] * conv.kernel_size[1] + row * conv.kernel_size[1] + column
    x, weights = patch_rows(done.x, conv.kernel_size[0])[nose - 1].double(), conv.weight[output].flatten().double()
    bias = conv.bias[output].item()
    return Product(output=output, channel=channel, row=row, column=column, flat=flat, x=significant(x[flat].item()),
                   weight=significant(weights[flat].item()), product=significant((x[flat] * weights[flat]).item()), bias=significant(bias),
                   total=significant((x @ weights).item() + bias))
