"""Runs the command against a server that streams a long answer, and prints the peak of its memory.

Arguments: how it is shown (`plain`, `json` or `terminal`), the bytes of text and those of each delta.
"""

from __future__ import annotations

import http.server
import json
import os
import pty
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator

WORDS = "the quick brown fox jumps over the lazy dog "


def main(shown: str, size: str, delta: str) -> None:
    """Print the most bytes of memory that the command ever had."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(int(size), int(delta)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = _run(shown, f"http://127.0.0.1:{server.server_port}")
    assert code == 0, code
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


def _run(shown: str, address: str) -> int:
    command = [sys.executable, "-m", "amplifier_app.cli", "run", "go"]
    environment = {
        **os.environ,
        "ANTHROPIC_API_KEY": "key-of-a-test",
        "ANTHROPIC_BASE_URL": address,
        "PROVIDER_MAX_ANSWER_BYTES": str(1024**3),
    }
    if shown != "terminal":
        command += ["--json"] if shown == "json" else []
        return subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, check=False
        ).returncode
    outer, inner = pty.openpty()
    child = subprocess.Popen(command, env=environment, stdout=inner)
    os.close(inner)
    try:
        while os.read(outer, 1 << 20):
            pass
    except OSError:
        pass  # Linux, when the child has closed its end
    return child.wait()


def _handler(size: int, delta: int) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for event in _events(size, delta):
                data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                self.wfile.write(data.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _events(size: int, delta: int) -> Iterator[dict[str, object]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, object] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    yield {"type": "message_start", "message": {**message, "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    text = (WORDS * (delta // len(WORDS) + 1))[:delta]
    change = {"type": "text_delta", "text": text}
    for _ in range(size // delta):
        yield {"type": "content_block_delta", "index": 0, "delta": change}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    yield {"type": "message_stop"}


main(*sys.argv[1:])
