"""The lecture's weights and photographs, downloaded for real from a server on this machine that speaks the hub's protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import hub
import pytest
from measuring import command, refused
from vit_data import checkpoint, forward, measure, photos, run

ROOT = Path(__file__).parents[2]

# the lecture's photographs are known by SHA-256; here the server's pictures take their places
DRIVER = """
import json, sys
from dataclasses import replace
from vit_data import story
for species, sha256 in json.loads(sys.argv.pop(1)).items():
    story.LECTURE[species] = replace(story.LECTURE[species], sha256=sha256)
from vit_data.__main__ import cli
if sys.argv[1] == "load":
    sys.argv[1] = "measure"
    from vit_data import forward, measure
    def stop(*_, **__):
        raise forward.MeasureError("Loaded.")
    measure.measure = stop
cli(prog_name="vit_data")
"""


@pytest.fixture(scope="module")
def pets() -> tuple[bytes, dict[str, str]]:
    return hub.archive()


@pytest.fixture
def server(pets: tuple[bytes, dict[str, str]]) -> Iterator[hub.Hub]:
    with hub.serving({hub.LARGE_FILE: checkpoint.STANDIN.read_bytes(), hub.ARCHIVE: pets[0]}) as serving:
        yield serving


@pytest.fixture
def here(server: hub.Hub, pets: tuple[bytes, dict[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> hub.Hub:
    """This process sees the server as hub and archive, and has empty caches; measuring stops once everything is loaded."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    for name, value in environment(server, tmp_path).items():
        monkeypatch.setenv(name, value)
    for species, sha256 in pets[1].items():
        monkeypatch.setitem(photos.LECTURE, species, replace(photos.LECTURE[species], sha256=sha256))

    def stop(*_: object, **__: object) -> None:
        raise forward.MeasureError("Loaded.")
    monkeypatch.setattr(measure, "measure", stop)
    return server


def environment(server: hub.Hub, folder: Path) -> dict[str, str]:
    return {"HF_ENDPOINT": server.url, "HF_HOME": str(folder / "hf"), "XDG_CACHE_HOME": str(folder / "cache"), "HF_HUB_DISABLE_TELEMETRY": "1",
            "VIT_DATA_PETS_URL": server.url + hub.ARCHIVE, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "HF_TOKEN": "hf_of_somebody"}


def outside(server: hub.Hub, hashes: dict[str, str], folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", DRIVER, json.dumps(hashes), *words], cwd=ROOT, text=True, env={**os.environ, **environment(server, folder)},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def load() -> str:
    """Measure as far as the pictures and the weights; returns the sentence that it ended with."""
    return refused(command("measure", "--folder", os.environ["XDG_CACHE_HOME"] + "/runs"))


def test_two_at_once_from_the_network_then_from_the_cache(here: hub.Hub, server: hub.Hub, pets: tuple[bytes, dict[str, str]], tmp_path: Path) -> None:
    """Two processes with the same empty caches: both get everything, nothing half is left. One of them goes on to measure."""
    first, second = (outside(server, pets[1], tmp_path, verb, "--folder", str(tmp_path / "runs")) for verb in ("measure", "load"))
    out, err = first.communicate(timeout=300)
    assert first.returncode == 0 and "lecture checkpoint and photographs" in out, err
    assert second.communicate(timeout=300)[1].strip() == "Error: Loaded."
    assert server.got(hub.LARGE_FILE) == [""], "the second waits for the first"
    assert set(server.got(hub.ARCHIVE)) == {""}
    made = run.load(str(tmp_path / "runs" / "lecture.json"))
    assert made.provenance.kind == "lecture" and made.picture("dog").is_file()
    assert (made.provenance.checkpoint.source, made.provenance.checkpoint.detail) == ("hub", hub.COMMIT)
    assert made.provenance.checkpoint.sha256 == run.load("standin").provenance.checkpoint.sha256
    assert made.dog.photo.sha256 == pets[1]["dog"] and made.dog.photo.known_label == "Newfoundland"
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert [p for p in files if p.name.endswith((".incomplete", ".new")) or p.name.startswith(".lecture")] == []
    assert server.secrets == [], "no token is sent, even where one is set"
    assert not [p for p in files if "token" in p.name or p.stat().st_size < 1000 and b"hf_of_somebody" in p.read_bytes()]
    asked, server.files = len(server.asked), {}
    assert load() == "Loaded."
    assert len(server.asked) == asked, "nothing is asked once everything is here"


def weights() -> Path:
    return checkpoint.choose("hub").file


def spoil(path: Path) -> None:
    """Flip a byte in the middle of a file: the same size, still a file of its kind."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def test_damaged_files_of_the_caches_are_fetched_again(here: hub.Hub) -> None:
    assert load() == "Loaded."
    whole = {path: path.read_bytes() for path in (weights(), photos.cached("dog"), photos.cached("cat"))}
    for path in whole:
        spoil(path)
    assert load() == "Loaded."
    assert {path: path.read_bytes() for path in whole} == whole
    assert len(here.got(hub.LARGE_FILE)) == len(here.got(hub.ARCHIVE)) == 2


def test_damaged_files_and_no_network(here: hub.Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load() == "Loaded."
    spoil(weights())
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert "weights are damaged on this machine and http://127.0.0.1:9 can't be reached" in load()


def test_damage_on_the_way(here: hub.Hub) -> None:
    here.damage = {hub.LARGE_FILE: 1}
    assert load() == "Loaded."
    assert here.got(hub.LARGE_FILE) == ["", ""]
    photos.cached("dog").unlink()
    here.damage = {hub.ARCHIVE: 1}  # the archive's checksum
    assert load() == "Loaded.", "the last bytes of the archive are not needed"


def test_damage_that_stays(here: hub.Hub) -> None:
    here.damage = {hub.LARGE_FILE: 9}
    assert "arrived damaged twice" in load()
    here.files[hub.ARCHIVE] = here.files[hub.ARCHIVE][:40_000] + b"\0" * 64 + here.files[hub.ARCHIVE][40_064:]
    photos.cached("dog").unlink()
    sentence = load()
    assert any(words in sentence for words in ("could not be downloaded", "differs from the lecture's photograph", "arrived damaged"))
    assert not photos.cached("dog").exists()


def test_a_broken_download_goes_on(here: hub.Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    here.break_after = {hub.LARGE_FILE: [4_000_000, 11_000_000], hub.ARCHIVE: [30_000, 0, 70_000]}
    assert load() == "Loaded."
    assert here.got(hub.LARGE_FILE) == ["", "", f"bytes={10 << 20}-"], "the client keeps pieces of 10 MB"
    assert here.got(hub.ARCHIVE)[:3] == ["", "bytes=30000-", "bytes=30000-"]


def test_a_server_that_gives_only_whole_files(here: hub.Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights restart by themselves, the photographs with the next try; nothing half is kept."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    here.ranges, here.break_after = False, {hub.LARGE_FILE: [4_000_000], hub.ARCHIVE: [1_000]}
    sentence = load()
    assert "photographs could not be downloaded" in sentence and "1,000 of" in sentence
    assert load() == "Loaded."


def test_files_that_the_server_lacks(here: hub.Hub) -> None:
    whole = dict(here.files)
    del here.files[hub.ARCHIVE]
    assert "could not be downloaded (HTTP Error 404: Not Found)" in load()
    here.files = {hub.ARCHIVE: whole[hub.ARCHIVE]}
    sentence = load()
    assert "weights could not be downloaded" in sentence and "404" in sentence


@pytest.mark.parametrize("path", [hub.LARGE_FILE, hub.ARCHIVE])
def test_a_stalled_server_is_given_up(here: hub.Hub, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds of silence for each of six attempts at the weights, fifteen for each of three at the photographs; here a fraction."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    monkeypatch.setattr(photos._Download, "TIMEOUT", 0.3)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    here.stall = {path}
    start = time.monotonic()
    sentence = load()
    assert "could not be downloaded" in sentence and "timed out" in sentence and "try again" in sentence
    assert time.monotonic() - start < 8


def test_a_server_that_never_answers(here: hub.Hub, silent: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", silent)
    start = time.monotonic()
    assert "can't be reached" in load()
    assert time.monotonic() - start < 3


@pytest.fixture
def silent() -> Iterator[str]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
