"""The lab page: one HTML file that shows any attention or similarity map of a run, with no server and no network.

``page.html`` is the frame, ``page.css`` the look, ``tensors.js`` the arithmetic and ``page.js`` what a student does.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import font_lato
import numpy as np

from scenes.kit import theme
from vit_data import figures, lab_tensors
from vit_data.examples import EXAMPLES
from vit_data.run import Run

HERE = Path(__file__).parent
FONTS = Path(font_lato.__file__).parent / "files"
COLORS = ("PAPER", "INK", "GREY", "LINE", "PANEL", "BLUE", "AMBER", "TEAL", "GOLD", "VIOLET")


def build(run: Run) -> str:
    """The page for a run, as HTML text. Raises LabError if the run has no tensors."""
    tensors = lab_tensors.load(run)
    parts = {
        "title": "Attention and similarity lab",
        "css": "\n".join((_fonts(), _colors(), _read("page.css"))),
        "data": json.dumps(_data(run, tensors), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "tensors": _base64(_payload(tensors)),
        "js": "\n".join(_read(name) for name in ("tensors.js", "page.js")),
    }
    page = _read("page.html")
    for name, text in parts.items():
        before, mark, after = page.partition(f"<!--{name}-->")
        assert mark, name
        page = before + text + after
    return page


def _data(run: Run, tensors: lab_tensors.LabTensors) -> dict:
    """Everything but the tensors: what the page says and where things are."""
    m = run.model
    return {
        "run": run.name, "about": figures.describe(run),
        "model": {"grid": m.grid, "tokens": m.tokens, "depth": m.depth, "heads": m.heads, "headWidth": m.head_width, "width": m.width},
        "pictures": [_picture(run, subject) for subject in lab_tensors.SUBJECTS],
        "presets": [{"title": e.title(run), "lesson": e.lesson, "kind": e.kind, "picture": 0, "block": e.depth(run), "head": e.head, "query": e.query(run)}
                    for e in EXAMPLES],
        "planes": [len(lab_tensors.planes(p.levels)) for p in _parts(tensors)],
        "errors": {"weight": tensors.weight_error, "cosine": tensors.cosine_error},
        "colors": {name.lower(): theme.rgb(getattr(theme, name)).astype(int).tolist() for name in ("BLUE", "TEAL", "GOLD", "AMBER")},
    }


def _picture(run: Run, subject: str) -> dict:
    photo, best, path = getattr(run, subject).photo, getattr(run, subject).prediction.top[0], run.picture(subject)
    image = f"data:image/png;base64,{_base64(path.read_bytes())}" if path and path.is_file() else None
    return {"name": subject, "kind": photo.kind, "image": image, "label": best.label, "probability": best.probability}


def _payload(tensors: lab_tensors.LabTensors) -> bytes:
    """Steps as little-endian float32, then the byte planes of the levels, q, k, features each; deflated."""
    parts = _parts(tensors)
    return zlib.compress(b"".join([*(np.ascontiguousarray(p.steps, dtype="<f4").tobytes() for p in parts),
                                   *(lab_tensors.planes(p.levels).tobytes() for p in parts)]), 9)


def _parts(tensors: lab_tensors.LabTensors) -> tuple[lab_tensors.Levels, ...]:
    return tensors.q, tensors.k, tensors.features


def _fonts() -> str:
    faces = (("Lato-Regular.ttf", 400), ("Lato-Bold.ttf", 700))
    return "\n".join(f"@font-face{{font-family:Lato;font-weight:{weight};src:url(data:font/ttf;base64,{_base64((FONTS / name).read_bytes())})}}"
                     for name, weight in faces)


def _colors() -> str:
    return ":root{" + "".join(f"--{name.lower()}:{getattr(theme, name)};" for name in COLORS) + "}"


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
