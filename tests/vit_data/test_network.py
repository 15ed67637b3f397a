"""The question whether a server is there."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from vit_data.network import why_unreachable


@contextmanager
def server(status: int) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass
    with HTTPServer(("127.0.0.1", 0), Answer) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/x"
        http.shutdown()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.mark.parametrize("status", [200, 302, 401, 404])
def test_any_answer_of_the_server_will_do(status: int) -> None:
    with server(status) as url:
        assert why_unreachable(url) is None


@pytest.mark.parametrize("status", [403, 503])
def test_a_refusal_is_no_network(status: int) -> None:
    with server(status) as url:
        assert str(status) in why_unreachable(url)


def test_nobody_listens() -> None:
    assert why_unreachable("http://127.0.0.1:9/x")


def test_a_silent_server_costs_no_more_than_the_patience() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        assert why_unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}/x", patience=0.2)
        assert time.monotonic() - start < 1


def test_odd_addresses() -> None:
    assert why_unreachable("no-address") and why_unreachable("http://[bad/x")


def test_a_refusing_proxy_is_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(403) as url:
        monkeypatch.setenv("http_proxy", url.removesuffix("/x"))
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NO_PROXY", "")
        assert "403" in why_unreachable("http://example.invalid/x")
