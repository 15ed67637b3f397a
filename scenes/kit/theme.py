"""Colours, type sizes and the frame: the only place where a look is chosen.

Lengths in the kit are Manim units unless a name ends in ``_px``; pixels are those of a 1920 × 1080 frame, whatever
the size that is rendered.
"""

import numpy as np

PX = 8 / 1080  # one pixel of a 1080p frame in Manim units
FRAME_W, FRAME_H = 1920 * PX, 8.0

PAPER = "#FCFCFA"
INK = "#1B2333"
GREY = "#626C7F"      # secondary words; 5.2 : 1 on paper
LINE = "#D5D9E4"      # rules, neutral borders
PANEL = "#F1F3F8"     # neutral fill

BLUE = "#2563C9"      # image states, patches, vectors of the picture
PURPLE = "#7A4FC4"    # language states
AMBER = "#C97B06"     # learned CLS and position, query outline
TEAL = "#0E8578"      # attention weight
GOLD = "#C79414"      # positive similarity
RED = "#C2412D"       # probability falls
ORANGE = "#E0662B"    # trainable
VIOLET = "#8A3FD1"    # outline of the query patch on a picture
SKIP = "#8A93A5"      # residual path
HEADS = ("#2563C9", "#2F8FB5", "#5B57C9")  # three tints of blue, one a head
RGB = {"R": "#C4452F", "G": "#3B8D46", "B": "#2F6FD0"}

# font sizes in pixels
TITLE, CAPTION, BODY, LABEL, SMALL, FOOTER = 58, 38, 34, 29, 25, 21
SMALLEST_PX, SMALLEST_FOOTER_PX = 22, 14


def tint(color: str, amount: float) -> str:
    """``color`` mixed with paper: 0 is paper, 1 the colour itself."""
    mixed = amount * rgb(color) + (1 - amount) * rgb(PAPER)
    return "#" + "".join(f"{round(v):02X}" for v in mixed)


def rgb(color: str) -> np.ndarray:
    """(3,) floats from 0 to 255 of ``#RRGGBB``."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def ramp(values: np.ndarray, low: str | None, high: str, limit: float) -> np.ndarray:
    """Colours (…, 3) uint8 for values on a scale from white at 0 to ``high`` at ``limit``, ``low`` at −``limit``.

    Without ``low``, negative values are white.
    """
    share = np.clip(np.asarray(values, dtype=float) / (limit or 1.0), 0 if low is None else -1, 1)[..., None]
    white = np.array([255.0, 255.0, 255.0])
    end = np.where(share >= 0, rgb(high), rgb(low or high))
    return np.rint(white + np.abs(share) * (end - white)).astype(np.uint8)
