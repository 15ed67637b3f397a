"""Full disks, read-only folders, killed workers, missing fonts and libraries: one sentence each, and nothing of the user's is lost."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import render
from click.testing import CliRunner
from scenes import decks, jobs
from scenes.kit import text
from scenes.kit.slide import Slide
from scenes.kit.stage import lay_out
from tests.vit_data import strangers
from vit_data import run as runs

ROOT = Path(render.__file__).parent
BEFORE = "import sys; from pathlib import Path; import render; render.MEDIA = Path(sys.argv.pop(1)); "


def start(media, *words, before="", **options):
    """The command line in a process of its own, its films in ``media``."""
    return subprocess.Popen([sys.executable, "-c", before + BEFORE + "render.main()", str(media), *words], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def sentence(process, code=2):
    """The one sentence that a process ended with."""
    _, said = process.communicate(timeout=200)
    assert process.returncode == code, said
    lines = [line for line in said.splitlines() if line.strip()]
    assert len(lines) == 1 and lines[0].startswith("Error: "), said
    return lines[0]


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def media(tmp_path):
    """A film and a still of earlier."""
    for made in ("preview/reference/s02/20.mp4", "stills/reference/s02/20.png"):
        (tmp_path / "standin" / made).parent.mkdir(parents=True)
        (tmp_path / "standin" / made).write_bytes(b"of earlier")
    return tmp_path


def call(media, monkeypatch, capfd, *words):
    """The command line in this process, slides too; the one sentence that it ends with."""
    monkeypatch.setattr(render, "MEDIA", media)
    done = CliRunner().invoke(render.main, [*words, "--run", "standin"], prog_name="render.py")
    assert done.exit_code == 2, done.output + capfd.readouterr().err
    assert "Traceback" not in done.output + capfd.readouterr().err
    (line,) = [line for line in done.stderr.splitlines() if line.strip()]
    assert line.startswith("Error: ")
    return line


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


@pytest.mark.parametrize("words", [("video", "--quality", "preview"), pytest.param(("stills",), marks=pytest.mark.slow),
                                   pytest.param(("deck", "--to", "pdf"), marks=pytest.mark.slow)])
def test_a_full_disk(media, words):
    """Files may hold 3,000 bytes: the writes that fail are those that fail on a full disk."""
    before = files(media)
    # joblib's own processes need larger files
    said = sentence(start(media, words[0], "reference/s02/20", *words[1:], "--run", "standin", "--jobs", "1",
                          preexec_fn=small_files, env={**os.environ, "JOBLIB_MULTIPROCESSING": "0"}))
    assert "reference/s02/20" in said and "can't be written (File too large)" in said and "finished slides are kept" in said
    assert files(media) == before


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root may mount a small disk")
def test_a_really_full_disk(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(tmp_path)], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        said = sentence(start(tmp_path, "stills", "reference/s02/20", "reference/s02/16", "--run", "standin", "--quality", "preview"))
        assert "No space left on device" in said
        assert files(tmp_path) == {}
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)


@pytest.mark.parametrize("words", [("video", "reference/s02/20", "--quality", "preview", "--jobs", "1"), ("stills", "reference/s02/20", "--jobs", "1"), ("lab",)])
def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch, capfd, words):
    (tmp_path / "file").write_text("not a folder")
    assert "can't be written (Not a directory)" in call(tmp_path / "file", monkeypatch, capfd, *words)
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_killed_worker(media):
    before = files(media)
    process = start(media, "video", "reference/s02/16", "reference/s02/20", "--run", "standin", "--quality", "medium", "--jobs", "2")
    deadline = time.monotonic() + 60
    while not (parts := list(media.rglob(".*.mp4"))) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(int(parts[0].name.split(".")[-2].split("-")[1]), signal.SIGKILL)  # the writer's number is in the name
    said = sentence(process)
    assert "A worker was killed" in said and "fewer --jobs" in said
    assert not list(media.rglob(".*")), "nothing half made is left"
    assert before.keys() <= files(media).keys()


LIBRARY = "libpango-1.0.so.0: cannot open shared object file: No such file or directory"


@pytest.mark.slow
@pytest.mark.parametrize("package", ["manimpango", "cairo"])
def test_a_missing_system_library(tmp_path, package):
    hook = f"""
import sys
class Lacking:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split('.')[0] == {package!r}:
            raise ImportError({LIBRARY!r}, name=name)
sys.meta_path.insert(0, Lacking)
"""
    said = sentence(start(tmp_path, "stills", "reference/s02/20", "--run", "standin", before=hook))
    assert LIBRARY in said and "as the README says" in said


@pytest.mark.parametrize(("error", "expected"), [
    (ImportError(LIBRARY, name="manimpango"), f"A library that Manim needs can't be loaded ({LIBRARY}); install it as the README says"),
    (ModuleNotFoundError("No module named 'manim'", name="manim"), "The Python package 'manim' is not installed; run: pip install -e ."),
])
@pytest.mark.parametrize("where", ["slides", "jobs"])
def test_what_cannot_be_imported(tmp_path, monkeypatch, capfd, error, expected, where):
    def fail(*_):
        raise error
    if where == "slides":
        monkeypatch.setattr(decks, "select", fail)
    else:
        monkeypatch.setitem(jobs._KINDS, "stills", fail)
    assert expected in call(tmp_path, monkeypatch, capfd, "stills", "reference/s02/20", "--jobs", "1")


def test_a_missing_font(tmp_path, monkeypatch, capfd):
    (tmp_path / "fonts").mkdir()
    shutil.copy(text.FONTS / "Lato-Regular.ttf", tmp_path / "fonts")
    for cached in (text._compiler, text._shapes):
        cached.cache_clear()
    monkeypatch.setattr(text, "FONTS", tmp_path / "fonts")
    try:
        said = call(tmp_path / "media", monkeypatch, capfd, "stills", "reference/s02/20", "--jobs", "1")
    finally:
        text._compiler.cache_clear()
    assert "The font Lato-Bold.ttf is missing" in said and "pip install --force-reinstall font-lato" in said


def test_slides_of_a_strangers_odd_run():
    """A run that is valid but as odd as can be is drawn all the same."""
    dice = random.Random(5)
    document, changes = strangers.odd(json.loads((runs.CACHE / "standin.json").read_text(encoding="utf-8")), dice, 60)
    assert changes > 3
    try:
        Slide.use_run(runs.Run.model_validate(document))
        for route in dice.sample(list(decks.slides()), 6):
            lay_out(decks.slides()[route])
    finally:
        Slide._chosen = None
