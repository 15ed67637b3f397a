"""What a film's record holds: every field that is read, every file that is opened, the source that is used, and nothing more."""

import copy
import json
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image
from scenes import decks, jobs, record, sources, status
from scenes.kit.check import _signature
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from vit_data import figures, run as runs
from vit_data.run import Part

ROUTES = list(decks.routes())
SAMPLE = ROUTES[3::29]
SIZE = record.Settings(854, 480, 15)


def fields(run, read):
    with record.reading(run) as found:
        read(run)
    return found.fields


@pytest.mark.parametrize("read, noted", [
    (lambda run: run.dog.patches["P63"].c.first, {"dog", "dog.patches", "dog.patches.P63.c", "dog.patches.P63.c.first"}),
    (lambda run: run.dog.place("nose"), {"dog", "dog.photo", "dog.photo.places"}),
    (lambda run: run.dog.prediction.top[1].label, {"dog", "dog.prediction", "dog.prediction.top", "dog.prediction.top.1.label"}),
    (lambda run: run.dog.h[1], {"dog", "dog.h", "dog.h.values", "dog.h.first"}),
    (lambda run: figures.picture_word(run, "cat"), {"cat", "cat.photo", "cat.photo.kind"}),
    (lambda run: run.picture("dog"), {"dog", "dog.photo", "dog.photo.input_file"}),
    (lambda run: run.model.work.model_dump(), {"model", "model.work", "model.work.*"}),
    (lambda run: run.model.work == run.model.work, {"model", "model.work", "model.work.*"}),
    (lambda run: dict(run.model.work), {"model", "model.work", "model.work.*"}),
    (lambda run: str(run.model.work), {"model", "model.work", "model.work.*"}),
    (lambda run: vars(run.model.work), {"model", "model.work", "model.work.*"}),
    (lambda run: run.model.work.model_copy(update={"scores_total": 1}), {"model", "model.work", "model.work.*"}),
    (lambda run: hash(run.model.work), {"model", "model.work", "model.work.*"}),
    (lambda run: copy.deepcopy(run.model.work), {"model", "model.work"}),
    (lambda run: isinstance(run.model.work, Part), {"model", "model.work"}),
])
def test_reads_are_noted(read, noted):
    assert fields(runs.load("published"), read) == noted


def test_nothing_is_noted_outside():
    run = runs.load("published")
    with record.reading(run) as found:
        runs.load("published").dog.photo
        runs.Vector.of([1.0, 2.0]).first
    run.dog.photo.kind
    assert found.fields == set()


def test_values_tell_changes_apart():
    run, other = runs.load("published"), document()
    other["dog"]["patches"]["P63"]["c"]["first"][1] += 0.001
    other["dog"]["prediction"]["top"][0]["label"] = "a spaniel"
    other["dog"]["patches"]["P5"] = other["dog"]["patches"]["P63"]
    other = runs.Run.model_validate(other)
    changed = {path for path in ("dog.patches", "dog.patches.P63.c", "dog.patches.P63.c.first", "dog.prediction.top.0.label", "dog.prediction.top.0.*", "*",
                                 "dog.prediction.top.1.label", "dog.no.such", "dog.patches.P5.c.first", "model.grid")
               if record.value(run, path) != record.value(other, path)}
    assert changed == {"dog.patches", "dog.patches.P63.c.first", "dog.prediction.top.0.label", "dog.prediction.top.0.*", "*", "dog.patches.P5.c.first"}
    assert record.steps(r"lab.flow.a\.b.c") == ["lab", "flow", "a.b", "c"]


def test_a_picture_counts_by_its_pixels(tmp_path):
    Image.new("RGB", (4, 4), "red").save(tmp_path / "a.png")
    Image.new("RGB", (4, 4), "red").save(tmp_path / "b.png", compress_level=0)
    Image.new("RGB", (4, 4), (254, 0, 0)).save(tmp_path / "c.png")
    a, b, c = (record.pixels(tmp_path / f"{name}.png") for name in "abc")
    assert a == b != c
    assert record.pixels(tmp_path / "none.png") == record.ABSENT


def document():
    return json.loads(runs.PUBLISHED.read_text(encoding="utf-8"))


# a field that is not in a slide's reads can be anything without the slide looking different ---------------------------
def scramble(item, path, kept):
    """Change, in place, every value that is not among ``kept``."""
    if isinstance(item, Part):
        inside = object.__getattribute__(item, "__dict__")
        for name, value in inside.items():
            inside[name] = scramble(value, f"{path}{name}.", kept) if f"{path}{name}" not in kept else parts_of(value, f"{path}{name}.", kept)
        return item
    if isinstance(item, dict):
        return {k: scramble(v, f"{path}{record._escape(k)}.", kept) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [scramble(v, f"{path}{i}.", kept) for i, v in enumerate(item)]
    if isinstance(item, bool) or item is None:
        return item if item is None else not item
    return f"not {item}" if isinstance(item, str) else item * 0.7 + 3


def parts_of(item, path, kept):
    """A field that was read stays, but what is in the parts in it may have been left alone."""
    if isinstance(item, Part):
        return scramble(item, path, kept)
    for key, inner in item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, (list, tuple)) else ():
        parts_of(inner, f"{path}{record._escape(key)}.", kept)
    return item


def drawn(route, run):
    Slide.use_run(run)
    steps = []
    lay_out(decks.slide(route), lambda scene: steps.append((_signature(scene), [w.text for w in scene.shown()])))
    Slide._chosen = None
    return steps


@pytest.mark.parametrize("route", SAMPLE)
@pytest.mark.parametrize("name", ["published", "standin"])
def test_what_a_slide_did_not_read_can_not_show(route, name):
    run = runs.load(name)
    with record.reading(run) as found:
        before = drawn(route, run)
    other = runs.load(name)
    scramble(other, "", found.fields)
    assert status.changed(found.fields, run, other) == []
    assert drawn(route, other) == before


@pytest.mark.parametrize("route", SAMPLE)
def test_all_code_that_runs_is_in_the_source_of_the_slide(route, published):
    """Watch every call while a slide is laid out: the definitions that were called must be known from the source alone."""
    slide, called = decks.slide(route), set()
    root, harness = str(sources.ROOT), {"scenes.kit.stage", "scenes.sources", "scenes.record"}

    def note(frame, event, _argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith((f"{root}/scenes", f"{root}/vit_data")) and code.co_name != "<module>":
            module = ".".join(Path(code.co_filename).relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            name = code.co_qualname.split(".<locals>")[0]
            if module not in harness and not name.startswith("<"):
                called.add((module, name))
    sys.setprofile(note)
    try:
        lay_out(slide)
    finally:
        sys.setprofile(None)
    reach = sources.NOW.reach(sources.NOW.routes[route], record.WRITER)
    part_methods = {(m, n) for m, n in called if m == "vit_data.run" and "." in n and not n.split(".")[1].startswith("_") and n.split(".")[0] != "Vector"}
    assert {(m, n.split(".")[0]) for m, n in called} - reach == set()
    assert part_methods - reach == set()
    assert len(called) > 10


# source --------------------------------------------------------------------------------------------------------------
def test_the_source_knows_every_slide():
    found = decks.slides()
    assert list(found) == ROUTES
    assert all(issubclass(slide, Slide) and slide.route == route for route, slide in found.items())


@pytest.fixture
def edited(tmp_path):
    """A function that edits a copy of the project and returns the routes whose source is then another."""
    for package in sources.PACKAGES:
        for path in (sources.ROOT / package).rglob("*.py"):
            target = tmp_path / path.relative_to(sources.ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    def digests():
        project = sources.Project(tmp_path)
        return {route: project.digests(node, record.WRITER) for route, node in project.routes.items()}
    before = digests()

    def edit(file, old, new):
        path = tmp_path / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        now = digests()
        path.write_text(text, encoding="utf-8")
        return {route for route in before if before[route] != now.get(route)}
    return edit


def test_an_edit_reaches_the_slides_that_use_it(edited):
    every = set(ROUTES)
    module, name = sources.NOW.routes["reference/s02/20"]
    file, start = sources.NOW.file(module), f"class {name}("
    assert edited(file, start, f"more = 1\n\n\n# a comment\n{start}") == set(), "a constant that nobody uses"
    assert edited(file, 'route = "reference/s02/20"', 'route = "reference/s02/20"\n    more = 1') == {"reference/s02/20"}
    assert edited(file, "def notes(self):\n", "def notes(self):\n        more = 1\n") == set(), "no frame shows the notes"
    assert edited("scenes/kit/theme.py", 'PAPER = "#FCFCFA"', 'PAPER = "#FCFCF0"') == every
    assert edited("scenes/film.py", '"crf": "18"', '"crf": "19"') == every
    assert edited("scenes/film.py", "columns: int = 5", "columns: int = 6") == set(), "contact sheets are not films"
    assert edited("vit_data/run.py", "    dog: Subject\n", "    dog: Subject\n    third: Subject | None = None\n") == set(), "a new field nobody reads"
    table = edited("scenes/kit/flow.py", "class Table(", "class Table(Group):\n    pass\n\n\nclass Table2(")
    assert 0 < len(table) < len(every) / 2


@pytest.mark.parametrize("slide, used", [
    ("class S:\n    x = helper()\n", {"helper", "S"}),
    ("import scenes.kit.other as o\nclass S:\n    def build(self): return o.part\n", {"S", "part"}),
    ("from scenes import kit\nclass S:\n    def build(self): return kit.other.part\n", {"S", "part"}),
    ("from scenes.kit import other\nclass S:\n    def build(self): return getattr(other, 'part')\n", {"S", "part", "unused", "deep"}),
    ("from scenes.kit import *\nclass S:\n    def build(self): return part()\n", {"S", "part"}),
    ("from scenes.kit import *\nclass S:\n    def build(self, part): return part()\n", {"S"}),
    ("from scenes.kit import *\nclass S:\n    def build(self): part = 1; return part\n", {"S"}),
    ("from scenes.kit import *\nclass S:\n    def build(self): return [part for unused in ()]\n", {"S", "part"}),
    ("class S:\n    def build(self):\n        from .kit.other import unused as x\n        return x\n", {"S", "unused", "deep"}),
    ("try:\n    from scenes.kit.other import part as thing\nexcept ImportError:\n    thing = None\nclass S:\n    x = thing\n", {"S", "part", ""}),
    ("class B: pass\nclass S(B): pass\n", {"B", "S"}),
    ("WIDTH = 3\nWIDTH = WIDTH + helper()\nclass S:\n    x = WIDTH\n", {"S", "WIDTH", "helper"}),
    ("class S:\n    def build(self): globals()['x'] = 1\nprint('at import')\n", {"S", ""}),
])
def test_names_are_followed(tmp_path, slide, used):
    kit = tmp_path / "scenes" / "kit"
    kit.mkdir(parents=True)
    (tmp_path / "vit_data").mkdir()
    (kit / "__init__.py").write_text("from .other import part\n")
    (kit / "other.py").write_text("def part(): pass\ndef unused(): return deep()\ndef deep(): pass\n")
    (tmp_path / "scenes" / "__init__.py").write_text("")
    (tmp_path / "scenes" / "deck.py").write_text("def helper(): pass\n" + slide)
    assert {name for _, name in sources.Project(tmp_path).reach(("scenes.deck", "S"))} == used


def test_code_that_shows_code_counts_as_it_stands(tmp_path):
    for package in sources.PACKAGES:
        (tmp_path / package).mkdir()
    deck = tmp_path / "scenes" / "deck.py"
    texts = ("import inspect\ndef code():\n    return 1  # {}\nclass Shows:\n    def build(self): return inspect.getsource(code)\n"
             "class Calls:\n    def build(self): return code()\n")
    found = []
    for comment in ("one", "two"):
        deck.write_text(texts.format(comment))
        project = sources.Project(tmp_path)
        found.append([project.digests(("scenes.deck", name)) for name in ("Shows", "Calls")])
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_what_was_parsed_is_kept_and_a_broken_cache_is_ignored(tmp_path):
    for package in sources.PACKAGES:
        (tmp_path / package).mkdir()
    (tmp_path / "scenes" / "__pycache__").mkdir()
    (tmp_path / "scenes" / "deck.py").write_text("class S:\n    route = 'a/b/1'\n")
    first = sources.Project(tmp_path)
    assert first.routes == {"a/b/1": ("scenes.deck", "S")}
    first.keep()
    (kept,) = (tmp_path / "scenes" / "__pycache__").iterdir()
    for content in (kept.read_bytes(), kept.read_bytes()[:40]):
        kept.write_bytes(content)
        sources._parsed.clear()
        sources._loaded.clear()
        assert sources.Project(tmp_path).digests(("scenes.deck", "S")) == first.digests(("scenes.deck", "S"))


# footers and files ---------------------------------------------------------------------------------------------------
def test_the_footer_names_the_weights_only_where_they_matter(standin):
    found = {}
    for route in ("gallery/parts/1", "reference/s02/3", "reference/s02/20"):
        slide = decks.slide(route)
        Slide.use_run(standin)
        shows = jobs._survey(slide, standin).shows
        scene = lay_out(slide, shows=shows)
        found[route] = next(w.text for w in scene.shown() if w.role == "footer")
        reads = jobs.perform(jobs.Job("reads", route, "standin")).value
        assert ("provenance.checkpoint.sha256" in reads) == shows[0]
    assert found["reference/s02/20"] == figures.describe(standin)
    assert found["reference/s02/3"] == figures.describe(standin, False, True)


def test_files_that_a_slide_opens_count_even_when_they_were_read_before():
    from vit_data import lab_source

    node, run = sources.NOW.routes["reference/s02/20"], runs.load("published")
    lab_source._tree.cache_clear()
    lab_source.functions()  # outside of any slide; the next call opens nothing
    with record.reading(run) as found:
        lab_source.functions()
    made = record.describe("reference/s02/20", node, found, SIZE)
    assert "vit_data/lab.py" not in made["files"], "a slide without code"
    assert ("vit_data.lab_source", "_tree") in record._openers["vit_data/lab.py"]
    code = next(r for r in ROUTES if ("vit_data.lab_source", "_tree") in sources.NOW.reach(sources.NOW.routes[r]))
    made = record.describe(code, sources.NOW.routes[code], found, SIZE)
    assert made["files"]["vit_data/lab.py"] == record.file_hash("vit_data/lab.py")


# records on disk -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 0}', '{"format": 1, "reads": []}', "\x00\x01", "[" * 100_000])
def test_a_broken_record_is_none(tmp_path, content):
    (tmp_path / "1.json").write_text(content)
    (tmp_path / "1.mp4").write_bytes(b"film")
    assert record.read(tmp_path / "1.mp4") is None
    assert not record.is_joined(tmp_path / "1.mp4", [])
    assert status.judge("reference/s02/20", tmp_path / "1.mp4", runs.load("published"), SIZE).kind == "stale"


def test_a_record_vouches_for_one_film_only(tmp_path):
    film = tmp_path / "1.mp4"
    film.write_bytes(b"first")
    about = record.fingerprint(film)
    assert record.is_film(film, about)
    copied = tmp_path / "elsewhere" / "1.mp4"
    copied.parent.mkdir()
    shutil.copyfile(film, copied)  # with a new time
    assert record.is_film(copied, about)
    film.write_bytes(b"other")
    assert not record.is_film(film, about)
    film.unlink()
    assert not record.is_film(film, about)


def test_the_sweep_leaves_other_renders_alone(tmp_path):
    import os

    mine, worker, other, old = (tmp_path / f".20.{name}.mp4" for name in (f"1-{os.getpid()}", f"{os.getpid()}-77", "4000001-4000002", "4000003-4000004"))
    for part in (mine, worker, other, old):
        part.write_bytes(b"")
    os.utime(old, (1, 1))
    record.sweep(tmp_path)
    assert not old.exists() and other.exists() and mine.exists() and worker.exists()
    record.sweep(tmp_path, everything=True)
    assert other.exists() and not mine.exists() and not worker.exists()


@pytest.mark.parametrize("wanted, path, hit", [
    ("c", "dog.patches.P63.c.first", True),
    ("patch.c", "dog.patches.P63.c.first", True),
    ("patches.P63", "dog.patches.P63.c.first", True),
    ("patches.P64", "dog.patches.P63.c.first", False),
    ("dog.patches.P63.c.first", "dog.patches.P63.c.first", True),
    ("top.label", "dog.prediction.top.0.label", True),
    ("cover", "dog.covers.quadrants.0.points", True),
    ("c", "model.classes", False),
    ("dog.c", "dog.patches.P63.c.first", False),
])
def test_fields_are_found_by_name(wanted, path, hit):
    assert bool(status.showing(wanted, [path])) == hit
