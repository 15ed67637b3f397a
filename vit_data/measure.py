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

from . import context, covers, lab_run, lab_tensors, photos, rows
from .evaluation import standin_test
from .forward import TOLERANCE, MeasureError, Pass, deterministic, linear_projection, patch_rows, record, verify
from .photos import Picture
from .run import (AttentionMap, AttentionRow, BlockOne, BlockWalk, Checkpoint, Checks, ClassRow, ClassScore, ClsStart, Depth, GalleryPicture, Grid, HeadGrids,
                  HeadOne, Matrices, Model, Parameters, Patch, Photo, PixelRow, Prediction, Product, Projection, Provenance, Run, SimilarityMap, Subject,
                  TopClass, Transform, Vector, Work, significant)
from .toy import toy

ORIGINAL = 640  # pixels; longest side of the stored picture before the transform
ANOTHER_KIND = 817  # ImageNet-1k index of a class that is no animal: sports car
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
        subjects[1] = subjects[1].model_copy(
            update={"attention": [_attention(passes[1], 4, 1, rows.name(dog.places["ear"]))]}
        )  # the dog's query, another picture
        subjects[0] = subjects[0].model_copy(update={"class_rows": _class_rows(model, passes[0], _three_classes(*subjects), label)})
        stripe = context.moved_stripe(model, config["mean"][0], config["std"][0])
        lab = lab_run.measure(model, torch.stack([each.x for each in inputs]), [_answer(subject) for subject in subjects],
                              torch.stack([done.logits for done in passes]), torch.from_numpy(np.array(inputs[0].crop)))
    animals = photos.gallery()
    gallery = [GalleryPicture(kind=a.kind, species=a.species, breed=a.breed, file=f"{name}.gallery.{i}.png") for i, a in enumerate(animals, 1)]
    run = Run(
        name=name,
        provenance=Provenance(kind=kind(checkpoint, dog, cat), checkpoint=checkpoint, date=date, versions={
            "python": platform.python_version(), "torch": torch.__version__, "timm": timm.__version__, "numpy": np.__version__, "pillow": PIL.__version__}),
        model=_model(model, transform, config), dog=subjects[0], cat=subjects[1], projection_difference=projection_difference, toy=toy(), gallery=gallery,
        stripe=stripe, lab=lab,
        checks=Checks(largest_difference=differences, tolerance=TOLERANCE),
        evaluation=standin_test() if checkpoint.source == "standin" else None)
    pictures = {entry.file: _png(animal.image) for entry, animal in zip(gallery, animals, strict=True)}
    for each, subject in zip(inputs, subjects, strict=True):
        original = each.picture.image.copy()
        original.thumbnail((ORIGINAL, ORIGINAL), Image.Resampling.LANCZOS)
        pictures[subject.photo.input_file] = _png(each.crop)
        pictures[subject.photo.original_file] = _png(original)
    pictures[lab_tensors.file_name(name)] = _lab(passes, run)
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


def _lab(passes: list[Pass], run: Run) -> bytes:
    """The file that the lab page is built from."""
    q, k, weights, out = (
        lab_tensors.stack((getattr(block, name).numpy() for block in done.blocks) for done in passes) for name in ("q", "k", "weights", "out")
    )
    try:
        return lab_tensors.dumps(lab_tensors.quantize(q, k, out, weights), run)
    except lab_tensors.LabError as error:
        raise MeasureError(f"{error} So no run was written.") from error


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
        top_class=_top_class(model, done, top[0]),
        projection=Projection(linear=Vector.of(linear[nose - 1]), conv=Vector.of(done.c[nose - 1])),
        attention_distance=context.attention_distance(done, model.patch_embed.grid_size[1], model.patch_embed.patch_size[0]))


def _answer(subject: Subject) -> int:
    """The class that a training step would teach: the known breed, or the top label where none is known."""
    return subject.photo.known if subject.photo.known is not None else subject.prediction.top[0].index


def _dog_only(model: nn.Module, given: _Input, done: Pass, subject: Subject, label: Callable[[int], str], config: dict[str, Any],
              tell: Callable[[int], None]) -> Subject:
    """Adds what the story follows on the dog alone."""
    places, best = given.picture.places, subject.prediction.top[0]
    ear, nose = rows.name(places["ear"]), places["nose"]
    queries = [rows.name(places[part]) for part in ("ear", "background", "corner", "nose", "chest")]
    pairs = {ear: [rows.name(places["other_ear"])]}
    return subject.model_copy(update={
        "patches": _patches(model, given, done), "block1": _block_one(done, rows.name(nose)),
        "attention": [_attention(done, 4, 1, ear), _attention(done, 4, 2, ear), _attention(done, 12, 1, rows.CLS)],
        "similarity": [*(_similarity(done, 12, query, pairs.get(query, [])) for query in dict.fromkeys(queries)),
                       _similarity(done, 1, ear, pairs[ear])],
        "walk": _walk(done, ear, pairs[ear][0]),
        "projection": subject.projection.model_copy(update={"product": _product(model, done, nose)}),
        "matrices": _matrices(model, done), "depth": _depth(done),
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
        cls_messages=[Vector.of(part) for part in block.joined[0].split(head_width)],
        cls_attention=[_attention(done, 1, h + 1, rows.CLS) for h in range(len(block.weights))], joined=Vector.of(block.joined[0]),
        update=Vector.of(block.update[0]), u=Vector.of(block.u[0]), ln2_cls=Vector.of(block.ln2[0]), hidden_before=Vector.of(block.before[0]),
        hidden_after=Vector.of(block.after[0]), mlp_update=Vector.of(block.mlp_update[0]), out=Vector.of(block.out[0]))


def _matrices(model: nn.Module, done: Pass) -> Matrices:
    block = done.blocks[0]
    return Matrices(p=Grid.of(model.pos_embed[0]), e=Grid.of(done.e), x=Grid.of(block.ln1), q=Grid.of(block.q[0]), k=Grid.of(block.k[0]), v=Grid.of(block.v[0]),
                    more_heads=[HeadGrids(q=Grid.of(q), k=Grid.of(k), v=Grid.of(v)) for q, k, v in zip(block.q[1:], block.k[1:], block.v[1:], strict=True)],
                    messages=Grid.of(block.joined), out=Grid.of(block.out))


def _depth(done: Pass) -> Depth:
    states = torch.stack([done.e, *(block.out for block in done.blocks)])  # 13 × 197 × 192
    cosines = F.cosine_similarity(states[:, 0].double(), states[-1, 0].double(), dim=-1).clamp(-1, 1)
    named, depth = [0, 1, states.shape[1] - 1], len(done.blocks)

    def some(matrix: Tensor) -> dict[str, Vector]:
        return {rows.name(i): Vector.of(matrix[i]) for i in named}
    return Depth(cls=[Vector.of(row) for row in states[1:, 0]], cosines=_numbers(cosines[1:]), start=significant(cosines[0].item()),
                 after={n: some(states[n]) for n in (0, 1, 2, depth)}, norm=some(done.norm),
                 update=some(done.blocks[0].update), middle=some(done.blocks[0].u))


def _top_class(model: nn.Module, done: Pass, index: int) -> TopClass:
    products = (done.h.double() * model.head.weight[index].double()).tolist()
    return TopClass(weights=Vector.of(model.head.weight[index]), bias=significant(model.head.bias[index].item()),
                    products=[significant(p) for p in products[:2]], others=significant(sum(products[2:])),
                    logit=significant(done.logits[index].item()))


def _three_classes(dog: Subject, cat: Subject) -> list[int]:
    """The dog's top label, the cat's, and a class of another kind; where two are the same, the next best that differs."""
    wanted = [dog.prediction.top[0].index, *(s.index for s in cat.prediction.top[:1]), ANOTHER_KIND, *(s.index for s in dog.prediction.top[1:])]
    return list(dict.fromkeys(wanted))[:3]


def _class_rows(model: nn.Module, done: Pass, indices: list[int], label: Callable[[int], str]) -> list[ClassRow]:
    """The head's rows for these classes and what the final CLS row scores with each."""
    return [ClassRow(index=i, label=label(i), weights=Vector.of(model.head.weight[i]), bias=significant(model.head.bias[i].item()),
                     logit=significant(done.logits[i].item())) for i in indices]


def _attention(done: Pass, block: int, head: int, query: str) -> AttentionMap:
    row = done.blocks[block - 1].weights[head - 1, rows.index(query)]
    other = [i for i in range(1, len(row)) if rows.name(i) != query]
    strongest = max(other, key=lambda i: row[i].item())
    return AttentionMap(block=block, head=head, query=query, values=_numbers(row), cls_weight=significant(row[0].item()), strongest=rows.name(strongest),
                        strongest_weight=significant(row[strongest].item()), largest=significant(row[1:].max().item()))


def _walk(done: Pass, query: str, partner: str) -> BlockWalk:
    blocks, head = range(1, len(done.blocks) + 1), 1
    return BlockWalk(query=query, partner=partner, head=head, attention=[_attention(done, b, head, query) for b in blocks],
                     similarity=[_similarity(done, b, query, [partner]) for b in blocks])


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
