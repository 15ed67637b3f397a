"""Which pictures to measure: the lecture's photographs, a user's files, or the project's own drawings.

Whatever the file holds, what comes out is the upright RGB picture that the model's transform starts from.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import urllib.request
import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from .network import why_unreachable
from .run import write_safely
from .story import LECTURE, PLACES

ARCHIVE = "https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz"
"""Oxford-IIIT Pet's own archive of all photographs; the environment variable VIT_DATA_PETS_URL names another copy."""
SMALLEST = 32  # pixels on a side; less is no picture of anything
LARGEST = 300_000_000  # bytes
LONGEST = 30  # sides of a picture may differ by this factor, or its resized copy grows out of memory
OFFLINE = "--dog FILE --cat FILE for pictures of your own, or --dog standin --cat standin for the drawings"


class PhotoError(Exception):
    """A picture that can't be found, read or used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Picture:
    """An upright RGB picture and what is known about it."""

    id: str
    species: str
    kind: str  # photograph or drawing
    image: Image.Image  # mode RGB
    sha256: str  # of the file; of width, height and RGB bytes if drawn
    known: int | None = None
    known_label: str | None = None
    places: dict[str, int] = field(default_factory=lambda: dict(PLACES))

    @property
    def is_lecture(self) -> bool:
        """Whether this is the very file that the lecture shows."""
        return self.sha256 == LECTURE[self.species].sha256


def picture(choice: str, species: str) -> Picture:
    """The picture that ``choice`` names for the ``dog`` or the ``cat`` of the story.

    ``lecture``: the lecture's photograph, from the user's cache (see :func:`fetch`); ``standin``: the project's
    drawing; anything else: the path of a file. Raises PhotoError.
    """
    if choice == "standin":
        return drawn(species)
    return from_file(cached(species) if choice == "lecture" else Path(os.path.expanduser(choice)), species)


@dataclass(frozen=True)
class Animal:
    """One of the labelled examples that open the reference deck."""

    kind: str
    species: str
    breed: str
    image: Image.Image


@cache
def gallery() -> tuple[Animal, ...]:
    """Six labelled animals, three dogs and three cats, as the project draws them."""
    from .standin import draw

    species = {key: breed.species for key, breed in draw.BREEDS.items()}
    return tuple(Animal("drawing", species[d.key], d.name, Image.fromarray(d.pixels)) for d in draw.gallery())


def from_file(path: Path, species: str) -> Picture:
    """A user's picture; the lecture's own file is recognised by its SHA-256, wherever it lies."""
    try:
        if os.path.isfile(path) and path.stat().st_size > LARGEST:
            raise PhotoError(f"{path.name} is larger than {LARGEST // 1_000_000} MB; make it smaller first.")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise PhotoError(f"{path} can't be opened as a picture ({getattr(error, 'strerror', None) or error}).") from error
    sha256, lecture = hashlib.sha256(content).hexdigest(), LECTURE[species]
    image = upright_rgb(content, path.name)
    if sha256 == lecture.sha256:
        return Picture(lecture.id, species, "photograph", image, sha256, lecture.known, lecture.known_label)
    name = re.sub(r"[^\w.-]+", "_", path.stem)[:80].strip("_") or "picture"
    return Picture(name, species, "photograph", image, sha256)


def upright_rgb(content: bytes, name: str) -> Image.Image:
    """The first frame of a picture file as upright 8-bit RGB, transparent parts over white.

    Raises PhotoError, with the file's ``name``, for what is no picture, is damaged, has a side below 32 pixels, or
    is too large to open.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of what is merely large or oddly tagged
            with Image.open(io.BytesIO(content)) as opened:
                width, height = opened.size
                if min(width, height) < SMALLEST:
                    raise PhotoError(f"{name} has {width} × {height} pixels; a picture needs at least {SMALLEST} on each side.")
                if max(width, height) > LONGEST * min(width, height):
                    raise PhotoError(f"{name} has {width} × {height} pixels; one side may be at most {LONGEST} times the other.")
                return to_rgb(ImageOps.exif_transpose(opened))
    except PhotoError:
        raise
    except Image.DecompressionBombError as error:
        raise PhotoError(f"{name} has more pixels than can be opened safely; make it smaller first.") from error
    except Exception as error:  # Pillow's readers let errors of a dozen kinds through when a file is damaged
        raise PhotoError(f"{name} can't be read as a picture; it is damaged or of a kind that Pillow does not know.") from error


def to_rgb(image: Image.Image) -> Image.Image:
    """8-bit RGB of an image in any of Pillow's modes.

    Deep greyscale is scaled to 8 bits (Pillow's own conversion would clip it to white); transparent pixels show white.
    """
    if image.mode.startswith("I") or image.mode == "F":
        values = np.nan_to_num(np.asarray(image, dtype=np.float64))
        # I;16 and I hold 16-bit greys; F has no fixed range, so the smallest usual one that holds its values
        tops = (1.0, 255.0, 65535.0) if image.mode == "F" else (65535.0,)
        largest = float(values.max(initial=0.0))
        top = next((t for t in tops if largest <= t), largest)
        image = Image.fromarray(np.rint(values.clip(0) * (255.0 / top)).astype(np.uint8))
    if image.has_transparency_data:
        image = (image.convert("LA") if image.mode == "La" else image).convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def cache_folder() -> Path:
    """Where downloaded photographs are kept: ``vit-lecture`` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vit-lecture"


def cached(species: str) -> Path:
    """Where the lecture's photograph of this species is kept."""
    return cache_folder() / f"{LECTURE[species].id}.jpg"


def missing(wanted: Iterable[str]) -> list[str]:
    """The species in ``wanted`` whose lecture photograph is not in the cache, or is there damaged."""
    def whole(species: str) -> bool:
        path = cached(species)
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == LECTURE[species].sha256
    return [species for species in wanted if not whole(species)]


def archive_url() -> str:
    """The archive to read, after the environment's override."""
    return os.environ.get("VIT_DATA_PETS_URL") or ARCHIVE


def check_network(wanted: Iterable[str]) -> None:
    """Raise PhotoError at once if photographs are missing and the archive can't be reached."""
    lacking = missing(wanted)
    reason = why_unreachable(archive_url()) if lacking and not archive_url().startswith("file:") else None
    if reason:
        names = " and ".join(f"{LECTURE[s].id}.jpg" for s in lacking)
        raise PhotoError(f"The lecture's {names} can't be fetched ({reason}); put the file into {cache_folder()} by hand, or give {OFFLINE}.")


class _Download:
    """A file on a server, read once from start to end; a broken connection goes on where it broke.

    ``tell`` hears the bytes read so far and the size (0 if unknown).
    """

    ATTEMPTS, TIMEOUT = 3, 15  # connections in a row that give nothing; seconds of silence

    def __init__(self, url: str, tell: Callable[[int, int], None]) -> None:
        self._url, self._tell, self._read = url, tell, 0
        self._response = urllib.request.urlopen(url, timeout=self.TIMEOUT)
        self._total = int(self._response.headers.get("Content-Length") or 0)
        self._mark = self._response.headers.get("ETag")

    def read(self, size: int = -1) -> bytes:
        block, failures = b"", 0
        while True:
            try:
                block = self._response.read(size)
                if block or size == 0 or self._read >= self._total:
                    break
                reason: Exception = EOFError(f"the connection ended after {self._read:,} of {self._total:,} bytes")
            except (OSError, HTTPException) as error:
                reason = error
            failures += 1
            if failures >= self.ATTEMPTS or not self._url.startswith("http"):
                raise reason
            self._again(reason)
        self._read += len(block)
        self._tell(self._read, self._total)
        return block

    def _again(self, reason: Exception) -> None:
        """Ask for the rest of the file; raises ``reason`` if the server gives anything else."""
        self._response.close()
        # the server sends the rest only if the file is still the same
        headers = {"Range": f"bytes={self._read}-"} | ({"If-Range": self._mark} if self._mark else {})
        try:
            self._response = urllib.request.urlopen(urllib.request.Request(self._url, headers=headers), timeout=self.TIMEOUT)
        except (OSError, HTTPException):
            raise reason from None
        if self._read and self._response.status != 206:
            raise reason

    def __enter__(self) -> _Download:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()


def fetch(wanted: Iterable[str], tell: Callable[[int, int], None] = lambda read, total: None) -> None:
    """Download the lecture's photographs that are not in the cache; each must have its known SHA-256.

    The archive is read as a stream and only as far as needed; nothing else of it is stored. ``tell`` hears the
    bytes read and the archive's size (0 if unknown). Raises PhotoError.
    """
    lacking = {f"{LECTURE[s].id}.jpg": s for s in missing(wanted)}
    if not lacking:
        return
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with _Download(archive_url(), tell) as download, tarfile.open(fileobj=download, mode="r|gz") as archive:
            for member in archive:
                species = lacking.get(member.name.rpartition("/")[2])
                if species is None or not member.isfile() or member.size > 20_000_000:
                    continue
                content = archive.extractfile(member).read()
                if hashlib.sha256(content).hexdigest() != LECTURE[species].sha256:
                    raise PhotoError(f"{member.name} from the archive differs from the lecture's photograph (SHA-256); give {OFFLINE}.")
                write_safely(cached(species), content)
                del lacking[cached(species).name]
                if not lacking:
                    return
    except (OSError, EOFError, HTTPException, tarfile.TarError, zlib.error, ValueError) as error:
        raise PhotoError(f"The lecture's photographs could not be downloaded ({error}); try again, or give {OFFLINE}.") from error
    raise PhotoError(f"The archive does not hold {' and '.join(lacking)}, or it arrived damaged; try again, or give {OFFLINE}.")


@cache  # a drawing takes seconds
def drawn(species: str) -> Picture:
    """The project's own drawing in the place of the lecture's dog or cat, with its own places."""
    from .standin import draw  # the drawing library is not needed for photographs

    pixels = draw.lecture_dog() if species == "dog" else draw.lecture_cat()
    image, lecture = Image.fromarray(pixels), LECTURE[species]
    sha256 = hashlib.sha256(f"{image.width} {image.height} ".encode() + image.tobytes()).hexdigest()
    return Picture(f"drawn_{species}", species, "drawing", image, sha256, lecture.known, lecture.known_label, {**PLACES, **draw.PLACES[species]})
