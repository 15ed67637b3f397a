"""From a breed and a pose to blobs of coat and the smooth parts of the face.

A head has its own space: origin in the middle of the skull, x right, y down, z towards the viewer, half the skull's
width is 1. Turning it (yaw, pitch, roll) and looking straight at it gives places on the picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from . import features
from .breeds import RGB, Breed
from .paint import Blob


@dataclass(frozen=True)
class Pose:
    """How one pet is put on the picture. Places in world units, angles in radians."""

    kind: str = "portrait"  # portrait, sit, lie or stand
    x: float = 0.5  # middle of the skull
    y: float = 0.4
    unit: float = 0.2  # half the width of the skull
    yaw: float = 0.0  # above 0: looks to the right of the picture
    pitch: float = 0.0  # above 0: looks up
    roll: float = 0.0
    side: int = 1  # which way the body goes
    mouth: float = 0.0  # how far it is open, head units


@dataclass
class Frame:
    """The head's space on the picture."""

    pose: Pose
    flat: bool = False  # the body's frame: placed and sized by the pose, but not turned with the head

    def at(self, x: float, y: float, z: float = 0.0) -> tuple[float, float]:
        """Head place to world place."""
        p = self.pose
        if not self.flat:
            x, z = x * np.cos(p.yaw) + z * np.sin(p.yaw), z * np.cos(p.yaw) - x * np.sin(p.yaw)
            y, z = y * np.cos(p.pitch) - z * np.sin(p.pitch), z * np.cos(p.pitch) + y * np.sin(p.pitch)
            x, y = x * np.cos(p.roll) - y * np.sin(p.roll), x * np.sin(p.roll) + y * np.cos(p.roll)
        return p.x + x * p.unit, p.y + y * p.unit

    def blob(self, at, radii, colour: RGB, root=None, turn: float = 0.0, fur: float = 0.1, **more) -> Blob:
        """A blob at a head place; `root` (head place) is where its hair comes from, its middle if None."""
        x, y = self.at(*at)
        unit = self.pose.unit
        return Blob(x, y, radii[0] * unit, radii[1] * unit, colour, self.at(*(root or at)),
                    turn=turn + (0.0 if self.flat else self.pose.roll), fur=fur * unit, **more)


@dataclass
class Animal:
    """What the painter needs: blobs from back to front, then drawing calls that take a cairo context."""

    blobs: list[Blob] = field(default_factory=list)
    details: list[Callable] = field(default_factory=list)


def mix(a: RGB, b: RGB, part: float) -> RGB:
    """Colour between a (part 0) and b (part 1)."""
    return tuple(x + (y - x) * part for x, y in zip(a, b))


def dim(a: RGB, factor: float) -> RGB:
    """Colour a, darker (factor below 1) or lighter, at most white."""
    return tuple(min(1.0, x * factor) for x in a)


def _spots(rng, frame: Frame, centre, spread, n, colour, size, fur) -> list[Blob]:
    """Marks strewn over an ellipse of the body."""
    found = []
    for _ in range(n):
        a, r = rng.uniform(0, 2 * np.pi), np.sqrt(rng.uniform(0, 1))
        at = (centre[0] + spread[0] * r * np.cos(a), centre[1] + spread[1] * r * np.sin(a), 0.0)
        s = rng.uniform(*size)
        found.append(frame.blob(at, (s, s * rng.uniform(0.7, 1.2)), colour, turn=rng.uniform(0, 3), fur=fur, soft=0.4,
                                mark=True))
    return found


def _stripes(frame: Frame, centre, spread, n, colour, across, wide) -> list[Blob]:
    """Bars over an ellipse of the body; `across` is their direction in radians."""
    found = []
    for i in range(n):
        t = -0.85 + 1.7 * (i + 0.5) / n
        at = (centre[0] + spread[0] * t * np.cos(across + np.pi / 2), centre[1] + spread[1] * t * np.sin(across + np.pi / 2), 0)
        reach = np.sqrt(1 - t * t) * (abs(spread[0] * np.cos(across)) + abs(spread[1] * np.sin(across)))
        for side in (-1, 1):
            place = (at[0] + side * reach * 0.62 * np.cos(across), at[1] + side * reach * 0.62 * np.sin(across) - 0.05, 0)
            found.append(frame.blob(place, (reach * 0.45, wide), colour, turn=across + 0.22 * side, soft=0.7, mark=True,
                                    bulge=0.85))
    return found


def body(breed: Breed, pose: Pose, rng: np.random.Generator) -> Animal:
    """Trunk, legs, paws and tail, all behind the head."""
    g, s = breed.build, pose.side
    lift = 0.35 if pose.kind == "sit" else 0.0
    f = Frame(replace(pose, y=pose.y - lift * pose.unit), flat=True)
    out = Animal()
    fur = breed.fur * 1.25
    slim = 0.75 + 0.25 * g
    cat = breed.species == "cat"
    leg = mix(breed.coat, breed.paw, 0.6)
    inner: list[Blob] = []

    def trunk(at, radii, colour, root, **more):
        out.blobs.append(f.blob((*at, 0), radii, colour, (*root, 0), fur=fur, **more))

    def limb(x, top, bottom, wide, colour=leg, z=0.0):
        mid, half = (top + bottom) / 2, (bottom - top) / 2
        out.blobs.append(f.blob((x, mid, z), (wide, half * 1.15), colour, (x * 0.9, top - 1.0, 0), fur=fur * 0.7,
                                soft=0.35, bulge=0.9, taper=-0.22, shadow=0.35))

    def paw(x, y, r):
        dark = sum(breed.paw) < 0.8
        out.blobs.append(f.blob((x, y, 0), (r * 1.12, r * 0.66), breed.paw, (x, y - 1.0, 0), fur=min(fur * 0.4, 0.05), soft=0.28,
                                shadow=0.5))
        px, py = f.at(x, y)
        out.details.append(partial(features.claws, x=px, y=py, rx=r * pose.unit, ry=r * 0.62 * pose.unit, dark=dark))

    def tail(x, y, turn, long, thick):
        # (x, y) is where it joins the body; from there it goes up, leaning by `turn`.
        tx, ty = x + np.sin(turn) * long * 0.9, y - np.cos(turn) * long * 0.9
        out.blobs.append(f.blob((tx, ty, 0), (thick, long), breed.ear if "points" in breed.marks else breed.coat,
                                (x - np.sin(turn) * long, y + np.cos(turn) * long, 0), turn=turn, fur=fur * 1.2, soft=0.35,
                                taper=-0.2))

    thin = 0.22 if cat else 0.30
    if pose.kind == "portrait":
        trunk((0.0, 2.45), (1.30 * g, 1.60), breed.coat, (0, -0.6))
        trunk((0.0, 1.1), (0.80 * slim, 1.3), breed.coat, (0, -0.6), taper=0.22, soft=0.3, shadow=0.0)
        trunk((-0.92 * g, 2.75), (0.58 * g, 1.15), breed.coat, (-0.3, -0.4), soft=0.6, shadow=0.3)
        trunk((0.92 * g, 2.75), (0.58 * g, 1.15), breed.coat, (0.3, -0.4), soft=0.6, shadow=0.3)
        trunk((0.0, 1.95), (0.72 * slim, 1.15), breed.chest, (0, -0.4), soft=0.8, shadow=0.0)
        where = len(out.blobs)
        centre, spread = (0.0, 2.3), (1.4 * g, 1.3)
    elif pose.kind == "sit":
        tail(0.9 * g * s, 3.6, 1.25 * s, 0.75, 0.24 if not cat or breed.fur > 0.1 else 0.13)
        trunk((0, 2.3), (0.98 * g, 1.65), breed.coat, (0, -0.4), taper=0.2)
        trunk((0.0, 1.0), (0.62 * slim, 1.0), breed.coat, (0, -0.6), taper=0.2, soft=0.3, shadow=0.0)
        for side in (-1, 1):
            trunk((0.86 * g * side, 3.2), (0.56 * g, 0.82), breed.coat, (0.3 * side, 1.6), soft=0.35)
            paw(1.02 * g * side, 3.84, 0.30)
        trunk((0, 1.75), (0.72 * slim, 1.12), breed.chest, (0, -0.4), soft=0.7, shadow=0.2)
        where = len(out.blobs)
        for side in (-1, 1):
            limb(0.38 * slim * side, 2.0, 3.8, thin * slim)
            paw(0.40 * slim * side, 3.92, thin * 1.25)
        centre, spread = (0.0, 2.4), (1.2 * g, 1.4)
    elif pose.kind == "lie":
        tail(2.1 * s, 1.85, 1.5 * s, 0.6, 0.24 if not cat or breed.fur > 0.1 else 0.13)
        trunk((0.1 * s, 0.8), (0.72 * slim, 0.9), breed.coat, (0, -0.6), taper=0.2, soft=0.3)
        trunk((0.85 * s, 1.05), (1.75 * (0.8 + 0.2 * g), 1.05 * g), breed.coat, (-0.5 * s, -0.4))
        trunk((1.75 * s, 1.45), (0.74 * g, 0.70 * g), breed.coat, (1.0 * s, 0.4), soft=0.35)
        paw(1.65 * s, 2.02, 0.32)
        trunk((0, 1.15), (0.86 * slim, 0.85), breed.chest, (0, -0.4), soft=0.6, shadow=0.25)
        where = len(out.blobs)
        for side in (-1, 1):
            limb(0.55 * slim * side, 1.2, 2.05, thin * 1.15)
            paw(0.58 * slim * side, 2.12, thin * 1.3)
        centre, spread = (1.0 * s, 1.1), (1.6, 0.9 * g)
    else:
        tail(2.75 * s, 1.05, 0.55 * s if not cat else 0.25 * s, 0.8,
             0.26 if not cat or breed.fur > 0.1 else 0.12)
        for x in (0.55, 2.35):
            limb(x * s, 1.9, 3.35, thin * 0.95, dim(leg, 0.72))
            paw(x * s, 3.4, thin * 1.1)
        trunk((1.45 * s, 1.35), (1.65, 0.88 * g), breed.coat, (-1.5 * s, 0.2))
        trunk((0.25 * s, 0.85), (0.66 * slim, 0.95), breed.coat, (-0.2 * s, -0.6), turn=0.35 * s, soft=0.3, shadow=0.0)
        trunk((2.45 * s, 1.55), (0.68, 0.86 * g), breed.coat, (1.6 * s, 0.2), soft=0.4, shadow=0.2)
        trunk((0.15 * s, 1.25), (0.82 * slim, 0.95), breed.chest, (0, -0.5), soft=0.6, shadow=0.25)
        where = len(out.blobs)
        for x in (0.05, 2.7):
            limb(x * s, 1.8, 3.5, thin * 1.1)
            paw((x - 0.05) * s, 3.58, thin * 1.25)
        centre, spread = (1.5 * s, 1.3), (1.5, 0.75 * g)

    if "spots" in breed.marks:
        inner += _spots(rng, f, centre, spread, 26, (0.06, 0.055, 0.06), (0.08, 0.19), fur)
    if "cat_spots" in breed.marks:
        inner += _spots(rng, f, centre, spread, 30, (0.17, 0.15, 0.13), (0.07, 0.13), fur)
    if "stripes" in breed.marks:
        across = 0.0 if pose.kind in ("sit", "portrait") else np.pi / 2
        inner += _stripes(f, centre, spread, 7, (0.17, 0.11, 0.07), across, 0.09)
    if "saddle" in breed.marks:
        up = centre[1] - spread[1] * 0.35
        inner += [f.blob((centre[0], up, 0), (spread[0] * 0.95, spread[1] * 0.72), (0.10, 0.085, 0.08), soft=0.5,
                         fur=fur, mark=True)]
        inner += [f.blob((0, 1.55, 0), (0.55 * slim, 0.95), breed.chest, soft=0.6, fur=fur, mark=True)]
    if "patches" in breed.marks:
        for k in (-1, 1):
            inner.append(f.blob((centre[0] + 0.55 * k * spread[0], centre[1] + 0.1 * k, 0), (0.5 * spread[0], 0.6 * spread[1]),
                                breed.coat, soft=0.4, fur=fur, mark=True))
        inner.append(f.blob((0, 1.7, 0), (0.62, 1.3), breed.chest, soft=0.6, fur=fur, mark=True))
    if "tan" in breed.marks:
        for k in (-1, 1):
            inner.append(f.blob((0.42 * k, 1.75, 0), (0.24, 0.17), breed.paw, soft=0.8, fur=fur, mark=True))
    # Markings go on the trunk before the legs and paws that lie over it.
    out.blobs[where:where] = inner
    return out


def _ears(breed: Breed, f: Frame, side: int) -> list[Blob]:
    """One ear with its inside; `side` is -1 for the left one on the picture."""
    z, yaw = breed.ear_size, f.pose.yaw
    w = breed.skull[0]
    open_ = 1.0 - 0.45 * np.clip(yaw * side, -0.6, 1.0)  # an ear that turns away gets narrower
    if breed.ears == "drop":
        at = ((0.95 * w) * side, 0.12, -0.05)
        root = (0.72 * w * side, -0.9, 0)
        return [f.blob(at, (0.29 * z * open_, 0.66 * z), breed.ear, root, turn=-0.16 * side, fur=breed.fur * 0.8,
                       soft=0.28, taper=0.25, bulge=0.85, shadow=0.5)]
    if breed.ears == "button":
        at = (0.80 * w * side, -0.52, 0.12)
        root = (0.62 * w * side, -1.2, 0)
        return [f.blob(at, (0.27 * z * open_, 0.42 * z), breed.ear, root, turn=0.45 * side, fur=breed.fur, soft=0.25,
                       taper=-0.45, bulge=0.7, shadow=0.5)]
    if breed.ears == "rabbit":
        at, lean = (0.42 * side, -1.45, -0.1), 0.20 * side
        wide, tall, taper, pink = 0.24, 0.85, -0.05, (0.90, 0.70, 0.66)
    elif breed.ears == "cat":
        at, lean = (0.63 * w * side, -0.86 - 0.10 * (z - 1), -0.05), 0.36 * side
        wide, tall, taper = 0.43 * z, 0.60 * z, 0.72
        pink = mix((0.80, 0.58, 0.52), breed.ear, 0.25 if sum(breed.ear) > 1 else 0.75)
    else:
        at, lean = (0.60 * w * side, -0.92, -0.05), 0.24 * side
        wide, tall, taper = 0.35 * z, 0.60 * z, 0.66
        pink = mix((0.70, 0.50, 0.45), breed.ear, 0.45)
    base = (at[0] * 0.9, at[1] + 1.4 * tall, at[2])
    outer = f.blob(at, (wide * open_, tall), breed.ear, base, turn=lean, fur=breed.fur * (0.28 if breed.ears != "rabbit" else 0.6),
                   soft=0.16, taper=taper, bulge=0.6, shadow=0.3)
    inner = f.blob((at[0] * 1.02, at[1] + 0.14 * tall, at[2] + 0.12), (wide * 0.60 * open_, tall * 0.72), pink, base,
                   turn=lean, fur=breed.fur * 0.8, soft=0.5, taper=taper, bulge=0.9, mark=True)
    shade = f.blob((at[0] * 0.97, at[1] + 0.38 * tall, at[2] + 0.12), (wide * 0.36 * open_, tall * 0.46), dim(pink, 0.45),
                   base, turn=lean, soft=0.9, taper=taper, bulge=0.8, mark=True)
    found = [outer, inner, shade]
    for k in (-1, 0, 1):  # tufts that stand in the opening
        found.append(f.blob((at[0] - side * wide * (0.18 + 0.1 * k), at[1] + tall * 0.55, at[2] + 0.15), (wide * 0.16, tall * 0.42),
                            mix(breed.ear, breed.chest, 0.6), base, turn=lean + side * (0.15 + 0.2 * k), fur=breed.fur,
                            soft=0.8, bulge=0.5, shadow=0.0))
    return found


def _face_marks(breed: Breed, f: Frame, rng) -> list[Blob]:
    m, marks = breed.marks, []

    def mark(at, radii, colour, turn=0.0, soft=0.6, strength=1.0):
        marks.append(f.blob(at, radii, colour, turn=turn, soft=soft, mark=True, bulge=strength))

    ex, ey = breed.eyes[1], breed.eyes[2]
    if "tan" in m:
        for s in (-1, 1):
            mark((0.36 * s, ey - 0.30, 0.75), (0.15, 0.105), breed.muzzle, 0.3 * s)
            mark((0.62 * s, 0.45, 0.5), (0.34, 0.30), breed.muzzle, 0.5 * s, 0.8, 0.8)
    if "mask" in m:
        for s in (-1, 1):
            mark((ex * s, ey, 0.7), (0.34, 0.30), breed.muzzle, 0.0, 0.8, 0.85)
        mark((0, 0.30, 0.9), (0.52, 0.48), breed.muzzle, 0, 0.7)
    if "wrinkles" in m:
        dark = dim(breed.coat, 0.52)
        for i in range(3):
            for s in (-1, 1):
                mark((0.22 * s, -0.36 - 0.15 * i, 0.75), (0.24, 0.022), dark, (0.35 - 0.12 * i) * s, 1.0, 0.75)
        mark((0, -0.42, 0.8), (0.025, 0.18), dark, 0, 1.0, 0.6)
    if "blaze" in m:
        for s in (-1, 1):
            mark((ex * s * 1.05, ey + 0.02, 0.7), (0.30, 0.26), (0.22, 0.11, 0.07), 0, 0.9, 0.75)
        mark((0, -0.45, 0.8), (0.13, 0.62), breed.muzzle, 0, 0.5)
        mark((0, 0.25, 1.0), (0.42, 0.36), breed.muzzle, 0, 0.6)
    if "shepherd" in m:
        mark((0, 0.05, 0.95), (0.22, 0.50), breed.muzzle, 0, 0.9, 0.9)
        mark((0, -0.55, 0.6), (0.42, 0.26), (0.24, 0.17, 0.11), 0, 1.0, 0.7)
        for s in (-1, 1):
            mark((ex * s, ey, 0.7), (0.24, 0.16), breed.muzzle, 0.4 * s, 1.0, 0.8)
    if "points" in m:
        mark((0, 0.12, 0.8), (0.56, 0.66), breed.muzzle, 0, 1.1, 0.96)
        for s in (-1, 1):
            mark((ex * s * 0.95, ey, 0.7), (0.34, 0.28), breed.muzzle, 0, 0.9, 0.75)
    if "spots" in m:
        for _ in range(13):
            a, r = rng.uniform(0, 6.3), rng.uniform(0.25, 0.95)
            x, y = r * np.cos(a) * 0.85, r * np.sin(a) * 0.85
            size = rng.uniform(0.05, 0.12)
            mark((x, y, 0.9 * np.sqrt(max(0.0, 1 - x * x - y * y))), (size, size * 0.85), (0.06, 0.055, 0.06), a, 0.35)
    if "forehead" in m:
        dark = (0.16, 0.11, 0.08) if breed.key == "tabby" else (0.19, 0.165, 0.14)
        for x, lean in ((0.0, 0.0), (0.17, 0.18), (0.34, 0.34)):
            for s in ((-1, 1) if x else (1,)):
                mark((x * s, -0.58, 0.62), (0.045, 0.26), dark, -lean * s, 0.8, 0.9)
        for s in (-1, 1):
            mark((0.72 * s, 0.10, 0.4), (0.26, 0.038), dark, 0.30 * s, 0.8, 0.9)
            mark((0.68 * s, 0.34, 0.4), (0.24, 0.036), dark, -0.05 * s, 0.8, 0.85)
            mark((ex * s, ey + 0.02, 0.7), (0.29, 0.23), mix(breed.chest, breed.muzzle, 0.5), 0, 0.8, 0.55)
    if "stripes" in m:
        for s in (-1, 1):
            mark((0.52 * s, -0.45, 0.5), (0.24, 0.035), (0.16, 0.11, 0.08), 0.9 * s, 0.8, 0.8)
    return marks


def head(breed: Breed, pose: Pose, sun, rng: np.random.Generator) -> Animal:
    """Skull, ears, muzzle and face."""
    f, out = Frame(pose), Animal()
    fur, mane = breed.fur, breed.mane
    w, h = breed.skull
    sw, sl, sd = breed.snout
    dog, cat, rabbit = (breed.species == kind for kind in ("dog", "cat", "rabbit"))
    centre = (0.0, 0.25 + sd, 0.9)
    blobs, details = out.blobs, out.details

    def add(at, radii, colour, root=centre, turn=0.0, length=fur, **more):
        blobs.append(f.blob(at, radii, colour, root, turn, fur=length, **more))

    standing = breed.ears in ("prick", "cat", "rabbit")
    far = -1 if pose.yaw > 0 else 1
    if standing:
        for s in (far, -far):
            blobs.extend(_ears(breed, f, s))
    if mane > 0.05:
        add((0, 0.42, -0.5), (w * (0.98 + 0.42 * mane), 0.92 + 0.34 * mane), mix(breed.coat, breed.chest, 0.4),
            (0, 0.0, 0), length=fur * 1.45, soft=0.3, shadow=0.5)
    add((0, -0.08, 0), (w, h), breed.coat, soft=0.22, length=fur * (0.55 if dog else 0.75), shadow=0.4)
    full = 0.62 if cat else 0.52
    for s in (-1, 1):
        add((0.46 * w * s, 0.30, 0.25), (full * (1 + 0.25 * mane), 0.50), mix(breed.coat, breed.chest, 0.25), turn=-0.3 * s,
            length=fur * (1.1 if not dog else 0.8 if mane > 0.4 else 0.5), soft=0.7, shadow=0.0)
        add((breed.eyes[1] * s, breed.eyes[2] - 0.20, 0.55), (0.28, 0.17), dim(breed.coat, 1.03), turn=0.25 * s, soft=0.9,
            length=fur * 0.5, shadow=0.0, bulge=0.7)
    if dog:
        add((0, -0.05 + sd, 0.75), (0.27 * sw, 0.48), dim(mix(breed.coat, breed.muzzle, 0.25), 1.02), soft=0.9,
            length=fur * 0.25, shadow=0.0, bulge=0.8)
        add((0, 0.86 + sd, 0.55 + 0.6 * sl), (0.32 * sw, 0.24), dim(breed.muzzle, 0.88), soft=0.4, length=fur * 0.5)
        if pose.mouth == 0:
            add((0, 0.68 + sd, 0.7 + 0.7 * sl), (0.40 * sw, 0.26), dim(breed.muzzle, 0.8), soft=0.6, length=fur * 0.3, shadow=0.2)
        for s in (-1, 1):
            add((0.25 * sw * s, 0.50 + sd, 0.78 + 0.85 * sl), (0.34 * sw, 0.33 * (0.9 + 0.1 * sw)), breed.muzzle,
                turn=0.35 * s, soft=0.45, length=fur * 0.28, shadow=0.28)
        add((0, 0.28 + sd, 0.8 + 0.9 * sl), (0.30 * sw, 0.26), breed.muzzle, soft=0.7, length=fur * 0.25, shadow=0.0)
    else:
        chin = breed.muzzle if not rabbit else breed.chest
        add((0, 0.66 + sd, 0.72), (0.24, 0.18), dim(chin, 0.93), soft=0.5, length=fur * 0.4, shadow=0.1)
        add((0, 0.06 + sd, 0.80), (0.20 * sw, 0.40), dim(mix(breed.coat, breed.muzzle, 0.35), 1.03), soft=0.9,
            length=fur * 0.3, shadow=0.0, bulge=0.8)
        for s in (-1, 1):
            add((0.20 * sw * s, 0.46 + sd, 0.86 + 0.6 * sl), (0.27 * sw, 0.22), breed.muzzle, turn=0.2 * s, soft=0.5,
                length=fur * 0.4, shadow=0.22)
    blobs.extend(_face_marks(breed, f, rng))
    if not standing:
        for s in (far, -far):
            blobs.extend(_ears(breed, f, s))

    er, ex, ey = breed.eyes
    u, turn = pose.unit, pose.roll
    dark_rim = (0.05, 0.04, 0.04) if not rabbit else (0.42, 0.26, 0.25)
    for s in (-1, 1):
        facing = np.cos(pose.yaw - 0.35 * s)
        if facing < 0.62:
            continue
        x, y = f.at(ex * s, ey, 0.80)
        details.append(partial(features.eye, x=x, y=y, r=er * u, colour=breed.eye, side=s, turn=turn,
                               squeeze=float(np.clip(facing, 0.6, 1)), sun=sun, cat=cat, rim=dark_rim,
                               lid=0.12 if dog and breed.key != "pug" else 0.0))
    if dog:
        z = 1.08 + 0.95 * sl
        nose, middle = f.at(0, 0.30 + sd, z), f.at(0, 0.66 + sd, 0.98 + 0.9 * sl)
        corners = [f.at(0.46 * sw * s, (0.64 if not pose.mouth else 0.62) + sd, 0.62 + 0.6 * sl) for s in (-1, 1)]
        start = f.at(0, 0.48 + sd, z)
        details.append(partial(features.dog_mouth, nose=start, corner_l=corners[0], corner_r=corners[1], middle=middle,
                               width=0.035 * u, open_by=pose.mouth * u))
        details.append(partial(features.dog_nose, x=nose[0], y=nose[1], r=0.235 * u * (0.8 + 0.2 * sw), colour=breed.nose,
                               turn=turn, sun=sun))
    else:
        nose = f.at(0, 0.29 + sd, 1.0 + 0.6 * sl)
        details.append(partial(features.cat_nose, x=nose[0], y=nose[1], r=0.115 * u * (1.0 if cat else 0.85),
                               colour=breed.nose, turn=turn, drop=0.21 * u, rabbit=rabbit))
        if breed.key != "sphynx":
            for s in (-1, 1):
                x, y = f.at(0.26 * sw * s, 0.47 + sd, 0.95 + 0.5 * sl)
                details.append(partial(features.whiskers, x=x, y=y, length=(0.95 if cat else 0.6) * u, side=s, turn=turn,
                                       rng=np.random.default_rng(int(rng.integers(1 << 31))), dark=False))
    return out
