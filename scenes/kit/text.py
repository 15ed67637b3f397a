"""Words, math and code, set by Typst and drawn as outlines.

Typst lays a string out with the shipped fonts in well under a millisecond once its compiler is warm (a new compiler
for each string, as ``manim.Typst`` makes, costs 50 ms, and reading the SVG glyph by glyph more). So this module keeps
one compiler, reads the few SVG elements that Typst writes for text, and makes one VMobject for each colour of a
string. A slide with forty labels is laid out in the time of one.

Markup inside strings: ``*bold*``, ``$math$`` (Typst's math) and ```` `code` ````; a backslash takes the next
character as it is. ``c₆₃`` becomes a symbol with a subscript. Everything else is printed.
"""

from __future__ import annotations

import functools
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import font_lato
import numpy as np
import svgelements
import typst
from manim import VGroup, VMobject

from . import theme

SANS, MONO, MATH = "Lato", "DejaVu Sans Mono", "New Computer Modern Math"
FONTS = Path(font_lato.__file__).parent / "files"
FACES = ("Lato-Regular.ttf", "Lato-Bold.ttf", "Lato-Italic.ttf", "Lato-BoldItalic.ttf")
_EM = 10.0  # points at which Typst sets; the mobject is scaled afterwards
_NS = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_SUBSCRIPT = re.compile(r"(?<![\\$`\w])(\w)([₀-₉]+)")
_MARK = re.compile(r"\\(.)|\$([^$]+)\$|`([^`]+)`|\*([^*]+)\*", re.DOTALL)


class FontError(Exception):
    """A font that words are set in is not there; the message is one sentence for the user."""

    stops_all = True  # see scenes.jobs


class Words(VGroup):
    """A typeset string. Its box is the line box, not the ink, so that neighbours share a baseline.

    ``text`` is the plain string, ``lines`` how many lines it was set in, ``role`` says which size rule applies.
    """

    def __init__(self, text: str, size: float, lines: int = 1, role: str = "body"):
        super().__init__()
        self.text, self.lines, self.role = text, lines, role
        self._size, self._height = size, 0.0

    @property
    def ink(self) -> VGroup:
        """The visible outlines, without the invisible line box."""
        return VGroup(*self.submobjects[1:])

    @property
    def size_px(self) -> float:
        """Font size as drawn now, in pixels of a 1080p frame."""
        return self._size * self.height / self._height


def words(text: str, size: float = theme.BODY, color: str = theme.INK, *, bold: bool = False, italic: bool = False,
          width: float | None = None, align: str = "left", role: str = "body", font: str = SANS) -> Words:
    """Typeset ``text`` (see the module's markup) at ``size`` pixels.

    ``width`` (Manim units) wraps the text into lines, set ``left``, ``center`` or ``right``.
    """
    weight = '"bold"' if bold else '"regular"'
    style = f'"{"italic" if italic else "normal"}"'
    # fallbacks: Lato has no arrows, subscript digits or Greek
    setup = (f'#set text(font: ("{font}", "{MATH}", "{MONO}"), weight: {weight}, style: {style}, number-type: "lining",'
             f' top-edge: "ascender", bottom-edge: "descender", fill: rgb("{color}"))\n'
             f'#show raw: set text(font: "{MONO}", size: 1.05em, weight: "regular")\n'
             f'#show math.equation: set text(font: "{MATH}", weight: "regular", size: 1.06em)\n#set par(leading: 0.22em)\n')
    body = _typst(_SUBSCRIPT.sub(_subscript, text))
    if width is not None:
        body = f"#set align({align})\n#box(width: {width / (size * theme.PX) * _EM}pt)[{body}]"
    return _outline(setup + body, plain(text), size, role)


def math(source: str, size: float = theme.BODY, color: str = theme.INK, **options) -> Words:
    """A formula in Typst's math notation, such as ``c_63 = x_63 W + b``."""
    return words(f"${source}$", size, color, **options)


def code(source: str, size: float = theme.LABEL, color: str = theme.INK, **options) -> Words:
    """Program text on one line, printed as it is."""
    return words(escape(source), size, color, font=MONO, **options)


def spans(runs: list[tuple[str, str, bool]], size: float = theme.LABEL, font: str = MONO) -> Words:
    """One line of text in several colours, printed as it is: (text, colour, bold) for each run."""
    setup = f'#set text(font: ("{font}", "{MATH}"), top-edge: "ascender", bottom-edge: "descender")\n'
    body = "".join(f'#text(fill: rgb("{color}"), weight: "{"bold" if bold else "regular"}")[{_typst(escape(text))}];' for text, color, bold in runs if text)
    return _outline(setup + body, "".join(text for text, _, _ in runs), size, "body")


def escape(text: str) -> str:
    """``text`` with the markup characters made literal."""
    return re.sub(r"([\\$`*])", r"\\\1", text)


def plain(text: str) -> str:
    """What a reader sees, as a string: ``$c_63$ is *here*`` → ``c63 is here``."""
    def bare(match: re.Match) -> str:
        literal, formula, raw, strong = match.groups()
        if formula is None:
            return literal or raw or plain(strong)
        formula = re.sub(r'"([^"]*)"', r"\1", formula)
        formula = formula.replace("times", "×").replace("dot.op", "·").replace("dot.c", "·").replace("dots.h", "…").replace("approx", "≈").replace("sum", "Σ")
        return re.sub(r"[_(){}]|\bupright\b|\bbold\b", "", formula).replace("^", "")
    return _MARK.sub(bare, text)


def _subscript(match: re.Match) -> str:
    """``c₆₃`` set as mathematics: no text face ships subscript digits."""
    return f"$upright({match[1]})_({match[2].translate(str.maketrans('₀₁₂₃₄₅₆₇₈₉', '0123456789'))})$"


def _typst(text: str) -> str:
    """Typst markup for the kit's markup: every printed run is a string literal, so nothing is interpreted twice."""
    def literal(run: str) -> str:
        lines = run.split("\n")
        return "#linebreak()".join('#"' + line.replace("\\", "\\\\").replace('"', '\\"') + '";' if line else "" for line in lines)
    out, last = [], 0
    for match in _MARK.finditer(text):
        out.append(literal(text[last : match.start()]))
        char, formula, raw, strong = match.groups()
        if char:
            out.append(literal(char))
        elif formula:
            out.append(f"${formula}$")
        elif raw:
            out.append(f'#raw("{raw.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}");')
        else:
            out.append(f'#text(weight: "bold")[{_typst(strong)}]')
        last = match.end()
    return "".join(out) + literal(text[last:])


@functools.cache
def _compiler() -> typst.Compiler:
    lacking = [name for name in FACES if not (FONTS / name).is_file()]
    if lacking:  # Typst would quietly take another font, and every line break would move
        raise FontError(f"The font {lacking[0]} is missing from {FONTS}; install it again: pip install --force-reinstall font-lato.")
    return typst.Compiler(font_paths=[str(FONTS)], ignore_system_fonts=True)


@functools.lru_cache(maxsize=20_000)
def _shapes(source: str) -> tuple[float, float, tuple[tuple[str, np.ndarray], ...]]:
    """(width, height, ((colour, points), …)) in points, y up, origin at the top left. Points are Manim's (n, 3)."""
    page = "#set page(width: auto, height: auto, margin: 0pt, fill: none)\n#set text(size: 10pt)\n"
    root = ET.fromstring(_compiler().compile(input=(page + source).encode(), format="svg"))
    glyphs = {s.get("id"): _curves(s.find(f"{_NS}path").get("d")) for s in root.iter(f"{_NS}symbol") if s.find(f"{_NS}path") is not None}
    by_color: dict[str, list[np.ndarray]] = {}
    _collect(root, np.eye(3), glyphs, by_color)
    _, _, width, height = (float(v) for v in root.get("viewBox").split())
    shapes = []
    for color, parts in by_color.items():
        points = np.zeros((sum(map(len, parts)), 3))
        points[:, :2] = np.concatenate(parts)
        points[:, 1] *= -1
        shapes.append((color, points))
    return width, height, tuple(shapes)


def _collect(element: ET.Element, matrix: np.ndarray, glyphs: dict, out: dict) -> None:
    if element.tag in (f"{_NS}defs", f"{_NS}symbol"):
        return
    move = re.match(r"(matrix|translate|scale)\(([^)]*)\)", element.get("transform", ""))
    if move:
        v = [float(x) for x in re.split(r"[ ,]+", move[2].strip())]
        a, b, c, d, e, f = v if move[1] == "matrix" else ([1, 0, 0, 1, v[0], (v + [0])[1]] if move[1] == "translate" else [v[0], 0, 0, v[-1], 0, 0])
        matrix = matrix @ np.array([[a, c, e], [b, d, f], [0, 0, 1]])
    outline = None
    if element.tag == f"{_NS}use":
        outline = glyphs.get(element.get(_HREF, "#")[1:])
        shift = np.array([float(element.get("x", 0)), float(element.get("y", 0))])
        outline = None if outline is None else outline + shift
    elif element.tag == f"{_NS}path":
        outline = _curves(element.get("d"))
        if element.get("fill", "none") == "none" and element.get("stroke") and len(outline):
            outline = _bar(outline, float(element.get("stroke-width", 0.5)))
    if outline is not None and len(outline):
        color = element.get("fill") if element.get("fill", "none") != "none" else element.get("stroke", theme.INK)
        out.setdefault(color[:7], []).append(outline @ matrix[:2, :2].T + matrix[:2, 2])
    for child in element:
        _collect(child, matrix, glyphs, out)


def _bar(line: np.ndarray, thickness: float) -> np.ndarray:
    """A straight stroke (fraction bar, root) as a filled rectangle."""
    (x0, y0), (x1, y1) = line.min(axis=0), line.max(axis=0)
    half = thickness / 2
    if x1 - x0 >= y1 - y0:
        y0, y1 = y0 - half, y1 + half
    else:
        x0, x1 = x0 - half, x1 + half
    return _curves(f"M {x0} {y0} L {x1} {y0} L {x1} {y1} L {x0} {y1} Z")


@functools.lru_cache(maxsize=5_000)
def _curves(d: str) -> np.ndarray:
    """An SVG path as Manim's cubic points (n, 2), four a curve. Glyphs repeat, so each outline is read once."""
    points: list[svgelements.Point] = []
    for segment in svgelements.Path(d):
        a, b = segment.start, segment.end
        if isinstance(segment, svgelements.CubicBezier):
            points += [a, segment.control1, segment.control2, b]
        elif isinstance(segment, svgelements.QuadraticBezier):
            q = segment.control
            points += [a, a + (q - a) * (2 / 3), b + (q - b) * (2 / 3), b]
        elif isinstance(segment, (svgelements.Line, svgelements.Close)) and a != b:
            points += [a, a + (b - a) * (1 / 3), a + (b - a) * (2 / 3), b]
    return np.array([(p.x, p.y) for p in points], dtype=float).reshape(-1, 2)


def _outline(source: str, text: str, size: float, role: str) -> Words:
    width, height, shapes = _shapes(source)
    scale = size * theme.PX / _EM
    box = VMobject(stroke_width=0, fill_opacity=0)
    corner = np.array([width, -height, 0.0])
    box.points = np.linspace(0, 1, 4)[:, None] * corner
    line_height = 1.0 * _EM  # ascender to descender of Lato
    result = Words(text, size, max(1, round((height + 0.22 * _EM) / (line_height + 0.22 * _EM))), role)
    result.add(box)
    for color, points in shapes:
        run = VMobject(stroke_width=0, fill_opacity=1, fill_color=color)
        run.points = points.copy()
        result.add(run)
    result.scale(scale, about_point=np.zeros(3)).center()
    result._height = result.height
    return result
