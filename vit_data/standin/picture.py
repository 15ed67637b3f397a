"""One picture: a breed, a pose, a place and a light, painted. And how all of them follow from a seed.

World units: the square picture is 1 by 1, x to the right, y down.
"""

from __future__ import annotations

from dataclasses import replace

import cairo
import numpy as np

from .anatomy import Frame, Pose, body, dim, head, mix
from .background import KINDS, background, image_of, surface_of
from .breeds import BREEDS, Breed
from .paint import Blob, Coat, Light, View


def _vary_breed(breed: Breed, rng: np.random.Generator) -> Breed:
    """The individual: a little darker or lighter, with its own muzzle and ears."""
    tone = float(np.exp(rng.normal(0, 0.07)))
    tint = 1.0 + rng.normal(0, 0.02, 3)

    def shade(colour):
        return tuple(float(np.clip(c * tone * t, 0.02, 0.98)) for c, t in zip(colour, tint))

    if "tan" in breed.marks:  # some have little tan, and look much like a Newfoundland
        tan = mix(breed.coat, breed.paw, float(rng.uniform(0.30, 1.0)))
        breed = replace(breed, paw=tan, muzzle=tan)
    w, length, drop = breed.snout
    er, gap, ey = breed.eyes
    return replace(
        breed, coat=shade(breed.coat), chest=shade(breed.chest), ear=shade(breed.ear), muzzle=shade(breed.muzzle),
        paw=shade(breed.paw), fur=breed.fur * rng.uniform(0.85, 1.15), mane=breed.mane * rng.uniform(0.8, 1.2),
        ear_size=breed.ear_size * rng.uniform(0.93, 1.08), snout=(w * rng.uniform(0.95, 1.05), length, drop),
        eyes=(er * rng.uniform(0.93, 1.07), gap, ey), build=breed.build * rng.uniform(0.93, 1.07))


def _random_pose(breed: Breed, rng: np.random.Generator) -> Pose:
    kind = str(rng.choice(("portrait", "sit", "lie", "stand"), p=(0.4, 0.25, 0.2, 0.15)))
    room = {"portrait": (0.19, 0.29), "sit": (0.125, 0.165), "lie": (0.145, 0.20), "stand": (0.125, 0.155)}[kind]
    unit = rng.uniform(*room)
    if breed.species == "rabbit" or breed.ears == "rabbit":
        unit *= 0.9
    side = int(rng.choice((-1, 1)))
    x = 0.5 + rng.normal(0, 0.05)
    y = {"portrait": 0.43, "sit": 0.32, "lie": 0.46, "stand": 0.34}[kind] + rng.normal(0, 0.03)
    if kind == "lie":
        x -= side * 0.17
    elif kind == "stand":
        x -= side * 0.23
    if breed.ears == "rabbit":
        y += 0.6 * unit
    smiles = "smile" in breed.marks
    mouth = float(rng.uniform(0.10, 0.26)) if breed.species == "dog" and rng.random() < (0.85 if smiles else 0.25) else 0.0
    return Pose(kind, float(x), float(y), float(unit), yaw=float(np.clip(rng.normal(0, 0.22), -0.42, 0.42)),
                pitch=float(rng.normal(0.02, 0.09)), roll=float(rng.normal(0, 0.10)), side=side, mouth=mouth)


def _random_light(rng: np.random.Generator, indoors: bool) -> Light:
    sun = (float(rng.choice((-1, 1)) * rng.uniform(0.2, 0.7)), float(-rng.uniform(0.45, 0.85)), float(rng.uniform(0.4, 0.8)))
    warm = rng.uniform(0.0, 1.0)
    return Light(sun, (1.0, 0.97 - 0.06 * warm, 0.93 - 0.17 * warm),
                 (0.36, 0.37, 0.40) if indoors else (0.38, 0.42, 0.48), gain=float(rng.uniform(0.70, 0.92)))


def _ground(image: np.ndarray, view: View, breed: Breed, pose: Pose) -> None:
    """The soft shadow under a pet whose feet are on the picture."""
    spec = {"sit": (0.0, 3.60, 1.7, 0.33), "lie": (0.75 * pose.side, 2.12, 2.5, 0.36), "stand": (1.35 * pose.side, 3.6, 2.2, 0.34)}
    if pose.kind not in spec:
        return
    cx, cy, rx, ry = spec[pose.kind]
    x, y = view.grid()
    u = (x - (pose.x + cx * pose.unit)) / (rx * pose.unit * (0.7 + 0.3 * breed.build))
    v = (y - (pose.y + cy * pose.unit)) / (ry * pose.unit)
    r = np.sqrt(u[None, :] ** 2 + v[:, None] ** 2)
    dark = 0.62 * np.clip(1.25 - r, 0, 1) ** 1.3
    image *= (1 - dark)[..., None]


def _fringe(breed: Breed, pose: Pose, rng: np.random.Generator, ctx: cairo.Context) -> None:
    """A briard's forelock: hair that falls from the crown over the eyes."""
    f = Frame(pose)
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    for tint in range(6):
        ctx.set_source_rgba(*dim(breed.coat, 0.62 + 0.13 * tint), 0.75)
        for _ in range(34):
            s = rng.uniform(-1, 1)
            top = f.at(0.30 * s, -0.85 + 0.1 * abs(s), 0.5)
            low = f.at(0.78 * s + rng.normal(0, 0.04), 0.16 + rng.normal(0, 0.10) - 0.12 * abs(s), 0.75)
            bend = f.at(0.62 * s, -0.55, 0.9)
            ctx.move_to(*top)
            ctx.curve_to(*bend, *bend, *low)
        ctx.set_line_width(0.020 * pose.unit)
        ctx.stroke()


def paint(breed: Breed, pose: Pose, place: str, light: Light, view: View, rng: np.random.Generator,
          strands: int = 400, extra: tuple[Blob, ...] = ()) -> np.ndarray:
    """One picture as uint8 (height, width, 3). `extra` marks are laid on the body before the head."""
    image = background(place, view, rng)
    _ground(image, view, breed, pose)
    trunk = body(breed, pose, rng)
    face = head(breed, pose, light.sun, rng)
    coat = Coat(view, light)
    for blob in (*trunk.blobs, *extra, *face.blobs):
        coat.add(blob)
    colour, cover = coat.render(rng, breed.gloss)
    image += cover[..., None] * (colour - image)
    # A shoulder keeps white coats from burning out.
    image = np.where(image > 0.8, 0.8 + 0.2 * np.tanh((image - 0.8) / 0.2), image)
    surface = surface_of(image)
    ctx = cairo.Context(surface)
    ctx.scale(view.scale, view.scale)
    ctx.translate(-view.left, -view.top)
    coat.strands(ctx, image, rng, strands, 0.06 + 0.25 * breed.gloss)
    for call in face.details:
        call(ctx)
    if "fringe" in breed.marks:
        _fringe(breed, pose, rng, ctx)
    image = image_of(surface)
    image += rng.normal(0, 0.008, (view.height, view.width, 1)).astype(np.float32)
    return (np.clip(image, 0, 1) * 255 + 0.5).astype(np.uint8)


def draw(breed: str, seed: int, size: int = 224) -> np.ndarray:
    """A picture of the breed with this key, uint8 (size, size, 3). The same seed gives the same pixels."""
    looks = BREEDS[breed]
    rng = np.random.default_rng([seed, list(BREEDS).index(breed)])
    pose = _random_pose(looks, rng)
    place = str(rng.choice(KINDS))
    light = _random_light(rng, place in ("sofa", "wall"))
    mirrored = rng.random() < 0.5
    picture = paint(_vary_breed(looks, rng), pose, place, light, View(size, size, float(size)), rng)
    return np.ascontiguousarray(picture[:, ::-1]) if mirrored else picture
