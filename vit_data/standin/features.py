"""Eyes, noses, mouths and whiskers: the smooth parts of a face, drawn with cairo in world units."""

from __future__ import annotations

import cairo
import numpy as np


def _ellipse(ctx, x, y, rx, ry, turn=0.0) -> None:
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(turn)
    ctx.scale(max(rx, 1e-4), max(ry, 1e-4))
    ctx.new_sub_path()
    ctx.arc(0, 0, 1, 0, 2 * np.pi)
    ctx.restore()


def _glow(ctx, x, y, r, colour, inner, outer=0.0, squash=1.0, turn=0.0) -> None:
    """A soft round patch of colour, opaque by `inner` in the middle."""
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(turn)
    ctx.scale(1, squash)
    disc = cairo.RadialGradient(0, 0, 0, 0, 0, r)
    disc.add_color_stop_rgba(0, *colour, inner)
    disc.add_color_stop_rgba(0.55, *colour, inner * 0.75)
    disc.add_color_stop_rgba(1, *colour, outer)
    ctx.set_source(disc)
    ctx.arc(0, 0, r, 0, 7)
    ctx.fill()
    ctx.restore()


def _almond(ctx, rx, ry, slant) -> None:
    """The opening of an eye around (0, 0); `slant` lifts the outer corner."""
    ctx.move_to(-rx, ry * 0.12 + slant * ry * 0.0)
    ctx.curve_to(-rx * 0.62, -ry * 1.12, rx * 0.62, -ry * 1.16, rx, -ry * 0.10)
    ctx.curve_to(rx * 0.66, ry * 0.98, -rx * 0.62, ry * 1.08, -rx, ry * 0.12)
    ctx.close_path()


def eye(ctx, x, y, r, colour, side, turn, squeeze, sun, cat, rim=(0.05, 0.04, 0.04), lid=0.0) -> None:
    """One eye of radius r. `side` is -1 for the left one on the picture, `squeeze` its width when turned away."""
    _glow(ctx, x, y, r * 1.75, rim, 0.55 if not cat else 0.30, squash=0.85, turn=turn)
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(turn + (0.16 if cat else 0.05) * -side)
    ctx.scale(squeeze * -side, 1)
    rx, ry = r * (1.12 if cat else 1.08), r * ((0.98 if cat else 0.86) * (1 - lid))
    _almond(ctx, rx * 1.13, ry * (1.13 if cat else 1.18), 0)
    ctx.set_source_rgb(*rim)
    ctx.fill()
    _almond(ctx, rx, ry, 0)
    ctx.clip()
    deep = tuple(c * 0.42 for c in colour)
    pale = tuple(min(1.0, c * 1.25 + 0.05) for c in colour)
    iris = cairo.RadialGradient(0, r * 0.25, 0, 0, 0, r * 1.12)
    iris.add_color_stop_rgb(0, *pale)
    iris.add_color_stop_rgb(0.62, *colour)
    iris.add_color_stop_rgb(0.95, *deep)
    iris.add_color_stop_rgb(1, *(c * 0.5 for c in deep))
    ctx.set_source(iris)
    ctx.paint()
    for i in range(40):  # the fibres of the iris
        a = i * 2 * np.pi / 40 + 0.06 * np.sin(i * 7.0)
        ctx.move_to(np.cos(a) * r * 0.30, np.sin(a) * r * 0.30)
        ctx.line_to(np.cos(a) * r * 0.92, np.sin(a) * r * 0.92)
    ctx.set_source_rgba(*(0.35 * c for c in colour), 0.35)
    ctx.set_line_width(r * 0.035)
    ctx.stroke()
    pupil = cairo.RadialGradient(0, 0, 0, 0, 0, 1)
    pupil.add_color_stop_rgba(0, 0.015, 0.012, 0.015, 1)
    pupil.add_color_stop_rgba(0.86, 0.02, 0.015, 0.02, 1)
    pupil.add_color_stop_rgba(1, 0.02, 0.015, 0.02, 0)
    ctx.save()
    ctx.rotate(0.16 if cat else 0.0)
    ctx.scale(r * (0.34 if cat else 0.58), r * (0.78 if cat else 0.58))
    ctx.set_source(pupil)
    ctx.arc(0, 0, 1, 0, 7)
    ctx.fill()
    ctx.restore()
    lidshade = cairo.LinearGradient(0, -ry, 0, ry * 0.2)
    lidshade.add_color_stop_rgba(0, 0, 0, 0, 0.75)
    lidshade.add_color_stop_rgba(1, 0, 0, 0, 0)
    ctx.set_source(lidshade)
    ctx.paint()
    ctx.restore()
    gx = x + np.sign(sun[0]) * r * 0.30 * squeeze
    _glow(ctx, gx, y - r * 0.34, r * 0.30, (1, 1, 1), 0.95)
    _glow(ctx, x - np.sign(sun[0]) * r * 0.3 * squeeze, y + r * 0.36, r * 0.42, (0.85, 0.92, 1), 0.22, squash=0.6)


def dog_nose(ctx, x, y, r, colour, turn, sun) -> None:
    """The leather of a dog's nose, about 2r wide."""
    _glow(ctx, x, y + r * 0.25, r * 1.6, (0.02, 0.015, 0.015), 0.45, squash=0.8, turn=turn)
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(turn)
    ctx.scale(r, r)
    ctx.move_to(-0.95, -0.18)
    ctx.curve_to(-0.9, -0.72, -0.35, -0.72, 0, -0.66)
    ctx.curve_to(0.35, -0.72, 0.9, -0.72, 0.95, -0.18)
    ctx.curve_to(1.0, 0.28, 0.55, 0.42, 0.22, 0.66)
    ctx.curve_to(0.1, 0.76, -0.1, 0.76, -0.22, 0.66)
    ctx.curve_to(-0.55, 0.42, -1.0, 0.28, -0.95, -0.18)
    ctx.close_path()
    shine = tuple(min(1.0, c * 1.6 + 0.20) for c in colour)
    skin = cairo.LinearGradient(0, -0.75, 0, 0.7)
    skin.add_color_stop_rgb(0, *shine)
    skin.add_color_stop_rgb(0.30, *(c * 1.1 + 0.05 for c in colour))
    skin.add_color_stop_rgb(0.55, *colour)
    skin.add_color_stop_rgb(1, *(c * 0.5 for c in colour))
    ctx.set_source(skin)
    ctx.fill()
    for side in (-1, 1):
        _glow(ctx, 0.50 * side, 0.10, 0.30, (0, 0, 0), 0.95, squash=0.72, turn=0.5 * side)
        _glow(ctx, 0.44 * side, -0.40, 0.34, (0.8, 0.86, 0.95), 0.34 if side == np.sign(sun[0]) else 0.16, squash=0.5)
    ctx.set_line_width(0.06)
    ctx.set_source_rgba(0, 0, 0, 0.55)
    ctx.move_to(0, 0.05)
    ctx.line_to(0, 0.7)
    ctx.stroke()
    ctx.restore()


def dog_mouth(ctx, nose, corner_l, corner_r, middle, width, open_by, tongue=(0.86, 0.46, 0.48)) -> None:
    """The lips from the nose to both corners; `open_by` above 0 shows mouth and tongue (world units)."""
    (nx, ny), (lx, ly), (rx, ry), (mx, my) = nose, corner_l, corner_r, middle
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    if open_by > 0:
        ctx.move_to(lx, ly)
        ctx.curve_to(lx + (mx - lx) * 0.4, ly + open_by * 0.4, mx - (mx - lx) * 0.3, my, mx, my)
        ctx.curve_to(mx + (rx - mx) * 0.3, my, rx - (rx - mx) * 0.4, ry + open_by * 0.4, rx, ry)
        ctx.curve_to(rx - (rx - mx) * 0.2, ry + open_by * 1.2, mx + (rx - mx) * 0.4, my + open_by, mx, my + open_by)
        ctx.curve_to(mx - (mx - lx) * 0.4, my + open_by, lx + (mx - lx) * 0.2, ly + open_by * 1.2, lx, ly)
        ctx.set_source_rgba(0.10, 0.03, 0.03, 0.95)
        ctx.fill()
        w = abs(rx - lx) * 0.27
        for k, shade in ((1.0, 0.8), (0.86, 1.0)):
            _ellipse(ctx, mx, my + open_by * 0.72, w * k, open_by * 0.78 * k)
            ctx.set_source_rgb(*(c * shade for c in tongue))
            ctx.fill()
        _glow(ctx, mx - w * 0.3, my + open_by * 0.6, w * 0.6, (1, 0.8, 0.8), 0.4)
        ctx.set_source_rgba(0.5, 0.15, 0.18, 0.7)
        ctx.set_line_width(width * 0.5)
        ctx.move_to(mx, my + open_by * 0.2)
        ctx.line_to(mx, my + open_by * 1.2)
        ctx.stroke()
    for wide, alpha in ((2.6, 0.22), (1.0, 0.85)):
        ctx.set_source_rgba(0.03, 0.02, 0.02, alpha)
        ctx.set_line_width(width * wide)
        ctx.move_to(nx, ny)
        ctx.line_to(mx, my)
        for x, y in ((lx, ly), (rx, ry)):  # the lip hangs lowest half way to the corner
            sag = abs(rx - lx) * (0.24 if open_by <= 0 else 0.10)
            ctx.move_to(mx, my)
            ctx.curve_to(mx + (x - mx) * 0.18, my + sag * 0.9, mx + (x - mx) * 0.62, (my + y) / 2 + sag, x, y)
        ctx.stroke()


def cat_nose(ctx, x, y, r, colour, turn, drop, rabbit=False) -> None:
    """Nose and mouth of a cat or rabbit: a small triangle, a line of length `drop` and two curls."""
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(turn)
    _glow(ctx, 0, r * 0.2, r * 1.7, tuple(c * 0.4 for c in colour), 0.35)
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    lip = tuple(c * 0.28 for c in colour)
    for wide, alpha in ((0.55, 0.20), (0.20, 0.80)):
        ctx.set_line_width(r * wide)
        ctx.set_source_rgba(*lip, alpha)
        ctx.move_to(0, r * 0.4)
        ctx.line_to(0, drop)
        reach = r * (1.9 if not rabbit else 1.1)
        for side in (-1, 1):
            ctx.move_to(0, drop)
            ctx.curve_to(side * reach * 0.3, drop + r * 0.75, side * reach * 0.8, drop + r * 0.7, side * reach, drop + r * 0.15)
        ctx.stroke()
    ctx.scale(r, r)
    ctx.move_to(-0.95, -0.42)
    ctx.curve_to(-0.6, -0.72, 0.6, -0.72, 0.95, -0.42)
    ctx.curve_to(0.8, 0.15, 0.3, 0.5, 0, 0.62)
    ctx.curve_to(-0.3, 0.5, -0.8, 0.15, -0.95, -0.42)
    skin = cairo.LinearGradient(0, -0.6, 0, 0.6)
    skin.add_color_stop_rgb(0, *(min(1.0, c * 1.25 + 0.04) for c in colour))
    skin.add_color_stop_rgb(1, *(c * 0.7 for c in colour))
    ctx.set_source(skin)
    ctx.fill()
    for side in (-1, 1):
        _glow(ctx, 0.46 * side, 0.02, 0.22, lip, 0.9, squash=0.7)
    _glow(ctx, -0.2, -0.36, 0.4, (1, 1, 1), 0.35, squash=0.5)
    ctx.restore()


def whiskers(ctx, x, y, length, side, turn, rng, dark) -> None:
    """A fan of whiskers from (x, y) to one side, with the dots that they grow from."""
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    for i in range(6):
        a = turn + (-0.30 + 0.13 * i + rng.normal(0, 0.05)) * side + (0 if side > 0 else np.pi)
        sx, sy = x + rng.normal(0, 0.06) * length, y + (-0.06 + 0.03 * i) * length
        n = length * rng.uniform(0.75, 1.1)
        ex, ey = sx + np.cos(a) * n, sy + np.sin(a) * n + 0.08 * n
        ctx.set_source_rgba(0.15, 0.1, 0.08, 0.5)
        _ellipse(ctx, sx, sy, length * 0.015, length * 0.015)
        ctx.fill()
        for part, wide in ((1.0, 0.0028), (0.6, 0.0040)):
            ctx.move_to(sx, sy)
            ctx.curve_to(sx + (ex - sx) * 0.3 * part, sy + (ey - sy) * 0.1 * part - 0.03 * n,
                         sx + (ex - sx) * 0.7 * part, sy + (ey - sy) * 0.6 * part - 0.02 * n,
                         sx + (ex - sx) * part, sy + (ey - sy) * part)
            ctx.set_line_width(wide)
            ctx.set_source_rgba(*((0.98,) * 3 if not dark else (0.1, 0.1, 0.1)), 0.45)
            ctx.stroke()


def claws(ctx, x, y, rx, ry, dark) -> None:
    """The lines between the toes of a paw."""
    ctx.set_line_cap(cairo.LINE_CAP_ROUND)
    ctx.set_source_rgba(0.02, 0.01, 0.01, 0.55 if not dark else 0.75)
    ctx.set_line_width(rx * 0.10)
    for i in (-1, 0, 1):
        ctx.move_to(x + i * rx * 0.42, y + ry * 0.15)
        ctx.curve_to(x + i * rx * 0.50, y + ry * 0.3, x + i * rx * 0.52, y + ry * 0.6, x + i * rx * 0.48, y + ry * 0.8)
    ctx.stroke()
