"""Full disks, folders that can't be written, killed processes, missing packages: one sentence each, and old runs stay whole."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from measuring import command, refused
from vit_data import checkpoint, measure, run, store

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a run of earlier."""
    for kept in run.CACHE.glob("standin*.*"):
        if kept.suffix != ".npz":
            shutil.copy(kept, tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_full_disk(runs: Path) -> None:
    """In a process whose files may hold 60,000 bytes: less than the run, more than some of its pictures."""
    before = files(runs)
    program = f"""
import resource
from pathlib import Path
from vit_data import run, store
kept = run.load({str(runs / "standin.json")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    store.write(kept, {{"standin.dog.png": b"x" * 50_000}}, Path({str(runs)!r}))
except store.StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"The run could not be written to {runs} (File too large)."
    assert files(runs) == before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("mount"), reason="only root may mount a small disk")
@pytest.mark.parametrize(("options", "expected"), [("size=60k", "No space left on device"), ("size=1m,ro", "Read-only file system")])
def test_a_small_disk(tmp_path: Path, options: str, expected: str) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path)], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        assert expected in refused(command("measure", "--checkpoint", "random:0", "--folder", tmp_path))
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_measurement(runs: Path) -> None:
    """Killed between two files: the run of earlier stands, and what was left is swept once it is old."""
    before = files(runs)
    program = f"""
import os
from pathlib import Path
from vit_data import run, store
written = store.write_safely
def then_die(path, content):
    written(path, content)
    os.kill(os.getpid(), {int(signal.SIGKILL)})
store.write_safely = then_die
store.write(run.load({str(runs / "standin.json")!r}), {{"standin.dog.png": b"new"}}, Path({str(runs)!r}))
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == -signal.SIGKILL
    left = files(runs)
    assert left.items() >= before.items() and len(left) == len(before) + 1
    (part,) = (runs / name for name in left.keys() - before.keys())
    store.write(run.load("standin"), {}, runs)
    assert part.exists(), "it may be another process's, still at work"
    os.utime(part, (time.time() - 4000,) * 2)
    store.write(run.load("standin"), {}, runs)
    assert files(runs).keys() == before.keys()


def test_two_measurements_of_one_name(runs: Path) -> None:
    """Written at the same time again and again, the run and its picture are always of the same measurement."""
    program = """
import sys
from pathlib import Path
from vit_data import run, store
folder, day = Path(sys.argv[1]), sys.argv[2]
kept = run.load("standin")
mine = kept.model_copy(update={"provenance": kept.provenance.model_copy(update={"date": day})})
for _ in range(15):
    store.write(mine, {"standin.dog.png": day.encode()}, folder)
"""
    days = ("2030-01-01", "2031-01-01")
    both = [subprocess.Popen([sys.executable, "-c", program, str(runs), day], cwd=ROOT) for day in days]
    assert [process.wait(timeout=100) for process in both] == [0, 0]
    stands = run.load(str(runs / "standin.json"))
    assert stands.provenance.date in days and stands.picture("dog").read_bytes() == stands.provenance.date.encode()
    assert not list(runs.glob(".*"))


@pytest.mark.parametrize(("error", "expected"), [
    (ModuleNotFoundError("No module named 'torch'", name="torch"), "the Python package 'torch' is not installed; run: pip install -e '.[measure]'"),
    (ImportError("libgomp.so.1: cannot open shared object file", name="torch._C"), "a library can't be loaded (libgomp.so.1: cannot open shared object file)"),
    (OSError(28, "No space left on device", "/tmp/x"), "/tmp/x can't be read or written (No space left on device)"),
])
def test_what_the_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: str) -> None:
    def fail(*_: object) -> None:
        raise error
    monkeypatch.setattr(checkpoint, "load", fail)
    monkeypatch.setattr(measure, "measure", None)
    assert expected in refused(command("measure", "--checkpoint", "random:0", "--folder", tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["file/below", "a" * 300])
def test_folders_that_cannot_be(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    assert "can't be written to" in refused(command("measure", "--checkpoint", "random:0", "--folder", f"{tmp_path}/{folder}"))
