"""What a lecturer takes along: a deck to click through (HTML, PowerPoint) and a PDF of the pages with their notes.

All of them come from the slides' films and stills, so there is no second source. The clickable decks are made by
manim-slides, which is asked for here only, from one file a step.
"""

from __future__ import annotations

import html as markup
import os
from dataclasses import dataclass
from pathlib import Path

import typst

from vit_data import figures
from vit_data.run import Run

from . import decks, film, tracks
from .kit import theme
from .kit.talk import Talk
from .kit.text import FONTS

TEMPLATE = Path(__file__).with_name("handouts.html")


@dataclass(frozen=True)
class Page:
    """One slide of a handout: what it is called, what is said to it, and to each of its steps."""

    route: str
    title: str
    notes: str
    passages: tuple[str, ...]

    def said(self, step: int) -> str:
        """What is said to a step, counted from 0: its passage, or all notes where they are not divided."""
        return self.passages[step] if step < len(self.passages) else self.notes


def page(route: str, run: Run) -> Page:
    """Title and notes of a slide for a run, without laying it out."""
    slide = decks.slides()[route]
    one = slide.unbuilt(run)
    said = tuple(tracks.plain(p) for p in one.says()) if issubclass(slide, Talk) else ()
    return Page(route, tracks.plain(one.title()), tracks.plain(one.notes()), said)


def clickable(films: dict[str, Path], run: Run, target: Path) -> Path:
    """A deck of one file, a click for each step: ``.html`` for a browser, ``.pptx`` for PowerPoint and its kin.

    Raises ModuleNotFoundError where manim-slides is not installed.
    """
    os.environ.setdefault("TQDM_DISABLE", "1")  # read when manim-slides is imported: one progress display is enough
    from manim_slides.config import PresentationConfig, SlideConfig
    from manim_slides.convert import PowerPoint, RevealJS

    folder = target.parent / f".{target.stem}.steps"
    try:
        slides, size = [], (1280, 720)
        for route, path in films.items():
            what = page(route, run)
            for i, step in enumerate(film.cut(path, folder / route.replace("/", "-"))):
                name = what.title if not i else ""
                slides.append(SlideConfig(file=step, rev_file=step, notes="\n\n".join(filter(None, (name, what.said(i)))), dedent_notes=False))
            size = film.size(path)
        config = PresentationConfig(slides=slides, resolution=size, background_color=theme.PAPER)
        if target.suffix == ".pptx":
            made = PowerPoint(presentation_configs=[config], width=size[0], height=size[1])
        else:
            filled = folder / "template.html"
            filled.write_text(_filled(run, target.stem), encoding="utf-8")
            made = RevealJS(presentation_configs=[config], template=filled, one_file=True, width=size[0], height=size[1])
        return film.whole(target, made.convert_to)
    finally:
        film.clear(folder)


def _filled(run: Run, title: str) -> str:
    """The deck's template with reveal.js inside it, so that it needs no network; manim-slides fills in the steps."""
    from importlib import resources

    reveal = resources.files("sphinx_revealjs") / "_static" / "revealjs"

    def raw(*parts: str) -> str:
        # what the template language would read as its own is kept from it
        return "{% raw %}" + reveal.joinpath(*parts).read_text(encoding="utf-8").replace("</script", "<\\/script") + "{% endraw %}"

    text = TEMPLATE.read_text(encoding="utf-8")
    for mark, content in (("%STYLE%", raw("dist", "reveal.css")), ("%REVEAL%", raw("dist", "reveal.js")), ("%NOTES%", raw("plugin", "notes", "notes.js")),
                          ("%TITLE%", markup.escape(f"Vision Transformer · {title}")), ("%ABOUT%", markup.escape(figures.describe(run))), ("%PAPER%", theme.PAPER)):
        text = text.replace(mark, content)
    return text


def pdf(stills: dict[str, Path], run: Run, target: Path) -> Path:
    """The slides' last steps, each with a page of its notes; titles are bookmarks under their sections."""
    root = Path("/")
    lines = [f'#set document(title: {_quoted(target.stem)}, description: {_quoted(figures.describe(run))})',
             '#set page(width: 960pt, height: 540pt, margin: 0pt)', '#set text(font: ("Lato", "New Computer Modern Math"), size: 17pt, lang: "en")',
             '#show heading: it => hide(place(top + left, text(size: 1pt, it.body)))']
    section = None
    for route, still in stills.items():
        what, own = page(route, run), decks.section(route)
        if own != section and own.key != "cover":
            lines.append(f"#heading(level: 1, {_quoted(own.name)})")
        section = own
        lines += [
            f"#heading(level: 2, {_quoted(what.title)})",
            f'#image({_quoted(still.resolve().relative_to(root).as_posix(), "/")}, width: 100%, height: 100%)',
            f'#page(margin: (x: 90pt, y: 60pt), fill: rgb("{theme.PAPER}"))[#text(size: 12pt, fill: rgb("{theme.GREY}"))[#{_quoted(route)}]\n\n'
            f'#text(size: 24pt, weight: "bold")[#{_quoted(what.title)}]\n\n#v(8pt)\n\n'
            + "\n\n".join(f"#{_quoted(p)}" for p in what.passages or (what.notes,))
            + "]",
        ]
    source = "\n".join(lines).encode()
    content = typst.compile(source, root=str(root), font_paths=[str(FONTS)], ignore_system_fonts=True)
    return film.whole(target, lambda path: path.write_bytes(content))


def _quoted(text: str, before: str = "") -> str:
    """A Typst string."""
    return '"' + before + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
