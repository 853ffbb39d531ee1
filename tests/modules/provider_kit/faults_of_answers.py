"""Faults of what is made of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from planted import found_by
from tiny_provider import Reading, TinyProvider

from amplifier_core.message_models import ChatRequest, ChatResponse, Usage


@found_by("the_answer_is_what_the_service_said", "the text is 'let me look at it")
class LowerCase(TinyProvider):
    """Changes the text."""

    async def take_delta(self, delta: dict[str, Any], index: int, reading: Reading) -> None:
        await super().take_delta({k: v.lower() for k, v in delta.items()}, index, reading)


@found_by("calls_of_one_answer_stay_apart_and_in_order", r"the calls are \[\('look', {}\)")
class Reorders(TinyProvider):
    """Reorders parallel calls."""

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        response = super().response(reading, names)
        calls = sorted(response.tool_calls or [], key=lambda call: len(call.arguments))
        return response.model_copy(update={"tool_calls": calls or None})


@found_by("calls_of_one_answer_stay_apart_and_in_order", "not a `ChatResponse`|the calls are")
class Merges(TinyProvider):
    """Merges calls of one answer, as if all had index 0."""

    async def take(self, event: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        await super().take({**event, "index": 0}, names, reading)


@found_by("calls_of_different_answers_have_different_ids", "four calls have the ids")
class ReusesIds(TinyProvider):
    """Reuses an id."""

    def block(self, reading: Reading, index: int, names: dict[str, str]) -> dict[str, Any]:
        block = super().block(reading, index, names)
        return {**block, "id": f"call_{index}"} if "id" in block else block


@found_by("thoughts_are_blocks_of_their_own", "the text is 'Hm, é.It is short.'|the thoughts are")
class ThinksAloud(TinyProvider):
    """Returns thoughts as text."""

    def block(self, reading: Reading, index: int, names: dict[str, str]) -> dict[str, Any]:
        block = super().block(reading, index, names)
        return {"type": "text", "text": block["thinking"]} if "thinking" in block else block


@found_by("the_finish_reason_says_why_the_answer_ended", "stop=max_tokens is 'stop'")
class NeverCut(TinyProvider):
    """Returns an answer that reached its limit as one that is over."""

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        response = super().response(reading, names)
        is_cut = response.finish_reason == "length"
        return response.model_copy(update={"finish_reason": "stop"}) if is_cut else response


@found_by("a_call_that_is_not_whole_is_not_run", "would be run with {}")
class RunsTruncated(TinyProvider):
    """Runs a truncated call."""

    def broken_call(self, called: dict[str, Any], arguments: str) -> dict[str, Any]:
        return {**called, "input": {}}


@found_by("each_token_is_counted_once", "`total_tokens` is 200, not 160")
class CountsTwice(TinyProvider):
    """Counts cached tokens twice."""

    def usage(self, counted: Mapping[str, Any]) -> Usage:
        usage = super().usage(counted)
        cached = usage.cache_read_tokens or 0
        more = {"input_tokens": usage.input_tokens + cached}
        return usage.model_copy(update={**more, "total_tokens": usage.total_tokens + cached})


@found_by("names_of_tools_come_back_as_they_were", "the calls are of .*'mcp_server_look'")
class LosesNames(TinyProvider):
    """Loses the map of tool names."""

    def named(self, wire: str, names: dict[str, str]) -> str:
        return wire


@found_by("calls_at_the_same_time_do_not_mix", "four calls at once have the answers")
class SharesReading(TinyProvider):
    """Keeps the answer that is on its way in the provider."""

    shared: Reading

    def new_reading(self) -> Reading:
        self.shared = super().new_reading()
        return self.shared

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        await anyio.lowlevel.checkpoint()
        await super().read(body, names, self.shared)

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        return super().response(self.shared, names)


@found_by("a_call_leaves_nothing_behind_for_the_next", "a conversation was sent as")
class Remembers(TinyProvider):
    """Keeps the tools of the calls before."""

    kept: Any = None

    def encode(self, request: ChatRequest) -> tuple[dict[str, Any], dict[str, str]]:
        body, names = super().encode(request)
        self.kept = body.get("tools", self.kept)
        return ({**body, "tools": self.kept} if self.kept else body), names


@found_by("an_answer_has_nothing_of_the_one_before", "the answer is .*'call', 'look'")
class Accumulates(TinyProvider):
    """Adds an answer to the one before."""

    before: Any = None

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        response = super().response(reading, names)
        content = [*(self.before or []), *response.content]
        self.before = self.before or response.content
        return response.model_copy(update={"content": content})
