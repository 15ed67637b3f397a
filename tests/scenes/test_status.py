"""A lecturer's day with a small deck: what status foretells is what is rendered, and nothing that changed is called fresh."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import pytest
from PIL import Image
from scenes import jobs, sources, status
from vit_data import run as runs

DECK = '''
"""Five pages, each with something else in it."""

from scenes.kit import *


class Page(Slide):
    def caption(self):
        return ""

    def show(self, *things):
        for thing in things:
            self.go(thing, run_time=0.2)

    def pause(self, new_words):
        return 0.2


class Text(Page):
    route = "reference/s01/1"

    def title(self):
        return "Only words"

    def build(self):
        self.show(words("nothing measured"))


class Number(Page):
    route = "reference/s01/2"

    def title(self):
        return "One feature"

    def build(self):
        self.show(words(num(self.dog.patches["P63"].c.first[0])))


class Score(Page):
    route = "reference/s01/3"

    def title(self):
        return "One score"

    def build(self):
        self.show(words(self.dog.prediction.top[0].label + " " + pct(self.dog.prediction.top[0].probability)))


class Picture(Page):
    route = "reference/s01/4"

    def title(self):
        return "The picture"

    def build(self):
        self.show(Photograph(self.run, side=3.0))


class Symbol(Page):
    route = "reference/s01/5"

    def title(self):
        return "A symbol"

    def build(self):
        self.show(Cells([0.1, 0.5, 0.9]))
'''
ROUTES = [f"reference/s01/{n}" for n in range(1, 6)]


class Project:
    """A copy of the project with a deck of its own, in a folder that may be moved."""

    def __init__(self, root: Path):
        self.root = root
        for package in ("scenes", "vit_data"):
            for path in (sources.ROOT / package).rglob("*.py"):
                inside = path.relative_to(sources.ROOT)
                if inside.parts[:2] not in (("scenes", "reference"), ("scenes", "lecture"), ("scenes", "gallery"), ("scenes", "lab.py")):
                    self.copy(path, inside)
        for file in ("render.py", "vit_data/published.json"):
            self.copy(sources.ROOT / file, Path(file))
        self.write("scenes/reference/__init__.py", "")
        self.write("scenes/reference/s01_day.py", DECK)
        self.measure()

    def copy(self, path, inside):
        (self.root / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.root / inside)

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, file, old, new):
        text = (self.root / file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.write(file, text.replace(old, new))

    def measure(self, name="day", color=(200, 30, 30), weights="a", **changed):
        """Write a run with these figures and a picture of one colour."""
        run = json.loads(runs.PUBLISHED.read_text(encoding="utf-8"))
        run["name"] = name
        run["provenance"] |= {"kind": "custom", "date": "2026-12-01"}
        run["provenance"]["checkpoint"] |= {"source": "file", "detail": "my.safetensors", "sha256": weights * 64}
        run["dog"]["patches"]["P63"]["c"]["first"][0] = changed.get("feature", -0.852)
        run["dog"]["prediction"]["top"][0]["probability"] = changed.get("score", 0.9189)
        run["dog"]["photo"]["input_file"] = f"{name}.dog.png"
        self.write(f"vit_data/cache/{name}.json", json.dumps(run))
        Image.new("RGB", (224, 224), color).save(self.root / f"vit_data/cache/{name}.dog.png")

    def start(self, *words, **options):
        return subprocess.Popen([sys.executable, "render.py", *words], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=os.environ | {"COLUMNS": "200", "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}, **options)

    def call(self, *words, code=0):
        process = self.start(*words)
        out, said = process.communicate(timeout=300)
        assert process.returncode == code, out + said
        return out + said if code else out

    def status(self, run="day"):
        """Kind and reasons of every slide that is not fresh, as ``render.py status`` would see it from that folder."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sources, "ROOT", self.root)
            patch.setattr(sources, "NOW", sources.Project(self.root))
            measured = runs.load(str(self.root / f"vit_data/cache/{run}.json"))
            states = {route: status.judge(route, self.film(route, run), measured, jobs.settings("preview")) for route in ROUTES}
        return {route: (state.kind, str(state)) for route, state in states.items() if state.kind != "fresh"}

    def video(self, *words, code=0):
        """Render the deck and return the routes whose film was made anew."""
        before = {route: self.made(route) for route in ROUTES}
        self.call("video", "reference", "--run", "day", "--quality", "preview", "--jobs", "1", *words, code=code)
        return {route for route in ROUTES if self.made(route) != before[route]}

    def film(self, route, run="day"):
        return self.root / "media" / run / "preview" / f"{route}.mp4"

    def made(self, route):
        return self.film(route).stat().st_mtime_ns if self.film(route).exists() else None

    @property
    def joined(self):
        return self.film("reference")


def wait(ready):
    deadline = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("day") / "checkout")
    assert set(project.status()) == set(ROUTES)
    assert {kind for kind, _ in project.status().values()} == {"missing"}
    assert project.video() == set(ROUTES)
    return project


def test_a_day(project):
    def foretold_and_made(*routes):
        assert set(project.status()) == set(routes)
        joined = project.joined.stat().st_mtime_ns
        assert project.video() == set(routes)
        assert (project.joined.stat().st_mtime_ns != joined) == bool(routes), "the joined film follows its parts"
        assert project.status() == {}

    foretold_and_made()  # nothing happened

    project.measure(feature=-0.853)  # one number of the run is another
    assert project.status() == {ROUTES[1]: ("stale", "dog.patches.P63.c.first: number 1 −0.852 → −0.853")}
    foretold_and_made(ROUTES[1])

    project.measure(feature=-0.853, weights="b", score=0.5)  # other weights: the pages that show what they gave, with their footers
    why = project.status()
    assert set(why) == {ROUTES[1], ROUTES[2]}
    assert "provenance.checkpoint.sha256" in why[ROUTES[1]][1] and "dog.prediction.top.0.probability: 0.9189 → 0.5" in why[ROUTES[2]][1]
    foretold_and_made(ROUTES[1], ROUTES[2])

    project.measure(feature=-0.853, weights="b", score=0.5, color=(30, 30, 200))  # another photograph under the same name
    assert project.status() == {ROUTES[3]: ("stale", "dog.photo.input_file: other pixels")}
    foretold_and_made(ROUTES[3])
    with av.open(str(project.film(ROUTES[3]))) as film:
        assert [*film.decode(video=0)][-1].to_ndarray(format="rgb24")[240, 427][2] > 150, "the new photograph is in the film"

    project.edit("scenes/reference/s01_day.py", '"Only words"', '"Only a few words"')  # one slide
    assert project.status() == {ROUTES[0]: ("stale", "scenes/reference/s01_day.py changed (Text)")}
    foretold_and_made(ROUTES[0])

    project.edit("scenes/kit/vectors.py", "self.arrange(RIGHT, buff=gap)", "self.arrange(RIGHT, buff=2 * gap)")  # one part of the kit
    assert project.status()[ROUTES[4]] == ("stale", "scenes/kit/vectors.py changed (Cells)")
    foretold_and_made(ROUTES[4])

    joined = project.joined.stat().st_mtime_ns
    project.edit("scenes/reference/s01_day.py", "class Page(Slide):", "class Page(Slide):\n    def notes(self):\n        return 'Said, not shown.'\n")
    assert project.status() == {} and project.video() == set()
    assert project.joined.stat().st_mtime_ns != joined, "its subtitles are the notes"

    project.edit("scenes/reference/s01_day.py", "run_time=0.2", "run_time=0.4")  # what they have in common
    foretold_and_made(*ROUTES)


def test_fields_and_runs_are_compared_without_rendering(project):
    film = project.film(ROUTES[0]).rename(project.root / "away.mp4")
    said = project.call("status", "--run", "day", "--quality", "preview")
    film.rename(project.film(ROUTES[0]))
    assert [line.split() for line in said.splitlines()] == [[ROUTES[0], "missing"], "5 slides, run day, preview: 4 fresh, 1 missing".split()]
    said = project.call("status", "--run", "day", "--quality", "preview", "--field", "patch.c")
    assert said.splitlines()[0].split()[:2] == [ROUTES[1], "dog.patches.P63.c"] and said.splitlines()[-1] == "1 of 5 slides show patch.c"
    assert "did you mean 'probability'?" in project.call("status", "--run", "day", "--quality", "preview", "--field", "probabilty", code=2)
    project.measure("evening", feature=0.1, score=0.5)
    project.measure("morning", feature=0.2, score=0.5)
    said = project.call("status", "--changed", "evening", "morning", "--jobs", "1")
    assert [line.split()[0] for line in said.splitlines()] == [ROUTES[1], "1"]
    assert "number 1 0.1 → 0.2" in said and "1 of 5 slides differ between evening and morning" in said
    assert not (project.root / "media/evening").exists()


@pytest.mark.parametrize("harm, route, kind", [
    (lambda film: film.with_suffix(".json").write_text('{"format": 1, "rea'), ROUTES[0], "stale"),
    (lambda film: film.with_suffix(".json").unlink(), ROUTES[0], "stale"),
    (lambda film: film.write_bytes(film.read_bytes()[:-1]), ROUTES[0], "stale"),
    (lambda film: film.unlink(), ROUTES[0], "missing"),
])
def test_a_harmed_film_or_record_is_not_fresh(project, harm, route, kind):
    film, record = project.film(route), project.film(route).with_suffix(".json")
    kept = film.read_bytes(), record.read_bytes()
    harm(film)
    assert {route: kind for route, (kind, _) in project.status().items()} == {route: kind}
    film.write_bytes(kept[0])
    record.write_bytes(kept[1])
    assert project.status() == {}, "put back, with another time"


def test_a_failure_is_remembered_until_it_is_mended(project):
    project.edit("scenes/reference/s01_day.py", '"nothing measured"', '"nothing" + 1')
    assert project.video(code=1) == set(), "the film of before stays"
    assert project.status() == {ROUTES[0]: ("failed", 'TypeError: can only concatenate str (not "int") to str')}
    project.edit("scenes/reference/s01_day.py", '"nothing" + 1', '"nothing measured"')
    assert set(project.status()) == {ROUTES[0]}
    assert project.video() == {ROUTES[0]}


def test_two_renders_at_once_and_one_killed(project):
    words = ("video", "reference", "--run", "day", "--quality", "preview", "--jobs", "1", "--again")
    first, second, third = (project.start(*words, start_new_session=True) for _ in range(3))
    wait(lambda: list(project.joined.parent.rglob(".*.mp4")))
    os.killpg(third.pid, signal.SIGKILL)
    for process in (first, second):
        out, said = process.communicate(timeout=300)
        assert process.returncode == 0, out + said
    third.communicate()
    left = project.video()  # at most what the killed one replaced last and had no time to record
    assert len(left) <= 1
    assert project.status() == {}
    with av.open(str(project.joined)) as film:
        assert sum(1 for _ in film.decode(video=0)) >= 5 * 4


def test_a_moved_checkout_is_still_fresh(project):
    project.video()
    moved = project.root.with_name("moved")
    shutil.copytree(project.root, moved, copy_function=shutil.copyfile)  # new times
    project.root.rename(project.root.with_name("away"))
    project.root = moved
    assert project.status() == {}
    joined = project.joined.stat().st_mtime_ns
    assert project.video() == set() and project.joined.stat().st_mtime_ns == joined


@pytest.mark.cluster
def test_a_cluster_loses_a_worker(project):
    distributed = pytest.importorskip("distributed")
    project.measure("afar")
    project.edit("scenes/reference/s01_day.py", "for thing in things:", "__import__('time').sleep(0.5)\n        for thing in things:")
    folder, where = project.root / "media/afar/preview/reference", project.root / "scheduler.json"

    def dask(*words):
        started.append(subprocess.Popen([sys.executable, "-m", *words, "--scheduler-file", str(where)], cwd=project.root,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]
    started = []
    try:
        dask("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait(where.exists)
        address = json.loads(where.read_text())["address"]
        lost, _ = (dask("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(2))
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
        rendering = project.start("video", "reference", "--run", "afar", "--quality", "preview", "--scheduler", address)
        wait(lambda: list(folder.rglob("*.mp4")) or rendering.poll() is not None)
        assert rendering.poll() is None, rendering.communicate()
        lost.kill()
        out, said = rendering.communicate(timeout=240)
        assert rendering.returncode == 0, out + said
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert project.status("afar") == {}
    assert "No Dask scheduler answers" in project.call("video", "--run", "afar", "--scheduler", "tcp://127.0.0.1:1", "--again", code=2)
