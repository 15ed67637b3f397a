"""A small painter of furry things: soft blobs become a lit, hairy surface.

Places and lengths are in world units: the side of the square picture is 1, x to the right, y down.
The painter keeps, for each pixel, what the surface there is like (colour, normal, direction and length of the
hair, how much light reaches it) and lights it all at once in the end, so that blobs merge without seams.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

COLOUR, NORMAL, OPEN, FUR = slice(0, 3), slice(3, 6), 6, 7
LAYERS = 8


@dataclass
class Blob:
    """One soft ellipse of coat. `root` is the point that its hair grows away from."""

    x: float
    y: float
    rx: float
    ry: float
    colour: tuple[float, float, float]
    root: tuple[float, float]
    turn: float = 0.0  # radians, clockwise on the picture
    fur: float = 0.02  # hair length, world units
    soft: float = 0.25  # width of the edge as a part of the radius
    bulge: float = 1.0  # 0 is a flat disc, 1 is half a ball
    taper: float = 0.0  # above 0: wider at the lower end
    shadow: float = 0.45  # how dark its shadow falls on what lies behind it
    mark: bool = False  # a marking colours what is there already and keeps its shape


@dataclass(frozen=True)
class View:
    """Which part of the world a picture of width by height pixels shows: `scale` pixels a world unit."""

    width: int
    height: int
    scale: float
    left: float = 0.0
    top: float = 0.0

    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """World x of each column and world y of each row."""
        x = (np.arange(self.width, dtype=np.float32) + 0.5) / self.scale + self.left
        y = (np.arange(self.height, dtype=np.float32) + 0.5) / self.scale + self.top
        return x, y


@dataclass(frozen=True)
class Light:
    """Where the sun stands (x, y, z towards the light) and what it and the sky give, as RGB factors."""

    sun: tuple[float, float, float] = (-0.45, -0.65, 0.6)
    warm: tuple[float, float, float] = (1.0, 0.95, 0.86)
    sky: tuple[float, float, float] = (0.40, 0.44, 0.50)
    bounce: tuple[float, float, float] = (0.17, 0.16, 0.14)
    gain: float = 0.82


def smooth(t: np.ndarray) -> np.ndarray:
    """0 below 0, 1 above 1, and an S between."""
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def stretch(small: np.ndarray, height: int, width: int) -> np.ndarray:
    """Enlarge an array (h, w) or (h, w, c) to (height, width) with straight lines between its values."""
    for axis, length in ((0, height), (1, width)):
        n = small.shape[axis]
        at = np.clip((np.arange(length) + 0.5) * n / length - 0.5, 0, n - 1).astype(np.float32)
        low = np.minimum(at.astype(np.int64), max(n - 2, 0))
        part = (at - low).astype(np.float32)
        shape = [1] * small.ndim
        shape[axis] = length
        part = part.reshape(shape)
        first = np.take(small, low, axis=axis)
        small = first + (np.take(small, np.minimum(low + 1, n - 1), axis=axis) - first) * part
    return small


def soften(image: np.ndarray, radius: int, times: int = 2) -> np.ndarray:
    """Box blur of (h, w, c), `times` over, edges repeated."""
    if radius < 1:
        return image
    for _ in range(times):
        for axis in (0, 1):
            pad = [(0, 0)] * image.ndim
            pad[axis] = (radius + 1, radius)
            total = np.cumsum(np.pad(image, pad, mode="edge"), axis=axis, dtype=np.float32)
            n = image.shape[axis]
            side = 2 * radius + 1
            image = (np.take(total, np.arange(side, side + n), axis) - np.take(total, np.arange(n), axis)) / side
    return image


class Coat:
    """The surface of the animal, one blob after another from back to front."""

    def __init__(self, view: View, light: Light) -> None:
        self.view, self.light = view, light
        self.x, self.y = view.grid()
        h, w = view.height, view.width
        self.surface = np.zeros((LAYERS, h, w), np.float32)
        self.surface[OPEN] = 1.0
        self.cover = np.zeros((h, w), np.float32)
        self.flow = np.zeros((2, h, w), np.float32)
        self.reach = np.zeros((h, w), np.float32)

    def _window(self, blob: Blob, grow: float) -> tuple[slice, slice] | None:
        half = grow * max(blob.rx * (1 + abs(blob.taper)), blob.ry)
        left, right = np.searchsorted(self.x, (blob.x - half, blob.x + half))
        top, bottom = np.searchsorted(self.y, (blob.y - half, blob.y + half))
        if left >= right or top >= bottom:
            return None
        return slice(top, bottom), slice(left, right)

    def _inside(self, blob: Blob, rows: slice, cols: slice, dx: float = 0.0, dy: float = 0.0):
        x = self.x[cols][None, :] - (blob.x + dx)
        y = self.y[rows][:, None] - (blob.y + dy)
        c, s = np.cos(blob.turn), np.sin(blob.turn)
        v = (y * c - x * s) / blob.ry
        u = (x * c + y * s) / blob.rx
        if blob.taper:
            u = u / (1.0 + blob.taper * np.clip(v, -1.2, 1.2))
        return u, v, np.sqrt(u * u + v * v)

    def add(self, blob: Blob) -> None:
        """Lay one blob over what is there."""
        if blob.mark:
            self._mark(blob)
            return
        if blob.shadow:
            self._shade(blob)
        reach = 1.0 + min(0.9, 1.6 * blob.fur / min(blob.rx, blob.ry)) + blob.soft
        window = self._window(blob, reach)
        if window is None:
            return
        rows, cols = window
        u, v, r = self._inside(blob, rows, cols)
        fx = self.x[cols][None, :] - blob.root[0]
        fy = self.y[rows][:, None] - blob.root[1]
        length = np.sqrt(fx * fx + fy * fy) + 1e-4
        near = smooth((reach - r) / (reach - 1.0 + 0.15))
        self.flow[0, rows, cols] += near * (fx / length - self.flow[0, rows, cols])
        self.flow[1, rows, cols] += near * (fy / length - self.flow[1, rows, cols])
        fur = self.surface[FUR, rows, cols]
        fur += near * (blob.fur - fur)

        alpha = smooth((1.0 - r) / blob.soft + 0.5)
        c, s = np.cos(blob.turn), np.sin(blob.turn)
        rise = np.sqrt(np.clip(1.0 - r * r, 0.0, 1.0)) + 0.12 + 1.6 * (1.0 - blob.bulge)
        nu, nv = np.clip(u, -1.2, 1.2), np.clip(v, -1.2, 1.2)
        nx, ny = nu * c - nv * s, nu * s + nv * c
        size = 1.0 / np.sqrt(nx * nx + ny * ny + rise * rise)
        # The outline is crisp even where the blob melts softly into those behind it.
        edge = smooth((1.0 - r) / min(blob.soft, 0.06) + 0.5)
        cover = self.cover[rows, cols]
        alpha = np.where(cover < 0.5, np.maximum(alpha, 1.0 - 2.0 * cover), alpha) * (r < 1.0 + blob.soft)
        cover += edge * (1.0 - cover)
        area = self.surface[:, rows, cols]
        for layer, value in enumerate((*blob.colour, nx * size, ny * size, rise * size, 1.0)):
            area[layer] += alpha * (value - area[layer])

    def _mark(self, blob: Blob) -> None:
        window = self._window(blob, 1.0 + blob.soft)
        if window is None:
            return
        rows, cols = window
        _, _, r = self._inside(blob, rows, cols)
        alpha = smooth((1.0 - r) / blob.soft + 0.5) * blob.bulge
        area = self.surface[COLOUR, rows, cols]
        for layer in range(3):
            area[layer] += alpha * (blob.colour[layer] - area[layer])

    def _shade(self, blob: Blob) -> None:
        window = self._window(blob, 1.75)
        if window is None:
            return
        rows, cols = window
        sx, sy, _ = self.light.sun
        reach = 0.28 * min(blob.rx, blob.ry)
        _, _, r = self._inside(blob, rows, cols, -sx * reach, -sy * reach)
        area = self.surface[OPEN, rows, cols]
        area *= 1.0 - blob.shadow * smooth((1.45 - r) / 0.75)

    def _hair(self, rng: np.random.Generator, cell: float, stretch_by: float) -> np.ndarray:
        """Noise drawn out along the hair: mean 0, spread about 1, shape (h, w)."""
        h, w = self.view.height, self.view.width
        step = max(1.0, cell * self.view.scale)
        noise = rng.standard_normal((max(2, round(h / step)), max(2, round(w / step))), dtype=np.float32)
        if noise.shape != (h, w):
            noise = stretch(noise, h, w)
        # One tap every two pixels or so: fewer would print the same hair several times.
        taps = int(np.clip(self.surface[FUR].max() * self.view.scale * stretch_by / 1.7, 7, 61)) | 1
        pace = self.surface[FUR] * (self.view.scale * stretch_by / taps)
        fx, fy = self.flow[0] * pace, self.flow[1] * pace
        rows = np.arange(h, dtype=np.float32)[:, None] + 0.5
        cols = np.arange(w, dtype=np.float32)[None, :] + 0.5
        total = np.zeros((h, w), np.float32)
        weight = 0.0
        for k in range(-(taps // 2), taps // 2 + 1):
            share = 1.0 - abs(k) / (taps / 2 + 1)
            at = np.clip(rows + k * fy, 0, h - 1).astype(np.int32) * w + np.clip(cols + k * fx, 0, w - 1).astype(np.int32)
            total += share * np.take(noise.ravel(), at)
            weight += share * share
        total *= 0.75 / np.sqrt(weight)
        return total

    def render(self, rng: np.random.Generator, gloss: float) -> tuple[np.ndarray, np.ndarray]:
        """Grow the hair and light it. Returns colour (h, w, 3) and cover (h, w), 0 to 1."""
        h, w = self.view.height, self.view.width
        fine = self._hair(rng, 0.0028, 1.1)
        lock = self._hair(rng, 0.0090, 1.9)
        # Short coats lie smooth; only long ones part into locks.
        fine *= np.clip(0.05 + self.surface[FUR] / 0.032, 0.0, 1.0)
        lock *= np.clip(self.surface[FUR] / 0.045, 0.06, 1.0) ** 1.3
        # Each pixel takes its surface from a little further up its hair, each hair by its own amount: this is
        # what makes outlines and the borders of markings hairy.
        drift = np.clip(0.55 + 0.38 * fine + 0.34 * lock, 0.0, 1.7) * self.surface[FUR] * self.view.scale
        rows = np.arange(h, dtype=np.float32)[:, None] + 0.5
        cols = np.arange(w, dtype=np.float32)[None, :] + 0.5
        at = (np.clip(rows - self.flow[1] * drift, 0, h - 1).astype(np.int32) * w
              + np.clip(cols - self.flow[0] * drift, 0, w - 1).astype(np.int32))
        surface = np.take(self.surface.reshape(LAYERS, -1), at, axis=1)
        cover = np.take(self.cover.ravel(), at)

        light = self.light
        sun = np.asarray(light.sun, np.float32)
        sun = sun / np.linalg.norm(sun)
        nx, ny, nz = surface[NORMAL]
        # Locks lean to both sides of the hair, so their flanks catch the light differently.
        lean = 0.26 * lock + 0.20 * fine
        nx = nx - lean * self.flow[1] * 0.5
        ny = ny + lean * self.flow[0] * 0.5
        facing = nx * sun[0] + ny * sun[1] + nz * sun[2]
        key = np.clip((facing + 0.45) / 1.45, 0.0, 1.2) * (0.35 + 0.65 * surface[OPEN])
        sky = (0.68 - 0.32 * ny) * (0.5 + 0.5 * surface[OPEN])
        bounce = np.clip(ny, 0.0, 1.0)
        depth = 1.0 + 0.09 * fine + 0.08 * lock
        # Hair shines in a band where it lies across the light.
        half = sun + np.array([0, 0, 1], np.float32)
        half = half / np.linalg.norm(half)
        along = self.flow[0] * nx + self.flow[1] * ny
        tx, ty, tz = self.flow[0] - along * nx, self.flow[1] - along * ny, -along * nz
        tilt = (tx * half[0] + ty * half[1] + tz * half[2]) + 0.18 * fine + 0.12 * lock
        shine = np.clip(1.0 - tilt * tilt, 0.0, 1.0) ** 10 * np.clip(facing + 0.25, 0.0, 1.0) * surface[OPEN]
        shine *= gloss * np.clip(0.85 + 0.42 * fine + 0.28 * lock, 0.0, 2.2)
        rim = np.clip(1.0 - nz, 0.0, 1.0) ** 3 * np.clip(0.6 - 0.8 * ny, 0.0, 1.2) * 0.22

        colour = np.empty((h, w, 3), np.float32)
        for i in range(3):
            lit = light.gain * key * light.warm[i] + sky * light.sky[i] + bounce * light.bounce[i]
            colour[..., i] = (surface[i] * lit * depth + shine * (0.5 * light.warm[i] + 0.6 * light.sky[i])
                              + rim * light.sky[i])
        return colour, cover

    def strands(self, ctx, image: np.ndarray, rng: np.random.Generator, n: int, shine: float) -> None:
        """Draw n single hairs over the coat of a finished image, each a little paler or darker than where it grows."""
        h, w = self.view.height, self.view.width
        rows, cols = rng.integers(0, h, 3 * n), rng.integers(0, w, 3 * n)
        keep = np.flatnonzero((self.cover[rows, cols] > 0.6) & (self.surface[FUR, rows, cols] > 0.007))[:n]
        rows, cols = rows[keep], cols[keep]
        long = self.surface[FUR, rows, cols] * rng.uniform(0.6, 1.5, keep.size)
        fx, fy = self.flow[0, rows, cols], self.flow[1, rows, cols]
        bend = rng.normal(0, 0.22, keep.size)
        pale = rng.uniform(0.70, 1.30, keep.size)
        tint = soften(image, max(1, round(0.005 * self.view.scale)), 1)[rows, cols]
        colours = np.clip(tint * pale[:, None] + (shine * np.clip(pale - 1.0, 0, 1))[:, None], 0, 1)
        x, y = self.x[cols], self.y[rows]
        ctx.set_line_cap(1)
        ctx.set_line_width(max(0.0022, 0.8 / self.view.scale))
        table = np.stack([x, y, x + long * (0.5 * fx - 0.2 * bend * fy), y + long * (0.5 * fy + 0.2 * bend * fx),
                          x + long * (fx - bend * fy), y + long * (fy + bend * fx)], 1).tolist()
        for (x0, y0, x1, y1, x2, y2), (r, g, b) in zip(table, colours.tolist()):
            ctx.set_source_rgba(r, g, b, 0.5)
            ctx.move_to(x0, y0)
            ctx.curve_to(x0, y0, x1, y1, x2, y2)
            ctx.stroke()
