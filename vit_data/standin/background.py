"""What is behind the pets: five kinds of places, out of focus, in world units (the square picture is 1 by 1)."""

from __future__ import annotations

import cairo
import numpy as np

from .paint import View, soften, stretch

KINDS = ("grass", "branches", "sofa", "sky", "wall")


def surface_of(image: np.ndarray) -> cairo.ImageSurface:
    """A cairo surface with a copy of a float image (h, w, 3), 0 to 1."""
    h, w, _ = image.shape
    pixels = np.full((h, w, 4), 255, np.uint8)
    pixels[..., :3] = (np.clip(image[..., ::-1], 0, 1) * 255 + 0.5).astype(np.uint8)
    return cairo.ImageSurface.create_for_data(pixels, cairo.FORMAT_RGB24, w, h, w * 4)


def image_of(surface: cairo.ImageSurface) -> np.ndarray:
    """The float image (h, w, 3), 0 to 1, on a cairo surface."""
    surface.flush()
    h, w = surface.get_height(), surface.get_width()
    pixels = np.ndarray((h, w, 4), np.uint8, surface.get_data(), strides=(surface.get_stride(), 4, 1))
    return pixels[..., 2::-1].astype(np.float32) / 255


def _vary(rng: np.random.Generator, colour, spread: float = 0.05) -> tuple[float, float, float]:
    shade = rng.normal(0, spread)
    return tuple(float(np.clip(c + shade + rng.normal(0, spread / 3), 0, 1)) for c in colour)


class Place:
    """A background in the making: a small cairo picture that is blurred and enlarged, layer by layer."""

    def __init__(self, view: View, rng: np.random.Generator) -> None:
        self.view, self.rng = view, rng
        self.left, self.top = view.left, view.top
        self.right = view.left + view.width / view.scale
        self.bottom = view.top + view.height / view.scale
        self.image = np.zeros((view.height, view.width, 3), np.float32)

    def layer(self, grain: float, base: np.ndarray | None = None) -> cairo.Context:
        """Start a layer whose pixels are `grain` world units wide, over the picture so far."""
        self.w = max(8, round(self.view.width / self.view.scale / grain))
        self.h = max(8, round(self.view.height / self.view.scale / grain))
        self.w, self.h = min(self.w, self.view.width), min(self.h, self.view.height)
        small = stretch(self.image, self.h, self.w) if base is None else base
        self.surface = surface_of(small)
        ctx = cairo.Context(self.surface)
        ctx.scale(self.w / (self.right - self.left), self.h / (self.bottom - self.top))
        ctx.translate(-self.left, -self.top)
        return ctx

    def done(self, blur: int) -> None:
        """Blur the layer by so many of its own pixels and take it as the picture."""
        small = soften(image_of(self.surface), blur)
        self.image = stretch(small, self.view.height, self.view.width)

    def fill(self, ctx: cairo.Context, stops) -> None:
        """Fill the picture with a vertical gradient of (place 0 to 1, colour)."""
        ramp = cairo.LinearGradient(0, self.top, 0, self.bottom)
        for at, colour in stops:
            ramp.add_color_stop_rgb(at, *colour)
        ctx.set_source(ramp)
        ctx.paint()

    def spots(self, ctx, n, colour, size, alpha, ys=(0.0, 1.0), spread=0.08) -> None:
        """Round lights out of focus, `size` a range of radii."""
        rng = self.rng
        for _ in range(n):
            x = rng.uniform(self.left, self.right)
            y = self.top + (self.bottom - self.top) * rng.uniform(*ys)
            r = rng.uniform(*size)
            c = _vary(rng, colour, spread)
            a = rng.uniform(*alpha)
            disc = cairo.RadialGradient(x, y, 0, x, y, r)
            disc.add_color_stop_rgba(0, *c, a * 0.8)
            disc.add_color_stop_rgba(0.86, *c, a)
            disc.add_color_stop_rgba(1, *c, 0)
            ctx.set_source(disc)
            ctx.arc(x, y, r, 0, 7)
            ctx.fill()


def _grass(place: Place) -> None:
    rng = place.rng
    far = _vary(rng, (0.50, 0.62, 0.38), 0.06)
    near = _vary(rng, (0.24, 0.42, 0.14), 0.05)
    line = rng.uniform(0.25, 0.5)
    ctx = place.layer(0.02)
    place.fill(ctx, [(0, _vary(rng, (0.62, 0.74, 0.66), 0.07)), (line - 0.06, _vary(rng, (0.33, 0.46, 0.28), 0.05)),
                     (line, far), (1, near)])
    place.spots(ctx, 14, (0.20, 0.32, 0.16), (0.05, 0.16), (0.2, 0.6), (0.0, line))
    place.spots(ctx, 16, (0.86, 0.92, 0.66), (0.02, 0.06), (0.1, 0.4), (0.0, line))
    place.done(2)
    ctx = place.layer(0.007)
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    for tint in range(5):
        ctx.set_source_rgba(*_vary(rng, (0.34 + 0.05 * tint, 0.50 + 0.05 * tint, 0.18), 0.04), 0.55)
        for _ in range(70):
            y = place.top + (place.bottom - place.top) * (line + (1 - line) * rng.uniform(0.1, 1.05) ** 0.8)
            x = rng.uniform(place.left, place.right)
            tall = 0.02 + 0.09 * max(0.0, y - line)
            ctx.move_to(x, y)
            ctx.curve_to(x, y - tall / 2, x + rng.normal(0, tall / 4), y - tall * 0.8, x + rng.normal(0, tall / 2), y - tall)
        ctx.set_line_width(0.007)
        ctx.stroke()
    place.done(1)


def branch(ctx, rng, x, y, angle, length, width, colour, leaf, depth=3) -> None:
    """A bough that bends, forks and carries leaves."""
    steps = 5
    for i in range(steps):
        nx, ny = x + np.cos(angle) * length / steps, y + np.sin(angle) * length / steps
        ctx.set_source_rgb(*_vary(rng, colour, 0.02))
        ctx.set_line_width(width * (1 - 0.12 * i))
        ctx.move_to(x, y)
        ctx.line_to(nx, ny)
        ctx.stroke()
        x, y = nx, ny
        angle += rng.normal(0, 0.16)
        if depth and i in (1, 2, 3):
            side = rng.choice((-1, 1)) * rng.uniform(0.45, 0.95)
            branch(ctx, rng, x, y, angle + side, length * 0.55, width * 0.55, colour, leaf, depth - 1)
        if leaf is not None and depth < 2:
            for _ in range(3):
                ctx.save()
                ctx.translate(x + rng.normal(0, 0.012), y + rng.normal(0, 0.012))
                ctx.rotate(rng.uniform(0, 6.3))
                ctx.scale(0.017, 0.0075)
                ctx.arc(0, 0, 1, 0, 7)
                ctx.restore()
                ctx.set_source_rgba(*_vary(rng, leaf, 0.07), 0.85)
                ctx.fill()


def _branches(place: Place, tidy: bool = False) -> None:
    rng = place.rng
    ctx = place.layer(0.02)
    hue = _vary(rng, (0.56, 0.66, 0.48), 0.0 if tidy else 0.07)
    low = _vary(rng, (0.36, 0.46, 0.25), 0.0 if tidy else 0.06)
    place.fill(ctx, [(0, tuple(min(1.0, c + 0.12) for c in hue)), (0.5, hue), (0.72, low), (1, tuple(c * 0.8 for c in low))])
    for _ in range(9):
        x, y, r = rng.uniform(place.left, place.right), rng.uniform(0.1, 0.7), rng.uniform(0.1, 0.3)
        bush = cairo.RadialGradient(x, y, 0, x, y, r)
        bush.add_color_stop_rgba(0, *_vary(rng, (0.28, 0.39, 0.20), 0.04), 0.5)
        bush.add_color_stop_rgba(1, 0.3, 0.4, 0.22, 0)
        ctx.set_source(bush)
        ctx.paint()
    place.done(2)
    ctx = place.layer(0.010)
    place.spots(ctx, 26, (0.88, 0.92, 0.66), (0.012, 0.05), (0.08, 0.34), (0.06, 0.62))
    place.done(1)
    ctx = place.layer(0.006)
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    bark, leaf = _vary(rng, (0.23, 0.17, 0.12), 0.03), _vary(rng, (0.33, 0.47, 0.16), 0.05)
    if tidy:
        branch(ctx, rng, 1.28, 0.24, 3.42, 0.46, 0.030, bark, leaf)
        branch(ctx, rng, 1.24, -0.02, 2.75, 0.42, 0.022, bark, leaf)
    else:
        for _ in range(rng.integers(2, 4)):
            side = rng.choice((-1, 1))
            x = place.right + 0.04 if side > 0 else place.left - 0.04
            aim = (np.pi if side > 0 else 0.0) + rng.uniform(-0.6, 0.6)
            branch(ctx, rng, x, rng.uniform(-0.05, 0.45), aim, rng.uniform(0.3, 0.6), rng.uniform(0.014, 0.03), bark,
                   leaf if rng.random() < 0.7 else None)
    place.done(1)


def _sofa(place: Place) -> None:
    rng = place.rng
    cloth = _vary(rng, [(0.50, 0.44, 0.40), (0.30, 0.38, 0.48), (0.55, 0.33, 0.27), (0.40, 0.45, 0.36)][rng.integers(4)])
    wall = _vary(rng, (0.72, 0.68, 0.62), 0.07)
    dark, pale = tuple(c * 0.55 for c in cloth), tuple(min(1, c * 1.3) for c in cloth)
    back, seat = rng.uniform(0.02, 0.2), rng.uniform(0.55, 0.72)
    ctx = place.layer(0.012)
    place.fill(ctx, [(0, wall), (1, tuple(c * 0.8 for c in wall))])

    def cushion(x, y, w, h):
        r = 0.07
        ctx.new_sub_path()
        for cx, cy, a in ((x + w - r, y + r, -1), (x + w - r, y + h - r, 0), (x + r, y + h - r, 1), (x + r, y + r, 2)):
            ctx.arc(cx, cy, r, a * np.pi / 2, (a + 1) * np.pi / 2)
        ctx.close_path()
        ramp = cairo.LinearGradient(0, y, 0, y + h)
        for at, c in ((0, pale), (0.25, cloth), (0.8, tuple(v * 0.85 for v in cloth)), (1, dark)):
            ramp.add_color_stop_rgb(at, *c)
        ctx.set_source(ramp)
        ctx.fill_preserve()
        ctx.set_source_rgb(*dark)
        ctx.set_line_width(0.012)
        ctx.stroke()

    first = place.left - rng.uniform(0.05, 0.4)
    for i in range(4):
        cushion(first + 0.55 * i, back, 0.54, seat - back + 0.08)
    for i in range(4):
        cushion(first - 0.2 + 0.7 * i, seat, 0.69, 0.6)
    if rng.random() < 0.6:
        ctx.save()
        ctx.translate(rng.choice((0.08, 0.92)), seat - 0.1)
        ctx.rotate(rng.uniform(-0.3, 0.3))
        cloth = _vary(rng, (0.72, 0.58, 0.32), 0.14)
        dark, pale = tuple(c * 0.6 for c in cloth), tuple(min(1, c * 1.25) for c in cloth)
        cushion(-0.17, -0.17, 0.34, 0.34)
        ctx.restore()
    place.done(1)


def _sky(place: Place) -> None:
    rng = place.rng
    top, low = _vary(rng, (0.42, 0.62, 0.86), 0.06), _vary(rng, (0.78, 0.87, 0.93), 0.04)
    line = rng.uniform(0.62, 0.8)
    ground = _vary(rng, [(0.42, 0.52, 0.27), (0.74, 0.66, 0.50), (0.86, 0.89, 0.94)][rng.integers(3)], 0.04)
    ctx = place.layer(0.016)
    place.fill(ctx, [(0, top), (line, low), (1, low)])
    for _ in range(rng.integers(2, 6)):
        cx, cy = rng.uniform(place.left, place.right), rng.uniform(0.05, line - 0.15)
        for _ in range(9):
            x, y, r = cx + rng.normal(0, 0.11), cy + rng.normal(0, 0.02), rng.uniform(0.03, 0.08)
            puff = cairo.RadialGradient(x, y - r / 3, 0, x, y, r)
            puff.add_color_stop_rgba(0, 1, 1, 1, 0.55)
            puff.add_color_stop_rgba(1, 0.95, 0.97, 1, 0)
            ctx.set_source(puff)
            ctx.paint()
    for depth in range(3):
        y = line - 0.10 + 0.05 * depth
        mix = 0.25 + 0.35 * depth
        ctx.set_source_rgb(*(low[i] * (1 - mix) + ground[i] * 0.8 * mix for i in range(3)))
        ctx.move_to(place.left - 0.1, place.bottom)
        ctx.line_to(place.left - 0.1, y)
        x = place.left - 0.1
        while x < place.right:
            nx = x + rng.uniform(0.2, 0.4)
            ctx.curve_to(x + 0.1, y - rng.uniform(-0.02, 0.1), nx - 0.1, y - rng.uniform(-0.02, 0.1), nx, y)
            x = nx
        ctx.line_to(x, place.bottom)
        ctx.fill()
    ramp = cairo.LinearGradient(0, line, 0, place.bottom)
    ramp.add_color_stop_rgb(0, *(c * 1.05 for c in ground))
    ramp.add_color_stop_rgb(1, *(c * 0.75 for c in ground))
    ctx.set_source(ramp)
    ctx.rectangle(place.left, line, 3, 2)
    ctx.fill()
    place.done(1)


def _wall(place: Place) -> None:
    rng = place.rng
    paint = _vary(rng, [(0.78, 0.74, 0.68), (0.58, 0.66, 0.70), (0.70, 0.60, 0.54), (0.60, 0.64, 0.56)][rng.integers(4)])
    floor = _vary(rng, [(0.50, 0.36, 0.24), (0.62, 0.58, 0.53), (0.40, 0.30, 0.24)][rng.integers(3)], 0.04)
    line = rng.uniform(0.6, 0.8)
    ctx = place.layer(0.012)
    place.fill(ctx, [(0, tuple(c * 0.9 for c in paint)), (line, paint), (1, paint)])
    if rng.random() < 0.6:  # sunlight through a window
        x = rng.uniform(-0.1, 0.8)
        ctx.set_source_rgba(1, 0.95, 0.8, 0.28)
        for i in range(2):
            for j in range(2):
                ctx.move_to(x + 0.2 * i, 0.05 + 0.2 * j + 0.05 * i)
                ctx.rel_line_to(0.18, 0.045)
                ctx.rel_line_to(0, 0.18)
                ctx.rel_line_to(-0.18, -0.045)
                ctx.close_path()
        ctx.fill()
    elif rng.random() < 0.6:  # a picture
        x = rng.choice((rng.uniform(-0.1, 0.1), rng.uniform(0.65, 0.85)))
        ctx.set_source_rgb(*_vary(rng, (0.30, 0.22, 0.16)))
        ctx.rectangle(x, 0.06, 0.26, 0.32)
        ctx.fill()
        ctx.set_source_rgb(*_vary(rng, (0.66, 0.70, 0.66), 0.1))
        ctx.rectangle(x + 0.025, 0.085, 0.21, 0.27)
        ctx.fill()
    ramp = cairo.LinearGradient(0, line, 0, place.bottom)
    ramp.add_color_stop_rgb(0, *(c * 0.8 for c in floor))
    ramp.add_color_stop_rgb(1, *floor)
    ctx.set_source(ramp)
    ctx.rectangle(place.left, line, 3, 2)
    ctx.fill()
    ctx.set_source_rgb(*(min(1, c * 1.12) for c in paint))
    ctx.rectangle(place.left, line - 0.035, 3, 0.035)
    ctx.fill()
    ctx.set_source_rgba(*(c * 0.6 for c in floor), 0.7)
    ctx.set_line_width(0.005)
    for i in range(-12, 14):
        ctx.move_to(0.5 + 0.07 * i, line)
        ctx.line_to(0.5 + 0.2 * i, line + 0.5)
    ctx.stroke()
    place.done(1)


def background(kind: str, view: View, rng: np.random.Generator) -> np.ndarray:
    """The place behind the pet as a float image (height, width, 3). `kind` is one of KINDS, or "story"."""
    place = Place(view, rng)
    if kind == "story":
        _branches(place, tidy=True)
    else:
        {"grass": _grass, "branches": _branches, "sofa": _sofa, "sky": _sky, "wall": _wall}[kind](place)
    # A little more light from one side and darker corners give the place depth.
    x, y = view.grid()
    lean = float(rng.uniform(-0.12, 0.12))
    fall = 1.04 + lean * (x[None, :] - 0.5) - 0.22 * ((x[None, :] - 0.5) ** 2 + (y[:, None] - 0.5) ** 2)
    return place.image * fall[..., None].astype(np.float32)
