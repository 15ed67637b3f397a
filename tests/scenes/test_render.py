"""The command line: films that play, stills, clear sentences, failures that do not stop the others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import numpy as np
import pytest
import render
from click.testing import CliRunner
from PIL import Image

ROOT = Path(render.__file__).parent


@pytest.fixture
def media(tmp_path, monkeypatch):
    monkeypatch.setattr(render, "MEDIA", tmp_path)
    return tmp_path


def call(*words):
    return CliRunner().invoke(render.main, words, prog_name="render.py")


def frames(path):
    with av.open(str(path)) as film:
        return [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]


def test_film_of_two_slides_plays(media):
    done = call("video", "reference/s02/16", "reference/s02/20", "--run", "standin", "--quality", "preview", "--jobs", "2")
    assert done.exit_code == 0, done.output
    folder = media / "standin" / "preview"
    parts = [folder / "reference/s02/16.mp4", folder / "reference/s02/20.mp4"]
    whole = folder / Path(done.stdout.strip()).name
    pictures = frames(whole)
    with av.open(str(whole)) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate, stream.codec_context.name) == (854, 480, 15, "h264")
        seconds = float(stream.duration * stream.time_base)
    assert len(pictures) == sum(len(frames(p)) for p in parts) == pytest.approx(seconds * 15, abs=1)
    assert seconds > 8
    steps = [np.abs(a.astype(int) - b).mean() for a, b in zip(pictures, pictures[15:])]
    assert max(steps) > 1, "a film whose frames differ"
    assert pictures[-1].mean() > 150, "paper-white ground"
    # the end of the film is the still
    assert call("stills", "reference/s02/20", "--run", "standin", "--quality", "preview").exit_code == 0
    still = np.asarray(Image.open(media / "standin/stills/reference/s02/20.png").convert("RGB"))
    assert np.abs(still.astype(int) - pictures[-1]).mean() < 2.5
    assert not list(media.rglob(".*")), "nothing half made is left"


def test_every_step_starts_on_a_key_frame(media):
    assert call("video", "reference/s02/20", "--run", "standin", "--quality", "preview").exit_code == 0
    with av.open(str(media / "standin/preview/reference/s02/20.mp4")) as film:
        keys = [float(p.pts * p.time_base) for p in film.demux(video=0) if p.is_keyframe and p.pts is not None]
    from scenes import decks
    from scenes.kit.stage import lay_out

    assert len(keys) >= len(lay_out(decks.slides()["reference/s02/20"]).steps)


def test_stills_of_steps_and_a_sheet(media):
    done = call("stills", "reference/s02/20", "--run", "published", "--steps", "--sheet", "--quality", "preview")
    assert done.exit_code == 0, done.output
    steps = sorted((media / "published/stills/reference/s02").glob("20.*.png"))
    assert len(steps) >= 2
    pictures = [np.asarray(Image.open(p)) for p in steps]
    assert all(p.shape == (480, 854, 3) for p in pictures)
    assert all(np.abs(a.astype(int) - b).max() > 30 for a, b in zip(pictures, pictures[1:]))
    assert Image.open(media / "published/stills/reference-s02-20-sheet.png").width > 2000


def test_texts_as_json(tmp_path):
    target = tmp_path / "t.json"
    assert call("texts", "reference/s09/7", "--run", "published", "--json", str(target)).exit_code == 0
    (page,) = json.loads(target.read_text(encoding="utf-8"))
    assert page["route"] == "reference/s09/7"
    assert {"title", "caption", "notes", "texts"} <= page.keys()
    assert json.loads(call("texts", "reference/s09/7", "--run", "published").stdout) == [page]


@pytest.mark.parametrize("words, sentence", [
    (("video", "reference/s02/200"), "There is no slide, section or deck 'reference/s02/200'; did you mean 'reference/s02/20'?"),
    (("stills", "referense"), "did you mean 'reference'?"),
    (("check", "--run", "standing"), "There is no run 'standing'; did you mean 'standin'?"),
    (("video", "--run", "no/such.json"), "There is no run 'no/such.json'"),
    (("texts", "reference/s09/7", "--json", "/no/such/folder/t.json"), "can't be written"),
    (("video", "--quality", "best"), "'best' is not one of"),
])
def test_bad_input_is_one_sentence(words, sentence):
    done = call(*words)
    assert done.exit_code == 2
    assert sentence in done.output
    assert "Traceback" not in done.output


def test_a_broken_run_is_one_sentence(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema_version": 1, "name": "x"}', encoding="utf-8")
    done = call("check", "--run", str(broken))
    assert done.exit_code == 2 and "is not a valid run" in done.output


def test_a_failing_slide_is_named_and_the_others_are_made(media, monkeypatch, capfd):
    from scenes import decks

    def fail(self):
        raise RuntimeError("this slide can't be built")

    monkeypatch.setattr(decks.slides()["reference/s02/16"], "build", fail)
    done = call("stills", "reference/s02/16", "reference/s02/20", "--run", "published", "--quality", "preview", "--jobs", "1")
    shown = done.output + capfd.readouterr().err
    assert done.exit_code == 1
    assert "reference/s02/16 failed" in shown and "this slide can't be built" in shown
    assert (media / "published/stills/reference/s02/20.png").exists()
    assert not (media / "published/stills/reference/s02/16.png").exists()


def test_list_names_every_slide_and_the_runs():
    done = call("list", "--run", "published")
    from scenes import decks

    assert done.exit_code == 0
    assert all(route in done.output for route in decks.slides())
    assert "Read the 192 output features for patch 63" in done.output
    assert "published, standin" in done.output


def test_interrupt_leaves_nothing_half_written(tmp_path):
    program = f"import render; from pathlib import Path; render.MEDIA = Path({str(tmp_path)!r}); render.main()"
    started = subprocess.Popen([sys.executable, "-c", program, "video", "reference/s02", "--run", "standin", "--quality", "medium"],
                               cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob(".*.mp4")) and time.monotonic() < deadline and started.poll() is None:
        time.sleep(0.05)
    assert started.poll() is None, "still rendering"
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert b"nothing is half written" in said
    for film in tmp_path.rglob("*.mp4"):
        assert not film.name.startswith("."), "an unfinished film is left"
        assert len(frames(film)) > 15


@pytest.mark.parametrize("command", ["", "list", "video", "stills", "check", "texts"])
def test_help_teaches(command):
    done = call(*([command] if command else []), "--help")
    assert done.exit_code == 0
    assert "--run" in done.output
