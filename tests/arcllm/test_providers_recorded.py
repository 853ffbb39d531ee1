"""Recorded streams through `complete` and `stream` of a model: one result, and that of the kernel."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from called_services import SERVICES, LoadedStep
from deltas_read import streamed

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest
from amplifier_core.message_models import Message as KernelMessage
from amplifier_testing.servers import Recorded
from arcllm import ArcLLMAPIError, Message
from arcllm.providers.open import ProviderStep
from arcllm.step import Call

SKIPPED = "`RECORDED_STREAMS` names no folder with recorded streams"
REQUEST = ChatRequest(messages=[KernelMessage(role="user", content="hi")])
CALL = Call([Message(role="user", content="hi")])
MADE_UP = re.compile(r"call_[0-9a-f]{24}")


def recordings() -> list[Any]:
    folder = os.environ.get("RECORDED_STREAMS")
    if not folder:
        return [pytest.param(None, None, id="none", marks=pytest.mark.skip(reason=SKIPPED))]
    index = Path(folder) / "index.tsv"
    with index.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        pytest.param(service_of(row), (index.with_name(row["file"]), row), id=row["file"])
        for row in rows
    ]


def service_of(row: dict[str, str]) -> str:
    """Return which of our services speaks the dialect of a recording."""
    match row["api"].partition("-")[0], row["provider"]:
        case "messages", _:
            return "anthropic"
        case "responses", _:
            return "openai"
        case "chat", "azure":
            return "azure_deployment"
        case "chat", "deepseek":
            return "deepseek"
        case "chat", "openai":
            return "openai_chat"
        case "chat", _:
            return "ollama_completions"
        case _:
            return "ollama"


def by_the_table(answer: Any) -> dict[str, Any]:
    """Return what a response has to say of an answer of the kernel."""
    blocks, metadata = answer.content, answer.metadata
    usage, reason = answer.usage, answer.finish_reason
    counts = {} if usage is None else usage.model_dump(exclude={"cost_usd"})
    nothing = {"cache_read_tokens": None, "cache_write_tokens": None, "reasoning_tokens": None}
    needed = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    return {
        "content": "".join(b.text for b in blocks if b.type == "text") or None,
        "thinking": "".join(b.thinking for b in blocks if b.type == "thinking") or None,
        "tool_calls": [call.model_dump(include={"id", "name", "arguments"})
                       for call in answer.tool_calls or []],
        "usage": counts or {**needed, **nothing},
        "model": metadata["model"],
        "stop_reason": metadata["stop_reason"] if reason == "other" else reason,
    }  # fmt: skip


def comparable(value: Any) -> Any:
    """Return plain data, in which the ids that nobody but us made up are the same."""
    return json.loads(MADE_UP.sub("call_made_up", json.dumps(value)))


async def outcome(ask: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await ask()
    except (LLMError, ArcLLMAPIError) as error:
        return error


# Holds: arcllm-8
@pytest.mark.parametrize(("name", "recording"), recordings())
async def test_a_recorded_stream_is_what_the_kernel_says_it_is(
    name: str, recording: tuple[Path, dict[str, str]]
) -> None:
    path, row = recording
    service, status = SERVICES[name], int(row["http_status"])
    recorded = Recorded(path.read_bytes(), status=status, content_type=row["content_type"])
    found: list[Any] = []
    for way in ("kernel", "complete", "stream"):
        # A server of its own, so that all of them count the requests from 1.
        with service.server([recorded]) as server:
            step, loaded = service.open(server), LoadedStep(service.load(server))
            assert isinstance(step, ProviderStep)
            match way:
                case "kernel":
                    found.append(await outcome(partial(step.provider().complete, REQUEST)))
                case "complete":
                    found.append(await outcome(partial(loaded.complete, CALL)))
                case _:
                    found.append(await outcome(partial(streamed, loaded, CALL)))
            await step.close()
            await loaded.close()
    expected, completed, by_stream = found
    if isinstance(expected, LLMError):
        for error in (completed, by_stream):
            assert isinstance(error, ArcLLMAPIError)
            assert (error.message, error.status_code) == (str(expected), expected.status_code)
            assert error.body == (recorded.body.decode() if status >= 400 else str(expected))
            assert error.retryable == expected.retryable
            assert (error.hint is None) == (expected.hint is None)
            assert type(error.__cause__) is type(expected)
        return
    said = completed.model_dump(exclude={"metadata", "opaque"})
    assert comparable(said) == comparable(by_the_table(expected))
    assert comparable(by_stream.model_dump()) == comparable(completed.model_dump())
    assert comparable(by_stream.message.model_dump()) == comparable(completed.message.model_dump())
    assert completed.metadata["request_id"] == expected.metadata["request_id"]
    assert ("unreported" in completed.metadata) == (expected.usage is None)
    message = completed.message
    assert Message.model_validate_json(message.model_dump_json()) == message
