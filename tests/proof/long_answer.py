"""Runs the command against a server that streams a long answer, and prints the peak of its memory.

Arguments: how it is shown (`plain`, `json` or `terminal`), the bytes of text and those of each delta, in
UTF-8, and what it is written in.
"""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
from collections.abc import Iterator

from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

LATIN = "the quick brown fox jumps over the lazy dog "
# What most of a text is made of, and the end of it.
WRITINGS = {
    "latin": (LATIN, LATIN),
    "cyrillic": ("съешь же ещё этих мягких французских булок, ", LATIN),
    "chinese": ("我能吞下玻璃而不伤身体。", LATIN),
    "emoji": (LATIN, "done 🎉 "),
}


def main(shown: str, size: str, delta: str, writing: str) -> None:
    """Print the most bytes of memory that the command ever had."""
    deltas = [(words * int(delta)).encode()[: int(delta)] for words in WRITINGS[writing]]
    most, last = [delta.decode("utf-8", "ignore") for delta in deltas]
    reply = _reply([most] * (int(size) // int(delta) - 1) + [last])
    with RecordingServer() as server:
        server.respond(reply)
        code = _run(shown, server.url)
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


def _reply(deltas: list[str]) -> Reply:
    pieces = [
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in _events(deltas)
    ]
    return Reply(200, {"content-type": "text/event-stream"}, pieces)


def _events(deltas: list[str]) -> Iterator[dict[str, object]]:
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
    for text in deltas:
        change = {"type": "text_delta", "text": text}
        yield {"type": "content_block_delta", "index": 0, "delta": change}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    yield {"type": "message_stop"}


main(*sys.argv[1:])
