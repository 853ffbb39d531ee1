"""Recorded streams of the Responses API, through `complete`."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from responses_wire import Answer, Server

from amplifier_core.llm_errors import AuthenticationError, LLMError, QuotaExceededError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.openai import OpenAIProvider

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
SKIPPED = "`RECORDED_STREAMS` names no folder with recorded streams"

Make = Callable[..., OpenAIProvider]


@dataclass(frozen=True)
class Recording:
    name: str
    status: int
    content_type: str
    body: bytes
    expected: dict[str, Any]


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
            status=int(row["http_status"]),
            content_type=row["content_type"],
            body=(path := index.with_name(row["file"])).read_bytes(),
            expected=json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8")),
        )
        for row in rows
        if row["api"].startswith("responses")
    ]


RECORDINGS = [pytest.param(each, id=each.name) for each in recordings()] or [
    pytest.param(None, id="none", marks=pytest.mark.skip(reason=SKIPPED))
]


@pytest.mark.parametrize("recording", RECORDINGS)
async def test_a_recorded_stream_becomes_its_record(
    recording: Recording, server: Server, make: Make
) -> None:
    server.answers = [Answer(recording.body, recording.status, recording.content_type)]
    provider = make(max_continuations=0)
    record = recording.expected["normalized"]

    if record is None or record["status"] == "failed":
        with pytest.raises(LLMError) as caught:
            await provider.complete(REQUEST)
        is_refused = recording.status == 401
        assert type(caught.value) is (AuthenticationError if is_refused else QuotaExceededError)
        said = record or recording.expected["expected"]["error"]["body"]
        assert str(said.get("error", said)["message"])[:60] in str(caught.value)
        return

    response = await provider.complete(REQUEST)
    blocks = response.content
    thinking = [block.thinking for block in blocks if block.type == "thinking"]
    usage = response.usage
    assert usage is not None
    assert {
        "text": "".join(block.text for block in blocks if block.type == "text"),
        "thinking": "\n\n".join(filter(None, thinking)),
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in provider.parse_tool_calls(response)
        ],
        "item_types": [block.item["type"] for block in blocks],  # pyright: ignore
        "status": (response.metadata or {})["stop_reason"],
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    } == {
        **{key: record[key] for key in ("text", "thinking", "item_types", "status")},
        "tool_calls": [
            {key: call[key] for key in ("id", "name", "arguments")} for call in record["tool_calls"]
        ],
        "input_tokens": record["usage"]["input_tokens"],
        "output_tokens": record["usage"]["output_tokens"],
        "cached_tokens": record["usage"]["input_tokens_details"]["cached_tokens"],
        "reasoning_tokens": record["usage"]["output_tokens_details"]["reasoning_tokens"],
    }
    finish = "tool_use" if record["tool_calls"] else "end_turn"
    cut = (record["incomplete_details"] or {}).get("reason") == "max_output_tokens"
    assert response.finish_reason == ("max_tokens" if cut else finish)


@pytest.mark.parametrize("recording", RECORDINGS)
async def test_a_recorded_answer_is_sent_back_unchanged(
    recording: Recording, server: Server, make: Make
) -> None:
    record = recording.expected["normalized"]
    if record is None or record["status"] != "completed":
        return
    server.answers = [Answer(recording.body), Answer(recording.body)]
    provider = make(default_model=record.get("model") or "gpt-5.5")
    response = await provider.complete(REQUEST)
    said = Message(role="assistant", content=response.content, metadata=response.metadata)
    results = [
        Message(role="tool", tool_call_id=call.id, content="12")
        for call in provider.parse_tool_calls(response)
    ]
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, *results]))

    sent = server.bodies[-1]["input"]
    assert [item["type"] for item in sent[1:]] == [
        *record["item_types"],
        *["function_call_output"] * len(results),
    ]
    for item, block in zip(sent[1:], response.content, strict=False):
        original: dict[str, Any] = block.item  # pyright: ignore
        assert {key: original[key] for key in item if key != "status"} == {
            key: value for key, value in item.items() if key != "status"
        }
