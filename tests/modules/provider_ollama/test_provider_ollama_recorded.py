"""Recorded streams, through a server and the provider, say what they said, however they are cut."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_core.llm_errors import LLMError, StreamError
from amplifier_core.message_models import ChatRequest, ChatResponse, Message
from amplifier_providers.ollama import OllamaProvider, read_config
from amplifier_testing.servers import Fault, OllamaModel, OllamaServer, Recorded

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
Recording = tuple[Recorded, dict[str, str], Any]


def recordings() -> list[Any]:
    folder = os.environ.get("RECORDED_STREAMS")
    if not folder:
        reason = "`RECORDED_STREAMS` names no folder with recorded streams"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    index = Path(folder) / "index.tsv"
    with index.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        pytest.param(recording(index.with_name(row["file"]), row), id=row["file"])
        for row in rows
        if row["provider"] == "ollama"
    ]


def recording(path: Path, row: dict[str, str]) -> Recording:
    kind, status = row["content_type"], int(row["http_status"])
    expected = json.loads(path.with_suffix(".expected.json").read_text())
    return Recorded(path, status=status, content_type=kind), row, expected


def provider_of(url: str, row: dict[str, str], hooks: Any = None) -> OllamaProvider:
    api = "openai" if row["api"] == "chat" else "native"
    config = {
        "host": url,
        "default_model": "m",
        "max_retries": 0,
        "api": api,
        "breaker_failures": 0,
    }
    return OllamaProvider(read_config(config, {}), hooks, new_id=lambda: "made")


def said(response: ChatResponse) -> dict[str, Any]:
    blocks = response.content
    calls = [call.model_dump(include={"name", "arguments"}) for call in response.tool_calls or []]
    return {
        "text": "".join(each.text for each in blocks if each.type == "text"),
        "thinking": "".join(each.thinking for each in blocks if each.type == "thinking"),
        "tool_calls": calls,
    }


@pytest.mark.parametrize("recording", recordings())
async def test_a_recorded_answer_is_what_was_said(recording: Recording, hooks: Any) -> None:
    body, row, record = recording
    expected = record["normalized"]
    with OllamaServer([body], models=[OllamaModel("m:latest")]) as server:
        provider = provider_of(server.url, row, hooks)
        try:
            if expected is None:
                with pytest.raises(LLMError) as caught:
                    await provider.complete(REQUEST)
                told = record["expected"]["error"]
                assert (type(caught.value).__name__, caught.value.status_code) == (
                    told["class"], told["status_code"],
                )  # fmt: skip
                assert told["body"]["message"] in str(caught.value)
                return
            response = await provider.complete(REQUEST)
        finally:
            await provider.close()
    calls = [{key: call[key] for key in ("name", "arguments")} for call in expected["tool_calls"]]
    wanted = {key: expected[key] for key in ("text", "thinking")}
    assert said(response) == {**wanted, "tool_calls": calls}
    assert [call.id for call in response.tool_calls or []] == ["made"] * len(calls)
    metadata = response.metadata or {}
    reason = expected.get("done_reason", expected.get("finish_reason"))
    assert metadata["stop_reason"] == reason
    assert response.finish_reason == ("tool_use" if calls else "end_turn")
    assert response.usage is not None
    counts = expected.get("usage") or {}
    assert response.usage.input_tokens == (
        counts.get("prompt_tokens") or expected["prompt_eval_count"]
    )
    assert response.usage.output_tokens == (
        counts.get("completion_tokens") or expected["eval_count"]
    )
    ended = [data["block"]["type"] for data in hooks.of("content_block:end")]
    assert ended == [each.type for each in response.content]


@pytest.mark.parametrize("recording", recordings())
def test_a_recorded_answer_that_is_cut_at_any_byte_is_whole_or_none(recording: Recording) -> None:
    body, row, record = recording
    if record["normalized"] is None:
        return
    length = len(body.body)
    step = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "slow" else max(1, length // 60)
    places = sorted({*range(0, length, step), *range(length - 40, length + 1)})

    async def ask_for_each() -> None:
        with OllamaServer(models=[OllamaModel("m:latest")]) as server:
            provider = provider_of(server.url, row)
            server.answers = [body]
            whole = said(await provider.complete(REQUEST))
            for place in places:
                server.answers, server.faults = [body], [Fault(cut=place, piece=7)]
                try:
                    response = await provider.complete(REQUEST)
                except StreamError as error:
                    assert "was cut off" in str(error)  # noqa: PT017 -- one of two outcomes
                else:
                    assert said(response) == whole
            await provider.close()

    anyio.run(ask_for_each)
