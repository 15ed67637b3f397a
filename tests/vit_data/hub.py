"""A local server for the tests: as much of the hub's protocol as its client uses, and the archive of photographs."""

from __future__ import annotations

import hashlib
import io
import socket
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from PIL import Image
from vit_data import checkpoint

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS = f"/{checkpoint.HUB_ID}/resolve/main/{checkpoint.HUB_FILE}"
LARGE_FILE = "/large/weights"  # the hub sends its large files from another host
ARCHIVE = "/images.tar.gz"
PHOTOGRAPHS = {"dog": "newfoundland_31", "cat": "Persian_98"}


@dataclass
class Hub:
    """The server's files, its present faults, and what it was asked.

    ``break_after`` bytes of a body the connection ends, once for each number; ``stall`` sends nothing at all after
    the headers of these paths; ``damage`` flips a byte in these paths' next answers, as often as told.
    """

    files: dict[str, bytes]
    url: str = ""
    ranges: bool = True
    break_after: dict[str, list[int]] = field(default_factory=dict)
    stall: set[str] = field(default_factory=set)
    damage: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, Range
    secrets: list[str] = field(default_factory=list)  # Authorization headers
    over: Event = field(default_factory=Event)

    def got(self, path: str) -> list[str]:
        """The ranges of all downloads of ``path``, '' for a whole one."""
        return [ranged for method, asked, ranged in self.asked if method == "GET" and asked == path]


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Hub]:
    """A server on a free port of this machine for the length of the block."""
    hub = Hub(files)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub)) as server:
        server.daemon_threads = True
        hub.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield hub
        finally:
            hub.over.set()
            server.shutdown()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            hub.asked.append((self.command, self.path, self.headers.get("Range", "")))
            if "Authorization" in self.headers:
                hub.secrets.append(self.headers["Authorization"])
            content = hub.files.get(LARGE_FILE if self.path == WEIGHTS else self.path)
            if content is None:
                self._head(404, 0)
            elif self.path == WEIGHTS:
                self._head(302, 0, Location=hub.url.replace("127.0.0.1", "localhost") + LARGE_FILE, **{"X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(content)),
                                                                   "X-Linked-Etag": f'"{hashlib.sha256(content).hexdigest()}"'})
            else:
                self._file(content, body)

        def _file(self, content: bytes, body: bool) -> None:
            mark = f'"{hashlib.sha256(content).hexdigest()}"'
            if body and hub.damage.get(self.path, 0) > 0:
                hub.damage[self.path] -= 1
                content = content[:-1] + bytes([content[-1] ^ 1])
            start, ranged = 0, self.headers.get("Range", "")
            if ranged and hub.ranges and self.headers.get("If-Range", mark) == mark:
                start = int(ranged.removeprefix("bytes=").partition("-")[0])
                self._head(206, len(content) - start, ETag=mark, **{"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"})
            else:
                self._head(200, len(content), ETag=mark)
            if not body:
                return
            if self.path in hub.stall:
                hub.over.wait(60)
                self.close_connection = True
                return
            ends = hub.break_after.get(self.path)
            if ends:
                content = content[: ends.pop(0)]
                self.close_connection = True
            with suppress(OSError):  # a client that has what it needs hangs up
                self.wfile.write(content[start:])
                self.wfile.flush()
                if self.close_connection:
                    self.connection.shutdown(socket.SHUT_RDWR)

        def _head(self, status: int, length: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(length), **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass
    return Handler


def archive() -> tuple[bytes, dict[str, str]]:
    """A small archive laid out as the dataset's own, and the SHA-256 of the photographs in it by species."""
    out, hashes = io.BytesIO(), {}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in ("Abyssinian_1", PHOTOGRAPHS["cat"], PHOTOGRAPHS["dog"], "yorkshire_terrier_9"):
            content = io.BytesIO()
            Image.effect_noise((300, 260), 50).save(content, "JPEG")
            info = tarfile.TarInfo(f"images/{name}.jpg")
            info.size = len(content.getvalue())
            tar.addfile(info, io.BytesIO(content.getvalue()))
            hashes |= {species: hashlib.sha256(content.getvalue()).hexdigest() for species, kept in PHOTOGRAPHS.items() if kept == name}
    return out.getvalue(), hashes
