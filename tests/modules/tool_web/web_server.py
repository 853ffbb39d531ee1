"""A web server on this machine, with pages that a test gives it."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What a path answers."""

    body: bytes = b""
    kind: str = "text/plain"
    status: int = 200
    headers: Mapping[str, str] = {}
    hangs: bool = False
    """Whether it never answers."""


class WebServer:
    """The pages, and what was asked of them."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()
        self.port = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Return the address of a path."""
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, body: bytes | str = b"", kind: str = "text/plain", **more: Any) -> str:
        """Have a path answer this; return its address."""
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = Reply(content, kind, **more)
        return self.url(path)


@contextmanager
def serve() -> Generator[WebServer]:
    """Serve pages on this machine."""
    web = WebServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.requests.append((self.path, dict(self.headers)))
            reply = web.pages.get(self.path, Reply(status=404))
            if reply.hangs:
                web.over.wait()
                return
            self.send_response(reply.status)
            if reply.kind:
                self.send_header("Content-Type", reply.kind)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # who reads no further closes the connection
                self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        web.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield web
        finally:
            web.over.set()
            server.shutdown()
            thread.join()
