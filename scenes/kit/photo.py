"""The model's input picture: patch grid, outlined patches, enlarged crops, axes, covers and heat maps over it."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from manim import DOWN, RIGHT, UP, Animation, FadeIn, Group, Line, Mobject, Rectangle, VGroup
from PIL import Image

from vit_data import rows
from vit_data.run import Cover, Run

from . import theme
from .layout import row
from .numbers import count
from .shapes import Connector, arrow, link, outline, picture
from .text import words


def pixels(path: Path | None) -> np.ndarray | None:
    """RGB uint8 (h, w, 3) of a run's picture, or None where the run has none."""
    return None if path is None or not path.exists() else _pixels(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _pixels(path: Path, _changed: int) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


class Photograph(Group):
    """A 224 × 224 model input as an image with a thin border; a neutral panel where the run has no picture.

    Patches are named as in the run: ``P63``, or one-based numbers. ``columns`` cuts another number of pieces a side
    than the model does; names then count those.
    """

    def __init__(self, run: Run, subject: str = "dog", side: float = 4.3, grid: bool = False, image: np.ndarray | None = None, columns: int | None = None):
        self.run, self.side, self.columns = run, side, columns or run.model.grid
        self.array = image if image is not None else pixels(run.picture(subject))
        self.missing = self.array is None
        shown = self.array if not self.missing else _blank(self.columns)
        self.image = picture(shown, side, side, smooth=not self.missing)
        self.border = Rectangle(width=side, height=side, stroke_color=theme.INK, stroke_width=1.2, stroke_opacity=0.55)
        super().__init__(self.image, self.border)
        self.lines = self._grid()
        if grid:
            self.add(self.lines)

    def _grid(self) -> VGroup:
        n, s = self.columns, self.side
        lines = VGroup()
        for i in range(1, n):
            o = -s / 2 + s * i / n
            lines.add(Line([o, -s / 2, 0], [o, s / 2, 0]), Line([-s / 2, o, 0], [s / 2, o, 0]))
        return lines.set_stroke(color="#FFFFFF" if not self.missing else theme.LINE, width=1.1, opacity=0.6)

    def number(self, patch: str | int) -> int:
        """One-based number of a patch given by name or number."""
        return rows.index(patch) if isinstance(patch, str) else patch

    def cell(self, patch: str | int) -> Rectangle:
        """An invisible square exactly over a patch."""
        r, c = rows.grid_place(self.number(patch), self.columns)
        step = self.image.width / self.columns
        place = self.image.get_corner(UP + np.array([-1, 0, 0])) + np.array([(c - 0.5) * step, -(r - 0.5) * step, 0])
        return Rectangle(width=step, height=step, stroke_width=0).move_to(place)

    def patch(self, patch: str | int, color: str = theme.VIOLET, width: float = 4.5) -> VGroup:
        """A patch outlined in ``color`` with a thin rim, white (dark for a white outline), so that it shows on dark and light fur."""
        cell = self.cell(patch)
        return VGroup(outline(cell, theme.INK if color == "#FFFFFF" else "#FFFFFF", width + 3, pad=0.02), outline(cell, color, width, pad=0.02))

    def blocks(self) -> list[np.ndarray]:
        """The pixels of every patch in reading order; single neutral pixels where the run has no picture."""
        n = len(self.array) // self.columns if not self.missing else 1
        shown = self.array if not self.missing else _blank(self.columns)
        return [shown[i * n : (i + 1) * n, j * n : (j + 1) * n] for i in range(self.columns) for j in range(self.columns)]

    def crop(self, patch: str | int, side: float = 1.8, color: str = theme.AMBER) -> Crop:
        """The patch's own 16 × 16 pixels, enlarged."""
        number = self.number(patch)
        size = self.run.model.image // self.columns
        if self.missing and self.columns != self.run.model.grid:
            return Crop(_blank(4), side, color, 0)
        if self.missing:
            patch = self.run.dog.patches.get(rows.name(number))
            colors = (patch.pixels or [])[: size * size] if patch else []
            block = _blank(size)
            for i, rgb in enumerate(colors):
                block[i // size, i % size] = rgb
            return Crop(block, side, color, len(colors))
        else:
            top, left, bottom, right = rows.pixel_box(number, self.columns, size)
            block = self.array[top:bottom, left:right]
        return Crop(block, side, color)

    def zoom_lines(self, patch: str | int, crop: Mobject, color: str = theme.AMBER) -> Connector:
        """Two thin lines from a patch's right corners to a crop's left corners."""
        cell = self.cell(patch)
        return Connector(*(link(cell.get_corner(corner + RIGHT), crop.get_corner(corner - RIGHT), color, 1.8)[0] for corner in (UP, DOWN)))

    def cover(self, cover: Cover, fill: float) -> Rectangle:
        """The grey rectangle of an occlusion test; ``fill`` is its RGB value from 0 to 1."""
        unit = self.image.width / self.run.model.image
        corner = self.image.get_corner(UP + np.array([-1, 0, 0]))
        grey = "#" + f"{round(255 * fill):02X}" * 3
        return Rectangle(width=cover.width * unit, height=cover.height * unit, stroke_width=0, fill_color=grey, fill_opacity=1).move_to(
            corner + np.array([(cover.left + cover.width / 2) * unit, -(cover.top + cover.height / 2) * unit, 0]))

    def axes(self, size: float = theme.LABEL) -> Group:
        """x along the top and y down the left side, both from 0 to the image size in pixels."""
        n = count(self.run.model.image)
        left_top, right_top, left_bottom = (self.image.get_corner(c) for c in (UP - RIGHT, UP + RIGHT, DOWN - RIGHT))
        off = 0.2
        x = arrow(left_top + off * UP, right_top + off * UP, theme.GREY, gap=0)
        y = arrow(left_top - off * RIGHT, left_bottom - off * RIGHT, theme.GREY, gap=0)
        labels = Group(
            words("0", size, theme.GREY).next_to(left_top + off * (UP - RIGHT), UP - RIGHT, buff=0.02),
            words(n, size, theme.GREY).next_to(x, UP, buff=0.06).align_to(self.image, RIGHT),
            words(n, size, theme.GREY).next_to(y, -RIGHT, buff=0.1).align_to(self.image, DOWN),
            words("x (pixels)", size, theme.GREY).next_to(x, UP, buff=0.06),
            words("y (pixels)", size, theme.GREY).rotate(np.pi / 2).next_to(y, -RIGHT, buff=0.1))
        return Group(x, y, labels)

    def heat(self, values: np.ndarray, limit: float, high: str, low: str | None = None, strength: float = 0.86) -> Mobject:
        """A map of 196 patch values laid over the picture: colour ``high`` at ``limit``, ``low`` at −``limit``.

        The picture shows through where values are near zero.
        """
        n = self.columns
        values = np.asarray(values, dtype=float).reshape(n, n)
        share = np.clip(values / (limit or 1), -1 if low else 0, 1)
        color = np.where(share[..., None] >= 0, theme.rgb(high), theme.rgb(low or high))
        alpha = 255 * strength * np.abs(share)[..., None] ** 0.8
        overlay = picture(np.concatenate([color, alpha], axis=-1).astype(np.uint8), self.image.width, self.image.height)
        return overlay.move_to(self.image)

    def veil(self, amount: float = 0.5) -> Rectangle:
        """A paper-coloured veil that quiets the picture under a map."""
        return Rectangle(width=self.image.width, height=self.image.height, stroke_width=0, fill_color=theme.PAPER, fill_opacity=amount).move_to(self.image)


class MapView(Group):
    """A picture with a map of patch values over it: ``photo`` stands at once, ``reveal()`` brings the map.

    ``values`` are the 196 patch values, or None where the run has no map: then only the picture's panel is drawn.
    ``colors`` are those of −``limit`` (or None) and ``limit``.
    """

    def __init__(self, run: Run, values: list[float] | None, limit: float, colors: tuple[str | None, str], subject: str = "dog", side: float = 4.2):
        self.photo = Photograph(run, subject, side)
        self.layers = (
            Group() if values is None else Group(self.photo.veil(0.35), self.photo.heat(values, limit, colors[1], colors[0], 0.7 if colors[0] else 0.86))
        )
        super().__init__(self.photo, self.layers)

    def reveal(self) -> list[Animation]:
        """The picture goes quiet and the map comes up."""
        return [FadeIn(layer) for layer in self.layers]


class Crop(Group):
    """An enlarged patch with sharp pixels and an outline; ``pixel(i)`` outlines its i-th pixel (one-based)."""

    def __init__(self, block: np.ndarray, side: float, color: str, known: int | None = None):
        self.block, self.known = block, known  # how many pixels are the picture's own, where not all
        self.image = picture(block, side, side)
        self.border = outline(self.image, color, 4)
        super().__init__(self.image, self.border)

    def pixel(self, number: int, color: str = "#FFFFFF") -> VGroup:
        """Outline of a pixel in reading order."""
        n = self.block.shape[1]
        step = self.image.width / n
        r, c = divmod(number - 1, n)
        square = Rectangle(width=step, height=step, stroke_width=0)
        square.move_to(self.image.get_corner(UP - RIGHT) + np.array([(c + 0.5) * step, -(r + 0.5) * step, 0]))
        return VGroup(outline(square, theme.INK, 6), outline(square, color, 3))

    def channel(self, index: int) -> Group:
        """The same patch in one channel only: 0 red, 1 green, 2 blue, each in its own colour on black."""
        only = np.zeros_like(self.block)
        only[..., index] = self.block[..., index]
        color = theme.RGB["RGB"[index]]
        if self.known is not None:
            only.reshape(-1, 3)[self.known :] = theme.rgb(theme.tint(color, 0.14))
        return Crop(only, self.image.width, color, self.known)


def scale_bar(low: str, high: str, colors: tuple[str | None, str], width: float = 2.6, size: float = theme.SMALL) -> Group:
    """The key of a heat map: a colour ramp with the values at its ends printed."""
    start = -1.0 if colors[0] else 0.0
    ramp = theme.ramp(np.linspace(start, 1, 96)[None, :], colors[0], colors[1], 1.0)
    bar = picture(ramp, width, 0.2, smooth=True)
    return row(words(low, size, theme.GREY), Group(bar, outline(bar, theme.LINE, 1.2)), words(high, size, theme.GREY), gap=0.16)


def _blank(n: int) -> np.ndarray:
    """A quiet chequered panel of n × n cells: no picture in this run."""
    light, dark = theme.rgb(theme.PANEL), theme.rgb("#E6E9F1")
    board = (np.add.outer(np.arange(n), np.arange(n)) % 2)[..., None]
    return np.where(board, light, dark).astype(np.uint8)
