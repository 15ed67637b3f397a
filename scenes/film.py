"""Films and contact sheets: writing a slide's film, joining films without encoding again, stills on one sheet.

Manim's own writer encodes every animation into a file of its own, each frame of a rest anew, and joins the files
afterwards. ``FilmWriter`` keeps one encoder for the slide and converts a resting frame once; with a faster preset a
slide takes less than half the time, and each step starts on a key frame, so that a player can jump to it.
"""

from __future__ import annotations

import os
import shutil
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
from .tracks import Tracks, subtitle_packets


class FilmWriter:
    """What Manim's Cairo renderer needs of a film writer, as one H.264 stream in one MP4 file."""

    def __init__(self, path: Path, width: int, height: int, rate: int):
        self.sections = [_Section()]
        self._container = av.open(str(path), "w", options={"movflags": "+faststart"})
        # threads: slides already render side by side, one a core
        self._stream = self._container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast", "tune": "animation", "threads": "1",
                                                                              "g": "100000", "sc_threshold": "0",  # no key frames but those of the steps
                                                                              "rc-lookahead": "5", "b_strategy": "0"})  # a third less time on flat pictures
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


def join(films: list[Path], target: Path, tracks: Tracks | None = None) -> Path:
    """One film of several with the same size and rate: packets are copied, nothing is encoded twice.

    With ``tracks`` it has chapters, a subtitle track and metadata.
    """
    def write(path: Path) -> None:
        with av.open(str(path), "w", options={"movflags": "+faststart"}) as out:
            stream, offset = None, 0
            if tracks:
                out.metadata.update(title=tracks.title, comment=tracks.about)
                tick = Fraction(1, 1000)
                out.set_chapters([{"id": i, "start": round(c.start / tick), "end": round(c.end / tick), "time_base": tick, "metadata": {"title": c.title}}
                                  for i, c in enumerate(tracks.chapters)])
            for film in films:
                with av.open(str(film)) as source:
                    video = source.streams.video[0]
                    if stream is None:
                        stream = out.add_stream_from_template(video)
                        stream.time_base = video.time_base
                        if tracks:
                            add_subtitles(out, tracks)
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


def add_subtitles(out: av.container.OutputContainer, tracks: Tracks) -> None:
    """A track of timed text (mov_text), in English."""
    base, stream = Fraction(1, 1000), out.add_mux_stream("mov_text")
    stream.time_base = base
    stream.metadata["language"] = "eng"
    for start, length, payload in subtitle_packets(tracks.cues, base, tracks.chapters[-1].end):
        packet = av.Packet(payload)
        packet.pts = packet.dts = start
        packet.duration, packet.time_base, packet.stream = length, base, stream
        out.mux(packet)


def cut(film: Path, folder: Path) -> list[Path]:
    """A slide's film as one file a step, in order; packets are copied. Steps begin on key frames."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with av.open(str(film)) as source:
        video, out, offset = source.streams.video[0], None, 0
        packets = [p for p in source.demux(video) if p.dts is not None]
        starts = sorted(p.pts for p in packets if p.is_keyframe)
        for packet in packets:
            if packet.is_keyframe:
                if out:
                    out.close()
                made.append(folder / f"{len(made) + 1}.mp4")
                out = av.open(str(made[-1]), "w")
                stream = out.add_stream_from_template(video)
                stream.time_base, offset = video.time_base, starts[len(made) - 1]
            packet.pts, packet.dts, packet.stream = packet.pts - offset, packet.dts - offset, stream
            out.mux(packet)
        if out:
            out.close()
    return made


def size(film: Path) -> tuple[int, int]:
    """Width and height of a film in pixels."""
    with av.open(str(film)) as source:
        return source.streams.video[0].width, source.streams.video[0].height


def clear(folder: Path) -> None:
    """Remove a folder of intermediate files."""
    shutil.rmtree(folder, ignore_errors=True)


def poster(film: Path, target: Path) -> Path:
    """The last frame of a slide's film, where everything stands, as a JPEG."""
    with av.open(str(film)) as source:
        frame = None
        for frame in source.decode(source.streams.video[0]):
            pass
        return whole(target, lambda path: frame.to_image().save(path, "JPEG", quality=92))


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
