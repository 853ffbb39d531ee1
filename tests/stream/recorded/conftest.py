"""Recorded streams, read from the folder that `RECORDED_STREAMS` names.

The folder has an `index.tsv` of the bodies and, beside each body, `NAME.expected.json`: in
`normalized` what the stream says whatever its dialect, in `expected` what the provider's own SDK
made of it.
"""

from __future__ import annotations

import csv
import itertools
import json
import operator
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amplifier_stream import StreamDecoder, StreamResult

DIALECTS = {"messages": "anthropic", "responses": "responses", "chat": "chat", "api/chat": "ollama"}
SKIPPED = "`RECORDED_STREAMS` names no folder with recorded streams"

Decoded = tuple[list[tuple[Any, ...]], StreamResult]

EVENT_FIELDS = (
    "event",
    "block_type",
    "block_index",
    "delta",
    "partial_json",
    "metadata",
    "block",
)
read_event = operator.attrgetter(*EVENT_FIELDS)
"""What an event says, without its time."""


@dataclass(frozen=True)
class Recording:
    """A body as a provider sent it, and what it must come to."""

    name: str
    dialect: str
    status: int
    body: bytes
    expected: dict[str, Any]

    def decode(self, chunks: Iterable[bytes] | None = None) -> Decoded:
        """Decode the body, whole or in these chunks: its events and its result."""
        decoder = StreamDecoder(self.dialect, self.status)
        fed = map(decoder.feed, [self.body] if chunks is None else chunks)
        events = [read_event(event) for events in fed for event in events]
        return events, decoder.finish()

    def cut(self, *places: int) -> list[bytes]:
        """Cut the body at these places."""
        edges = [0, *sorted(places), len(self.body)]
        return [self.body[begin:end] for begin, end in itertools.pairwise(edges)]


def dialect_of(api: str) -> str:
    """The dialect of an `api`, which may name more than the API itself: `messages (beta)`."""
    found = [name for key, name in DIALECTS.items() if api.startswith(key)]
    assert found, f"unknown api `{api}` in the index of the recorded streams"
    return found[0]


def recordings() -> list[Recording]:
    folder = os.environ.get("RECORDED_STREAMS")
    if not folder:
        return []
    index = Path(folder) / "index.tsv"
    with index.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Recording(
            name=row["file"],
            dialect=dialect_of(row["api"]),
            status=int(row["http_status"]),
            body=(path := index.with_name(row["file"])).read_bytes(),
            expected=json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8")),
        )
        for row in rows
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for each recorded stream, or for each recorded body of an error."""
    for fixture, is_stream in (("stream", True), ("refusal", False)):
        if fixture in metafunc.fixturenames:
            found = [
                each
                for each in recordings()
                if (each.expected["normalized"] is not None) == is_stream
            ]
            skipped = pytest.param(None, id="none", marks=pytest.mark.skip(reason=SKIPPED))
            params = [pytest.param(each, id=each.name) for each in found] or [skipped]
            metafunc.parametrize(fixture, params)


@pytest.fixture
def normalize() -> Callable[[Recording, StreamResult], dict[str, Any]]:
    """Say what a result says as the record of its stream does, to compare with `record`."""
    return _normalize


@pytest.fixture
def record(stream: Recording) -> dict[str, Any]:
    """The record of a stream, its calls and its error in one form for all dialects."""
    said = dict(stream.expected["normalized"])
    said["tool_calls"] = [_call(call) for call in said["tool_calls"]]
    said["error"] = _error(said.get("error"))
    return said


def _normalize(stream: Recording, result: StreamResult) -> dict[str, Any]:
    blocks = result.blocks
    thinking = [block["thinking"] for block in blocks if block["type"] == "thinking"]
    said: dict[str, Any] = {
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "thinking": "".join(thinking),
        "tool_calls": [_call(block) for block in blocks if block["type"] == "tool_call"],
        "usage": result.raw_usage,
        "error": _error(result.error),
    }
    match stream.dialect:
        case "anthropic":
            said["signatures"] = [block["signature"] for block in blocks if block.get("signature")]
            kinds = {"tool_call": "tool_use"}
            said["block_types"] = [kinds.get(block["type"], block["type"]) for block in blocks]
            said["stop_reason"] = result.raw_stop_reason
            # The records of this dialect leave errors to the SDK's part of the file.
            del said["error"]
        case "responses":
            said["thinking"] = "\n\n".join(filter(None, thinking))
            said["item_types"] = [block.get("item", block)["type"] for block in blocks]
            said["incomplete_details"] = result.metadata.get("incomplete_details")
            if not result.truncated:
                said["status"] = result.raw_stop_reason
        case "chat":
            said["finish_reason"] = result.raw_stop_reason
        case _:
            counts = result.raw_usage or {}
            said["done_reason"] = result.raw_stop_reason
            said["prompt_eval_count"] = counts.get("prompt_eval_count")
            said["eval_count"] = counts.get("eval_count")
            del said["usage"]
    return said


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """A call with what it is called with: the text of a custom one, else its arguments."""
    given = call["input"] if "input" in call else call["arguments"]
    return {"id": call["id"], "name": call["name"], "arguments": given}


def _error(error: Any) -> dict[str, Any] | None:
    """The code and the message of an error; some codes are numbers on the wire."""
    if not isinstance(error, dict):
        return None if error is None else {"code": None, "message": error}
    code = error.get("code")
    return {"code": None if code is None else str(code), "message": error.get("message")}
