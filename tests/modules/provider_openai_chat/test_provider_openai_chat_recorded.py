"""Recorded streams, through a server and the provider, say what they said."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, Message, TextBlock, ThinkingBlock

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def recorded() -> list[Any]:
    folder = os.environ.get("RECORDED_STREAMS")
    if not folder:
        reason = "`RECORDED_STREAMS` names no folder with recorded streams"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    index = Path(folder) / "index.tsv"
    with index.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        pytest.param((index.with_name(row["file"]), row), id=row["file"])
        for row in rows
        if row["api"].startswith("chat")
    ]


@pytest.mark.parametrize("recording", recorded())
async def test_a_recorded_answer_is_what_was_said(
    recording: tuple[Path, dict[str, str]], server: Any, hooks: Any, wire: Any, provider_with: Any
) -> None:
    path, row = recording
    status, content_type = int(row["http_status"]), row["content_type"]
    server.answers = [wire.Answer(path.read_bytes(), status, content_type)]
    said = json.loads(path.with_suffix(".expected.json").read_text())
    expected, provider = said["normalized"], provider_with()

    if expected is None or expected.get("error"):
        with pytest.raises(LLMError) as caught:
            await provider.complete(REQUEST)
        of_sdk = said["expected"]["error"]
        error = expected["error"] if expected else of_sdk["body"]
        assert (error.get("message") or "")[:60] in str(caught.value)
        if expected is None:
            assert caught.value.status_code == status
            named = {"RateLimitReached": "RateLimitError"}.get(error.get("code"), of_sdk["class"])
            assert type(caught.value).__name__ == named
        return
    response = await provider.complete(REQUEST)

    blocks = response.content
    assert "".join(each.text for each in blocks if isinstance(each, TextBlock)) == expected["text"]
    thinking = "".join(each.thinking for each in blocks if isinstance(each, ThinkingBlock))
    assert thinking == expected["thinking"]
    calls = provider.parse_tool_calls(response)
    assert [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls] == expected[
        "tool_calls"
    ]
    assert response.metadata is not None
    assert response.metadata["stop_reason"] == expected["finish_reason"]
    assert response.finish_reason == STOP_REASONS[expected["finish_reason"]]
    counted, usage = expected["usage"], response.usage
    if counted is None:
        assert usage is None
    else:
        assert usage is not None
        assert usage.input_tokens == counted["prompt_tokens"]
        assert usage.output_tokens == counted["completion_tokens"]
        details: dict[str, Any] = counted.get("prompt_tokens_details") or {}
        assert usage.cache_read_tokens == details.get("cached_tokens")
    ended = [data["block"] for data in hooks.of("content_block:end")]
    assert [each["type"] for each in ended] == [each.type for each in blocks]
