"""What a film was made from, written beside it: fields of the run, files, source, versions, settings.

While a slide is built, every field of the run that it reads is noted. A picture counts by its pixels, so that a run
measured again on the same photograph changes nothing. With the source (:mod:`scenes.sources`) that is all a film
depends on: if none of it changed, the film on disk is the one that would come out again.

``20.mp4`` has its record in ``20.json``. Both are replaced whole, the film first, and the record holds the film's hash,
so a crash, a second render in the same folder or a copied checkout can leave a film without a matching record, which
is made again, but never a record that vouches for another film.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import FunctionType
from typing import Any

from vit_data import run as runs
from vit_data.run import Part, Run

from . import sources

FORMAT = 1
LIBRARIES = ("manim", "numpy", "pillow", "av", "typst", "svgelements", "font-lato", "pycairo")
WRITER = ("scenes.film", "shoot")  # the part of the program that makes a film of a slide
ABSENT = "absent"
_WHOLE = "*"                       # a part read as one: compared, copied or printed
_LONG = 80                         # characters of JSON that a record keeps as they are
_DOT = re.compile(r"(?<!\\)\.")


# reading a run -------------------------------------------------------------------------------------------------------
class Reading:
    """The fields of one run that were read, and the project's files that were opened meanwhile."""

    def __init__(self, run: Run):
        self.run = run
        self.fields: set[str] = set()
        self.opened: set[str] = set()
        self._places = _places(run)

    def note(self, part: Part, name: str) -> None:
        """Called for every attribute of every part."""
        places = self._places.get(id(part))
        kind = _kind(type(part), name) if places is not None else 0
        for place in places if kind else ():
            path = f"{place}{name if kind == 1 else _WHOLE}"
            if path not in self.fields:
                self.fields.add(path)
                if name.endswith("file"):
                    value(self.run, path)  # a picture may be replaced later; what is drawn is never older than this

    @property
    def shows(self) -> tuple[bool, bool]:
        """Whether anything was read that the weights decide, and that the pictures decide."""
        leaves = {f: _group(f) for f in self.fields if not is_structure(value(self.run, f))}
        return "weights" in leaves.values(), "pictures" in leaves.values()


@contextlib.contextmanager
def reading(run: Run) -> Iterator[Reading]:
    """Note what is read of ``run`` in this block, by slides, parts and functions of ``vit_data`` alike."""
    global _now
    found = Reading(run)
    before, _now = _now, found
    try:
        with runs.watching(found.note):
            yield found
    finally:
        _now = before


@functools.lru_cache(maxsize=None)
def _kind(part: type[Part], name: str) -> int:
    """1: the field of that name is read; 2: the part as a whole; 0: nothing (a method, which will read for itself)."""
    if name in part.__pydantic_fields__:
        return 1
    own = inspect.getattr_static(part, name, None)
    inherited = hasattr(runs.BaseModel, name)
    if name in ("__class__", "__deepcopy__") or (isinstance(own, (FunctionType, property, classmethod, staticmethod)) and not inherited):
        return 0
    if set(part.__private_attributes__) == {"_folder"} and name in ("_folder", "__pydantic_private__", "__private_attributes__"):
        return 0  # where the run's pictures lie; they count by their pixels
    return 2


def _places(run: Run) -> dict[int, list[str]]:
    """Where each part stands in the run: id → paths, each ending in a dot."""
    kept = _known(run)
    if kept.places:
        return kept.places
    found = kept.places

    def walk(item: Any, path: str) -> None:
        if isinstance(item, Part):
            found.setdefault(id(item), []).append(path)
            for name in type(item).__pydantic_fields__:
                walk(_inside(item)[name], f"{path}{name}.")
        elif isinstance(item, dict):
            for key, inner in item.items():
                walk(inner, f"{path}{_escape(key)}.")
        elif isinstance(item, (list, tuple)) and item and isinstance(item[0], (Part, dict, list, tuple)):
            for i, inner in enumerate(item):
                walk(inner, f"{path}{i}.")

    walk(run, "")
    return found


def _escape(key: Any) -> str:
    return str(key).replace("\\", "\\\\").replace(".", "\\.")


def steps(path: str) -> list[str]:
    """``dog.patches.P63.c`` → its four steps; a dot inside a key is escaped with a backslash."""
    return [s.replace("\\.", ".").replace("\\\\", "\\") for s in _DOT.split(path)]


def value(run: Run, path: str) -> Any:
    """What a record keeps of a field: small values as they are, long ones as a hash, a picture as that of its pixels."""
    values = _known(run).values
    if path not in values:
        values[path] = _value(run, path)
    return values[path]


@dataclass
class _Known:
    """What was worked out about a run."""

    run: Run
    places: dict[int, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


_runs: dict[int, _Known] = {}


def _known(run: Run) -> _Known:
    if id(run) not in _runs or _runs[id(run)].run is not run:
        if len(_runs) > 8:
            _runs.clear()
        _runs[id(run)] = _Known(run)
    return _runs[id(run)]


def _inside(part: Part) -> dict[str, Any]:
    """A part's fields, unnoticed."""
    return object.__getattribute__(part, "__dict__")


def _value(run: Run, path: str) -> Any:
    item: Any = run
    for step in steps(path):
        if step == _WHOLE and isinstance(item, Part):
            return _short(json.loads(item.model_dump_json()))
        try:
            if isinstance(item, Part):
                item = _inside(item)[step]
            elif isinstance(item, dict):
                item = next(v for k, v in item.items() if str(k) == step)
            elif isinstance(item, (list, tuple)):
                item = item[int(step)]
            else:
                return ABSENT
        except (KeyError, IndexError, ValueError, StopIteration):
            return ABSENT
    if isinstance(item, str) and item.endswith(".png"):
        return {"pixels": pixels(run._folder / item)}
    return _short(_skeleton(item))


def _skeleton(item: Any) -> Any:
    """Containers as they are, parts in them only by being there: what is in a part is noted when it is read."""
    if isinstance(item, Part):
        return {"part": type(item).__name__}
    if isinstance(item, dict):
        return {str(k): _skeleton(v) for k, v in item.items()}
    return [_skeleton(v) for v in item] if isinstance(item, (list, tuple)) else item


def _short(item: Any) -> Any:
    text = json.dumps(item, ensure_ascii=False)
    if len(text) <= _LONG or is_structure(item) and not isinstance(item, (dict, list)):
        return item
    return {"of": len(item) if isinstance(item, (dict, list)) else 1, "sha": _sha(text.encode()), "parts": True} if is_structure(item) else {
        "of": len(item) if isinstance(item, (dict, list)) else 1, "sha": _sha(text.encode())}


def is_structure(item: Any) -> bool:
    """Whether a value only says which parts there are."""
    if isinstance(item, dict):
        return set(item) == {"part"} or item.get("parts") is True or bool(item) and all(map(is_structure, item.values()))
    return isinstance(item, list) and bool(item) and all(map(is_structure, item))


@functools.lru_cache(maxsize=64)
def _pixels(path: Path, _stamp: tuple[int, int]) -> str:
    from PIL import Image

    with Image.open(path) as picture:
        return _sha(f"{picture.size}".encode() + picture.convert("RGB").tobytes())


def pixels(path: Path) -> str:
    """A hash of a picture's size and colours, whatever its file looks like."""
    try:
        about = path.stat()
        return _pixels(path, (about.st_size, about.st_mtime_ns))
    except OSError:
        return ABSENT


def _group(path: str) -> str:
    """What decides a field: the ``weights`` unless it is the model's shape, a computed example or the picture's own."""
    if path.split(".")[0] in ("schema_version", "name", "provenance", "model", "toy"):
        return "neither"
    if re.match(r"(gallery\.\d+\.file|(dog|cat)\.(photo\.(input|original)_file|patches\.[^.]+\.(pixels|x\..*)))$", path):
        return "pictures"
    return "neither" if re.match(r"(gallery|(dog|cat)\.photo)\b", path) else "weights"


# files that slides open ----------------------------------------------------------------------------------------------
_now: Reading | None = None
_openers: dict[str, set[sources.Node]] = {}  # file → the definitions that opened it in this process
_hashes: dict[str, str] = {}


def _audit(event: str, arguments: tuple) -> None:
    """Python calls this at every open: data files of the project count for the slides that use the code that reads them.

    It remembers the code, since a function may keep what it has read and open nothing the next time.
    """
    if event != "open" or not isinstance(arguments[0], (str, os.PathLike)) or arguments[2] & (os.O_WRONLY | os.O_RDWR):
        return
    path = os.path.abspath(arguments[0])
    if not path.startswith(_WITHIN) or path.endswith(".pyc") or path.startswith(_CACHE) and (_now is None or not path.endswith(".json")):
        return
    frame = sys._getframe(1)
    if frame.f_code.co_filename.startswith("<frozen importlib"):
        return  # source that is imported counts already
    while frame is not None and not frame.f_code.co_filename.startswith(_WITHIN):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename in (__file__, sources.__file__):
        return
    module = ".".join(Path(frame.f_code.co_filename).relative_to(sources.ROOT).with_suffix("").parts).removesuffix(".__init__")
    name = frame.f_code.co_qualname.split(".")[0]
    file = Path(path).relative_to(sources.ROOT).as_posix()
    if file not in _hashes:
        _hashes[file] = file_hash(file)  # before it is read: what is drawn is never older than this
    if _now is not None:
        _now.opened.add(file)
    elif (module, name) == ("vit_data.run", "load"):
        return  # the run to draw: it counts by the fields that are read
    _openers.setdefault(file, set()).add((module, sources.BODY if name == "<module>" else name))


_WITHIN = tuple(str(sources.ROOT / package) + os.sep for package in sources.PACKAGES)
_CACHE = str(runs.CACHE) + os.sep
sys.addaudithook(_audit)


# records -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Settings:
    """What the command line chooses about a film."""

    width: int
    height: int
    rate: int


def path_of(film: Path) -> Path:
    """Where the record of a film lies."""
    return film.with_suffix(".json")


def describe(route: str, node: sources.Node, found: Reading, settings: Settings, project: sources.Project | None = None) -> dict:
    """The record of a slide just built, still without its film."""
    project = project or sources.NOW
    reach = project.reach(node, WRITER)
    files = found.opened | {file for file, openers in _openers.items() if openers & reach}
    return {
        "format": FORMAT,
        "route": route,
        **surroundings(route, settings),
        "reads": {path: value(found.run, path) for path in sorted(found.fields)},
        "files": {file: _hashes[file] for file in sorted(files)},
        "source": project.digests(node, WRITER),
    }


def surroundings(route: str, settings: Settings) -> dict:
    """What a film depends on besides run and source."""
    from . import decks

    return {"settings": vars(settings), "place": [decks.section(route).name, *decks.page(route)], "versions": versions()}


@functools.cache
def versions() -> dict[str, str]:
    """Python and the libraries that draw."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def file_hash(file: str) -> str:
    """Hash of one of the project's files, by its path from the project's root."""
    try:
        return _sha((sources.ROOT / file).read_bytes())
    except OSError:
        return ABSENT


def write(film: Path, made: dict) -> None:
    """Record what ``film`` was made from: a description with the film's ``fingerprint`` and the ``seconds`` it took."""
    _save(path_of(film), made)


def write_failure(film: Path, route: str, error: str) -> None:
    """Record that a slide could not be drawn; a film of an earlier time is no longer vouched for."""
    with contextlib.suppress(OSError):
        _save(path_of(film), {"format": FORMAT, "route": route, "failed": error.strip().splitlines()[-1][:300]})


def read(film: Path) -> dict | None:
    """The record of a film; None if there is none, or none that can be read."""
    try:
        made = json.loads(path_of(film).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        return None
    if "failed" in made:
        return made if isinstance(made["failed"], str) else None
    shapes = {"reads": dict, "files": dict, "source": dict, "settings": dict, "versions": dict, "place": list, "film": dict, "seconds": (int, float)}
    return made if all(isinstance(made.get(key), kind) for key, kind in shapes.items()) and all(isinstance(v, dict) for v in made["source"].values()) else None


def fingerprint(film: Path) -> dict:
    """Hash, size and time of a file."""
    about = film.stat()
    return {"sha256": _file_sha(film), "size": about.st_size, "changed": about.st_mtime_ns}


def is_film(film: Path, recorded: dict) -> bool:
    """Whether the file is the recorded one: by size and time, or, where it was copied, by its hash."""
    try:
        about = film.stat()
        if about.st_size != recorded.get("size"):
            return False
        return about.st_mtime_ns == recorded.get("changed") or _file_sha(film) == recorded.get("sha256")
    except OSError:
        return False


def hash_of(film: Path) -> str:
    """Hash of a film, from its record if that is right."""
    made = read(film)
    return made["film"]["sha256"] if made and "film" in made and is_film(film, made["film"]) else _file_sha(film)


def along(routes: Iterable[str], run: Run) -> str:
    """A hash of all that the chapters and subtitles of a joined film may come from: the source with its notes, and the run."""
    source = sources.NOW.digests(*(sources.NOW.routes[route] for route in routes), ("scenes.tracks", "of"), verbatim=True)
    return _sha(json.dumps(source).encode() + run.model_dump_json().encode())


def write_join(target: Path, parts: Iterable[str]) -> None:
    """Record what a joined film was made of: its films, and what goes along with them, by hash."""
    _save(path_of(target), {"format": FORMAT, "parts": list(parts), "film": fingerprint(target)})


def is_joined(target: Path, parts: Iterable[str]) -> bool:
    """Whether a joined film is on disk and made of exactly these parts."""
    try:
        made = json.loads(path_of(target).read_text(encoding="utf-8"))
        return made["format"] == FORMAT and made["parts"] == list(parts) and is_film(target, made["film"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def sweep(folder: Path, everything: bool = False) -> None:
    """Remove what killed processes left half made: unchanged for an hour, or, with ``everything``, this process's and its workers'.

    Another render may be at work in the same folder; its files are left alone.
    """
    mine = re.compile(rf"\..*\.({os.getpid()}-\d+|\d+-{os.getpid()})\.\w+$")
    for part in folder.rglob(".*.*-*.*"):
        with contextlib.suppress(OSError):
            if everything and mine.match(part.name) or time.time() - part.stat().st_mtime > 3600:
                part.unlink()


def _save(path: Path, document: dict) -> None:
    text = json.dumps(document, ensure_ascii=False, sort_keys=False, indent=0)
    temporary = path.with_name(f".{path.stem}.{os.getppid()}-{os.getpid()}{path.suffix}")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _file_sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
