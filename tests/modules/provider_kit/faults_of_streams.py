"""Faults of what is made of a stream, and of the events of blocks."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx2
from planted import found_by
from tiny_provider import Reading, TinyProvider

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse


@found_by(
    "an_answer_cut_off_at_any_byte_is_never_a_response", "cut off at byte .* became the respon"
)
class Partial(TinyProvider):
    """Returns a part of an answer after a cut."""

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        with contextlib.suppress(llm_errors.StreamError):
            await super().read(body, names, reading)


@found_by("an_answer_split_at_any_byte_is_the_same", "in pieces of . bytes became|StreamError")
class DecodesChunks(TinyProvider):
    """Decodes UTF-8 chunk by chunk."""

    async def read_body(
        self, response: httpx2.Response, names: dict[str, str], reading: Reading
    ) -> None:
        rest = ""
        pieces = response.aiter_bytes()
        async for piece in pieces:
            *lines, rest = (rest + piece.decode("utf-8", "replace")).split("\n")
            for line in lines:
                await self.take_line(line.encode(), names, reading)


@found_by("an_answer_split_at_any_byte_is_the_same", "StreamError|became")
class LosesRest(TinyProvider):
    """Loses what has no newline yet at the end of a chunk."""

    async def read_body(
        self, response: httpx2.Response, names: dict[str, str], reading: Reading
    ) -> None:
        async for piece in response.aiter_bytes():
            for line in piece.split(b"\n")[:-1]:
                await self.take_line(line, names, reading)


@found_by("an_answer_without_its_last_newline_loses_nothing", "without its last newline became")
class LosesLast(TinyProvider):
    """Loses the last event if it has no newline."""

    async def read_body(
        self, response: httpx2.Response, names: dict[str, str], reading: Reading
    ) -> None:
        lines: list[bytes] = []
        rest = b""
        async for piece in response.aiter_bytes():
            *new, rest = (rest + piece).split(b"\n")
            lines += new
        if rest:  # an event begins in the line before
            lines = lines[:-4]
            reading.is_over = True
        for line in lines:
            await self.take_line(line, names, reading)


@found_by("signs_of_life_are_no_part_of_the_answer", "JSONDecodeError|StreamError|no JSON")
class ReadsComments(TinyProvider):
    """Takes a comment for data."""

    async def take_line(self, line: bytes, names: dict[str, str], reading: Reading) -> None:
        line = b"data" + line if line.startswith(b":") else line
        await super().take_line(line, names, reading)


@found_by("an_event_that_is_no_json_ends_the_answer", "is no JSON became the response")
class SkipsBroken(TinyProvider):
    """Skips events that it cannot read."""

    async def take_line(self, line: bytes, names: dict[str, str], reading: Reading) -> None:
        with contextlib.suppress(llm_errors.StreamError, KeyError):
            await super().take_line(line, names, reading)


@found_by("an_error_in_a_stream_is_raised", "with an error of the service after .* became")
class SwallowsErrors(TinyProvider):
    """Swallows an error in a stream under status 200."""

    def take_error(self, error: dict[str, Any], reading: Reading) -> None:
        reading.is_over = True


@found_by("nothing_is_asked_for_again_after_it_was_shown", "asked again after text was shown")
class RepeatsShown(TinyProvider):
    """Asks again after a part of the answer was shown."""

    def may_retry(self, error: LLMError, reading: Reading) -> bool:
        return error.retryable


@found_by("block_events_add_up_to_the_answer", "block 0 began twice")
class EmitsTwice(TinyProvider):
    """Emits a block twice."""

    async def show(self, reading: Reading, what: str, index: int, **data: Any) -> None:
        await super().show(reading, what, index, **data)
        await super().show(reading, what, index, **data)


@found_by("block_events_add_up_to_the_answer", "the deltas of a block are")
class LosesDelta(TinyProvider):
    """Does not emit the first delta of a block."""

    async def show(self, reading: Reading, what: str, index: int, **data: Any) -> None:
        block = reading.blocks[index]
        is_first = what == "delta" and data["delta"] in (block.get("text"), block.get("thinking"))
        if not is_first:
            await super().show(reading, what, index, **data)


@found_by("block_events_add_up_to_the_answer", "does not say so: the loop would emit them again")
class DoesNotSay(TinyProvider):
    """Emits the events of blocks and does not say so."""

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        return super().response(reading, names).model_copy(update={"metadata": None})


@found_by("a_call_that_fails_is_over_for_its_hooks", "`llm:request` was emitted 1 times, `llm:resp")
class NeverOver(TinyProvider):
    """Leaves a call that failed open for its hooks."""

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        body, names = self.encode(request)
        about = {"provider": self.name, "model": body["model"]}
        await self.hooks.emit("llm:request", about)
        response = await self.tries(body, names)
        await self.hooks.emit("llm:response", {**about, "status": "ok"})
        return response
