"""The server of the demo model."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Self, cast
from urllib.parse import urlsplit

from .conversation import read_turn
from .decision import decide
from .request import ApiError, check_request, parse_body
from .wire import Signer, encode_event, message, stream_events

MODEL = "amplifier-demo"
_MAX_BODY_BYTES = 32_000_000
_IDLE_SECONDS = 60
_MAX_STREAM_SECONDS = 0.9
_METHODS = {"/v1/messages": "POST", "/v1/models": "GET"}
_CREATED = "2025-01-01T00:00:00Z"


class DemoModel:
    """A server on a loopback port that speaks the Anthropic Messages API.

    It gives tours of a folder with the tools `list_directory`, `glob`, `grep` and `read_file`, calls
    any tool that it is asked to call, and says what it can do.
    Use it in a `with` block, which starts and stops it.
    """

    def __init__(self, *, pace: float = 0.004, api_key: str = "demo") -> None:
        """Set it up; the port opens on entering.

        Args:
            pace: Seconds between the deltas of a stream; 0 for no pause. A whole answer
                takes less than a second in any case.
            api_key: The key that requests must carry.
        """
        self.api_key = api_key
        self.model = MODEL
        self._pace = pace
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """The base address, without `/v1`.

        Raises:
            RuntimeError: The server is not running.
        """
        if self._server is None:
            raise RuntimeError("the demo model has no address before `with` starts it")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def provider_config(self) -> dict[str, Any]:
        """Return the config with which `provider-anthropic` talks to this server, thinking shown."""
        return {
            "base_url": self.url,
            "api_key": self.api_key,
            "default_model": self.model,
            "thinking_budget_tokens": 4_096,
            "prices": {"*": {"input": 0, "output": 0}},  # whatever it is called
        }

    def __enter__(self) -> Self:
        """Open the port and answer on a thread of its own."""
        self._server = _Server(self.api_key, self._pace)
        threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="demo-model", daemon=True
        ).start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, and close all connections."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api_key: str, pace: float) -> None:
        self.api_key = api_key
        self.pace = pace
        self.signer = Signer(api_key)
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # Not that of `HTTPServer`, which asks the network for the name of this machine.
        TCPServer.server_bind(self)

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # it may be closed already
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that hangs up is no error
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "amplifier-demo"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS

    @property
    def demo(self) -> _Server:
        return cast("_Server", self.server)

    def answer(self) -> None:
        try:
            raw = self.read_body()
            path = urlsplit(self.path).path
            if path not in _METHODS:
                raise ApiError(404, "not_found_error", f"Not found: {path}")
            if self.command != _METHODS[path]:
                raise ApiError(405, "invalid_request_error", f"Method Not Allowed: {self.command}")
            self.check_key()
            if path == "/v1/models":
                self.send_json(200, _models())
            else:
                self.answer_message(raw)
        except ApiError as error:
            details = {"type": error.kind, "message": str(error)}
            self.send_json(error.status, {"type": "error", "error": details})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def answer_message(self, raw: bytes) -> None:
        body = parse_body(raw)
        check_request(body, self.demo.signer.is_signed)
        answer = decide(read_turn(body))
        complete = message(answer, MODEL, len(raw), self.demo.signer)
        if body.get("stream"):
            self.send_stream(complete)
        else:
            self.send_json(200, complete)

    def read_body(self) -> bytes:
        given = self.headers.get("content-length", "0")
        if not given.isdecimal() or self.headers.get("transfer-encoding"):
            self.close_connection = True
            raise ApiError(400, "invalid_request_error", "A body needs a valid content-length")
        if int(given) > _MAX_BODY_BYTES:
            self.close_connection = True
            raise ApiError(413, "request_too_large", "Request exceeds the maximum size")
        return self.rfile.read(int(given))

    def check_key(self) -> None:
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ").strip()
        given = self.headers.get("x-api-key") or bearer
        if not given:
            raise ApiError(401, "authentication_error", "x-api-key header is required")
        if not secrets.compare_digest(given.encode(), self.demo.api_key.encode()):
            raise ApiError(401, "authentication_error", "invalid x-api-key")

    def send_json(self, status: int, value: dict[str, Any]) -> None:
        request_id = _request_id()
        if "error" in value:
            value["request_id"] = request_id
        written = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.send_header("request-id", request_id)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(written)

    def send_stream(self, complete: dict[str, Any]) -> None:
        events = [encode_event(event) for event in stream_events(complete)]
        pause = min(self.demo.pace, _MAX_STREAM_SECONDS / len(events))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", _request_id())
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            if pause:
                time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Stay silent: standard error belongs to the command."""


def _models() -> dict[str, Any]:
    model = {
        "type": "model",
        "id": MODEL,
        "display_name": "Demo model (a program)",
        "created_at": _CREATED,
    }
    return {"data": [model], "has_more": False, "first_id": MODEL, "last_id": MODEL}


def _request_id() -> str:
    return f"req_{secrets.token_hex(12)}"
