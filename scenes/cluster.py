"""Films from the workers of a Dask cluster.

A worker needs this project and its libraries, and shares no disk with us: the run and its pictures travel to it, the
film and its record come back as bytes. What a lost worker was doing, or had done and not yet sent, another does.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
import threading
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from vit_data.run import Part, Run

from . import record, sources
from .jobs import Job, RemoteError, Result, perform

Bundle = dict[str, bytes]  # file name → content: the run's document and its pictures

_one = threading.Lock()  # Manim holds one configuration a process, and a Dask worker may run several threads
_unpacked: dict[str, Path] = {}


def films(address: str, run: Run, work: list[Job]) -> Iterator[tuple[int, Result]]:
    """Do film jobs on the workers of the scheduler at ``address``; yields (number of the job, result) as they come.

    The films and their records are put where the jobs say. Raises RemoteError if there is no such cluster.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise RemoteError("--scheduler needs Dask: pip install -e '.[cluster]'.") from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise RemoteError(f"No Dask scheduler answers at {address}; start one with: dask scheduler") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=30)
        except TimeoutError as error:
            raise RemoteError(f"The scheduler at {address} has no workers; start some, in this project's environment, with: dask worker {address}") from error
        # a task, not scattered data: if the worker that holds it is lost, the scheduler still has it
        bundle = client.submit(_same, pack(run), pure=False)
        futures = {}
        for i, job in enumerate(work):
            futures[client.submit(_film, job, f"{run.name}.json", bundle, pure=False, priority=len(work) - i)] = i
        try:
            for future in as_completed(list(futures), loop=client.loop):
                i = futures[future]
                yield i, _receive(work[i], future)
                future.release()
        finally:
            client.cancel(list(futures))


def pack(run: Run) -> Bundle:
    """A run with all pictures that it names."""
    names: set[str] = set()

    def walk(item: Any) -> None:
        if isinstance(item, Part):
            walk(vars(item))
        elif isinstance(item, dict):
            for inner in item.values():
                walk(inner)
        elif isinstance(item, list):
            for inner in item:
                walk(inner)
        elif isinstance(item, str) and item.endswith(".png") and run.file(item).is_file():
            names.add(item)
    walk(run)
    return {f"{run.name}.json": run.model_dump_json(exclude_none=True).encode()} | {name: run.file(name).read_bytes() for name in sorted(names)}


def _same(bundle: Bundle) -> Bundle:
    return bundle


def _film(job: Job, document: str, bundle: Bundle) -> tuple[Result, bytes, dict]:
    """On a worker: the result, the film and its record."""
    with _one, tempfile.TemporaryDirectory(prefix="vit-film-") as folder:
        path = Path(folder) / "film.mp4"
        result = perform(replace(job, run=str(_unpack(bundle) / document), options=job.options | {"path": str(path)}))
        return result, path.read_bytes() if not result.error else b"", record.read(path) or {}


def _unpack(bundle: Bundle) -> Path:
    """The folder with a bundle's files, written once in this process."""
    key = hashlib.sha256(b"".join(name.encode() + hashlib.sha256(content).digest() for name, content in sorted(bundle.items()))).hexdigest()
    if key not in _unpacked:
        folder = Path(tempfile.mkdtemp(prefix="vit-run-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, content in bundle.items():
            (folder / name).write_bytes(content)
        _unpacked[key] = folder
    return _unpacked[key]


def _receive(job: Job, future: Any) -> Result:
    """Put a film that came back, and its record, in place."""
    try:
        result, content, made = future.result()
        path = Path(job.options["path"])
        if result.error:
            record.write_failure(path, job.route, result.error)
            return result
        if hashlib.sha256(content).hexdigest() != made["film"]["sha256"]:
            return Result(job.route, None, "the film was damaged on its way from the worker")
        if made["source"] != json.loads(json.dumps(sources.NOW.digests(sources.NOW.routes[job.route], record.WRITER))):
            return Result(job.route, None, "the worker has another version of this project; bring it up to date")
        if made["versions"] != record.versions():
            other = [f"{k} {v} (here {record.versions().get(k)})" for k, v in made["versions"].items() if v != record.versions().get(k)]
            return Result(job.route, None, f"the worker has other libraries: {', '.join(other)}")
    except Exception:  # the cluster's own: a worker that can't import the project, or a slide that killed one worker after another
        return Result(job.route, None, traceback.format_exc())
    from .film import whole

    def put(part: Path) -> None:
        part.write_bytes(content)
        made["film"] = record.fingerprint(part)

    whole(path, put)
    record.write(path, made)
    return Result(job.route, str(path), None, result.seconds)
