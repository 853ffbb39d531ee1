"""Usage is never above the service's own prompt, completion or total."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_providers.wire.usage import gross_usage
from amplifier_stream import StreamDecoder

counts = st.one_of(st.none(), st.integers(0, 50), st.just(2**63 - 1))
Counts = dict[str, Any]


def write(*events: Counts | str) -> bytes:
    lines = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return b"".join(f"data: {line}\n\n".encode() for line in lines)


def chat(prompt: Any, cached: Any, completion: Any, reasoning: Any, total: Any) -> bytes:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    return write({"choices": [], "usage": usage}, "[DONE]")


def responses(prompt: Any, cached: Any, completion: Any, reasoning: Any, total: Any) -> bytes:
    usage = {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": total,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens_details": {"reasoning_tokens": reasoning},
    }
    return write({"type": "response.completed", "response": {"id": "r", "usage": usage}})


# Holds: stream-7
@pytest.mark.parametrize("dialect", ["chat", "responses"])
@given(counts, counts, counts, counts, counts)
def test_no_count_is_above_what_the_service_says_of_its_whole(
    dialect: str, prompt: Any, cached: Any, completion: Any, reasoning: Any, total: Any
) -> None:
    decoder = StreamDecoder(dialect)
    wire = chat if dialect == "chat" else responses
    decoder.feed(wire(prompt, cached, completion, reasoning, total))
    usage = decoder.finish().usage
    gross = gross_usage(usage)
    if gross is None:
        assert (prompt, cached, completion, reasoning) == (None,) * 4
        return
    if prompt is not None:
        assert gross.input_tokens <= prompt
    is_apart = dialect == "chat" and total == sum(
        count or 0 for count in (prompt, completion, reasoning)
    )
    if completion is not None and not is_apart:
        assert gross.output_tokens <= completion
    if total and prompt is not None and completion is not None:
        assert gross.total_tokens <= total


def test_more_cached_tokens_than_the_prompt_has_are_the_prompt() -> None:
    decoder = StreamDecoder("chat")
    decoder.feed(chat(10, 161, 6, None, 16))
    gross = gross_usage(decoder.finish().usage)
    assert gross is not None
    assert gross.model_dump(exclude_none=True) == {
        "input_tokens": 10,
        "output_tokens": 6,
        "total_tokens": 16,
        "cache_read_tokens": 10,
    }


def test_more_thinking_than_the_answer_has_is_the_answer() -> None:
    decoder = StreamDecoder("anthropic")
    usage = {"input_tokens": 3, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 9}}
    decoder.feed(
        write(
            {"type": "message_start", "message": {"id": "m"}},
            {"type": "message_delta", "delta": {}, "usage": usage},
            {"type": "message_stop"},
        )
    )
    usage = decoder.finish().usage
    assert (usage["output_tokens"], usage["reasoning_tokens"]) == (0, 5)
