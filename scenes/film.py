"""Films and contact sheets: writing a slide's film, joining films without encoding again, stills on one sheet.

Manim's own writer encodes every animation into a file of its own, each frame of a rest anew, and joins the files
afterwards. ``FilmWriter`` keeps one encoder for the slide and converts a resting frame once; with a faster preset a
slide takes less than half the time, and each step starts on a key frame, so that a player can jump to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import VideoReformatter
from manim.renderer.cairo_renderer import CairoRenderer
from PIL import Image, ImageDraw, ImageFont

from .kit import theme
from .kit.text import FONTS


class FilmWriter:
    """What Manim's Cairo renderer needs of a film writer, as one H.264 stream in one MP4 file."""

    def __init__(self, path: Path, width: int, height: int, rate: int):
        self.sections = [_Section()]
        self._container = av.open(str(path), "w", options={"movflags": "+faststart"})
        # threads: slides already render side by side, one a core
        self._stream = self._container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast", "tune": "animation", "threads": "1"})
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, rate)
        self._count, self._key = 0, True
        self._reformatter = VideoReformatter()  # keeps its tables from frame to frame

    def write_frame(self, frame: np.ndarray, num_frames: int = 1) -> None:
        """Encode an RGBA frame (height, width, 4), held for ``num_frames``."""
        picture = self._reformatter.reformat(av.VideoFrame.from_ndarray(frame, format="rgba"), format="yuv420p", threads=1)
        for _ in range(num_frames):
            picture.pts, picture.time_base = self._count, self._stream.codec_context.time_base
            picture.pict_type = PictureType.I if self._key else PictureType.NONE
            self._container.mux(self._stream.encode(picture))
            self._count, self._key = self._count + 1, False

    def mark(self) -> float:
        """Let the next frame be a key frame; returns its time in seconds."""
        self._key = True
        return float(self._count * self._stream.codec_context.time_base)

    def finish(self) -> None:
        """Write what the encoder still holds and close the file."""
        self._container.mux(self._stream.encode())
        self._container.close()

    def abort_encode_jobs(self, **_kwargs) -> None:
        """A slide failed: close the file so that it can be removed."""
        self._container.close()

    # the rest of the interface: one stream has no partial files and no cache
    def add_partial_movie_file(self, _name: str | None) -> None: ...

    def begin_animation(self, *_args, **_kwargs) -> None: ...

    def end_animation(self, *_args, **_kwargs) -> None: ...


class _Section:
    skip_animations = False


def shoot(slide: type, path: Path, width: int, height: int, rate: int, shows: tuple[bool, bool] = (True, True)) -> None:
    """Render a slide into ``path`` at the size and rate that Manim's config holds; ``shows`` as in ``Slide``."""
    renderer = CairoRenderer(file_writer_class=lambda *_: FilmWriter(path, width, height, rate))
    scene = slide(renderer=renderer)
    scene.shows = shows
    scene.render()


def whole(path: Path, write: Callable[[Path], None]) -> Path:
    """Let ``write`` make a file beside ``path`` and move it there only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getppid()}-{os.getpid()}{path.suffix}")  # see record.sweep
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def join(films: list[Path], target: Path) -> Path:
    """One film of several with the same size and rate: packets are copied, nothing is encoded twice."""
    def write(path: Path) -> None:
        with av.open(str(path), "w", options={"movflags": "+faststart"}) as out:
            stream, offset = None, 0
            for film in films:
                with av.open(str(film)) as source:
                    video = source.streams.video[0]
                    if stream is None:
                        stream = out.add_stream_from_template(video)
                        stream.time_base = video.time_base
                    end = offset
                    for packet in source.demux(video):
                        if packet.dts is None:  # demux ends with an empty packet
                            continue
                        length = packet.duration or round(1 / (video.average_rate * video.time_base))
                        packet.pts, packet.dts = packet.pts + offset, packet.dts + offset
                        end = max(end, packet.pts + length)
                        packet.stream = stream
                        out.mux(packet)
                    offset = end
    return whole(target, write)


def duration(film: Path) -> Fraction:
    """Length of a film in seconds."""
    with av.open(str(film)) as source:
        video = source.streams.video[0]
        return video.duration * video.time_base


def sheet(stills: list[tuple[str, Path]], target: Path, columns: int = 5, width: int = 480) -> Path:
    """A contact sheet: every still with its route under it."""
    height, margin, foot = width * 9 // 16, 14, 26
    lines = -(-len(stills) // columns)
    page = Image.new("RGB", (columns * (width + margin) + margin, lines * (height + foot + margin) + margin), theme.LINE)
    pen, face = ImageDraw.Draw(page), ImageFont.truetype(str(FONTS / "Lato-Regular.ttf"), 17)
    for i, (name, path) in enumerate(stills):
        x, y = margin + i % columns * (width + margin), margin + i // columns * (height + foot + margin)
        with Image.open(path) as still:
            page.paste(still.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), (x, y))
        pen.text((x, y + height + 3), name, fill=theme.INK, font=face)
    return whole(target, lambda path: page.save(path, "PNG"))
