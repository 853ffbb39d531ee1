"""Tests of whole answers: their blocks, calls, finish reasons and tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import anyio

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse, ToolSpec

from ..servers import Answer, Call, Thinking, Usage
from .base import KitBase
from .conversation import (
    LOOK,
    MIXED,
    ONE_CALL,
    essence_of,
    make_user,
    request,
    scripted_calls,
    scripted_text,
    text_of,
    thoughts_of,
)
from .failing import fail

_CUT = {"max_tokens", "length"}
_CALLED = {"tool_use", "tool_calls"}
_ENDED = {"stop", "end_turn"}
_ODD_NAMES = ("mcp.server/look", "with space", "n" * 140)
_AT_ONCE = Answer(
    Call("look", {"at": "first"}, id="call1a2b3"),
    Call("look", {"at": "second"}, id="call4c5d6"),
    Call("look", {}, id="call7e8f9"),
)


class AnswerTests(KitBase):
    """What a provider makes of a whole answer."""

    def test_the_answer_is_what_the_service_said(self, backend: str) -> None:
        """Texts and calls are those of the script, in order, and a call keeps its id."""

        async def check() -> None:
            async with self.bench() as bench:
                response = await bench.ask(MIXED)
                found = [(call.name, call.arguments) for call in bench.list_calls(response)]
                if text_of(response) != scripted_text(MIXED):
                    fail(f"the text is {text_of(response)!r}, not {scripted_text(MIXED)!r}")
                if found != scripted_calls(MIXED):
                    fail(f"the calls are {found}, not {scripted_calls(MIXED)}")
                kinds = [kind[0] for kind in essence_of(response) if kind[0] in {"text", "call"}]
                if kinds != ["text", "call"]:
                    fail(f"the blocks are {kinds}, not a text and a call")
                blocks = [getattr(b, "id", "") for b in response.content if b.type == "tool_call"]
                calls = [call.id for call in bench.list_calls(response)]
                if blocks != calls:
                    fail(f"the ids of the blocks {blocks} are not those of the calls {calls}")
                if self.call_ids and calls != ["call1a2b3"]:
                    fail(f"the id of the call is {calls[0]!r}, not 'call1a2b3'")

        self.run(check, backend)

    def test_calls_of_one_answer_stay_apart_and_in_order(self, backend: str) -> None:
        """Three calls of one tool are three calls, each with its arguments and an id of its own."""

        async def check() -> None:
            async with self.bench() as bench:
                response = await bench.ask(_AT_ONCE)
                found = [(call.name, call.arguments) for call in bench.list_calls(response)]
                if found != scripted_calls(_AT_ONCE):
                    fail(f"the calls are {found}, not {scripted_calls(_AT_ONCE)}")
                ids = [call.id for call in bench.list_calls(response)]
                if len(set(ids)) != len(ids) or not all(ids):
                    fail(f"two calls of one answer have the same id, or one has none: {ids}")

        self.run(check, backend)

    def test_calls_of_different_answers_have_different_ids(self, backend: str) -> None:
        """An id is never used again in a conversation."""

        async def check() -> None:
            async with self.bench() as bench:
                ids: list[str] = []
                for _ in range(2):
                    response = await bench.ask(Answer(Call("look", {"at": "a"}), Call("look")))
                    ids += [call.id for call in bench.list_calls(response, 2)]
                if len(set(ids)) != 4:
                    fail(f"four calls have the ids {ids}")

        self.run(check, backend)

    def test_thoughts_are_blocks_of_their_own(self, backend: str) -> None:
        """Thoughts are thinking blocks and never text."""
        self.check_claim("thinking")

        async def check() -> None:
            async with self.bench() as bench:
                response = await bench.ask(Answer(Thinking("Hm, é."), "It is short."))
                if thoughts_of(response) != "Hm, é.":
                    fail(f"the thoughts are {thoughts_of(response)!r}, not 'Hm, é.'")
                if text_of(response) != "It is short.":
                    fail(f"the text is {text_of(response)!r}, not 'It is short.'")

        self.run(check, backend)

    def test_the_finish_reason_says_why_the_answer_ended(self, backend: str) -> None:
        """It tells an answer that is over from a call, and from one that reached its limit."""

        async def check() -> None:
            async with self.bench() as bench:
                limit = bench.server.limit_stop
                for answer, wanted in (
                    (Answer("It is short."), _ENDED),
                    (ONE_CALL, _CALLED),
                    (Answer("It is", stop=limit), _CUT),
                ):
                    response = await bench.ask(answer)
                    if response.finish_reason not in wanted:
                        fail(
                            f"the finish reason of {answer.parts} with stop={answer.stop} is"
                            f" {response.finish_reason!r} (must be one of {sorted(wanted)})"
                        )

        self.run(check, backend)

    def test_a_call_that_is_not_whole_is_not_run(self, backend: str) -> None:
        """Arguments that are cut off are an error, or a call with an `error`, never arguments."""

        async def check() -> None:
            async with self.bench() as bench:
                for stop in (None, bench.server.limit_stop):
                    broken = Answer(
                        Call("look", '{"at": "a", "then": "del', id="call1a2b3"), stop=stop
                    )
                    response = await bench.ask_for_outcome(broken)
                    if isinstance(response, LLMError):
                        continue
                    for call in bench.list_calls(response):
                        fail(
                            f"a call whose arguments were cut off would be run with {call.arguments}"
                        )

        self.run(check, backend)

    def test_each_token_is_counted_once(self, backend: str) -> None:
        """Cached tokens and thoughts are part of the total, and part of it once."""

        async def check() -> None:
            async with self.bench() as bench:
                for usage in (
                    Usage(input=100, output=20),
                    Usage(input=100, output=20, cache_read=40),
                    Usage(input=100, output=20, cache_read=40, cache_write=8, reasoning=12),
                ):
                    response = await bench.ask(Answer("It is short.", usage=usage))
                    uncached = replace(usage, cache_read=0, cache_write=0)
                    _expect_usage(response.usage, usage if self.cached_tokens else uncached)

        self.run(check, backend)

    def test_names_of_tools_come_back_as_they_were(self, backend: str) -> None:
        """A name that the service does not take is sent as another, and comes back as it was."""

        async def check() -> None:
            tools = [
                ToolSpec(name=name, description="Looks.", parameters=LOOK.parameters)
                for name in ("look", *_ODD_NAMES)
            ]
            async with self.bench() as bench:
                asked = request([make_user("Look.")], tools)
                await bench.ask("Yes.", request=asked)
                sent = _tool_names(bench.sent.body, len(tools))
                if len(set(sent)) != len(tools):
                    fail(f"{len(tools)} tools were sent under the names {sent}")
                calls = [Call(name, {"at": str(n)}) for n, name in enumerate(sent)]
                response = await bench.ask(Answer(*calls), request=asked)
                found = [call.name for call in bench.list_calls(response)]
                if found != [tool.name for tool in tools]:
                    fail(f"the calls are of {found}, not of {[tool.name for tool in tools]}")

        self.run(check, backend)

    def test_calls_at_the_same_time_do_not_mix(self, backend: str) -> None:
        """Each of several calls at once has an answer of its own."""

        async def check() -> None:
            texts = [f"Answer number {n}." * 3 for n in range(4)]
            found: list[str] = []
            problems: list[AssertionError] = []
            answers = [Answer(text, fragment=3) for text in texts]
            # With pauses, or an answer may be over before the next one begins.
            async with self.bench(answers, pause=0.005) as bench:

                async def ask() -> None:
                    try:
                        found.append(text_of(await bench.complete()))
                    except AssertionError as error:
                        problems.append(error)

                async with anyio.create_task_group() as group:
                    for _ in texts:
                        group.start_soon(ask)
            for problem in problems:
                raise problem  # the group would raise it among others
            if sorted(found) != texts:
                fail(f"four calls at once have the answers {sorted(found)}, not {texts}")

        self.run(check, backend)

    def test_a_call_leaves_nothing_behind_for_the_next(self, backend: str) -> None:
        """After a conversation with calls, another one is sent as a new provider would send it."""

        async def check() -> None:
            other = request([make_user("Something else.")], ())
            async with self.bench() as bench:
                await bench.ask(MIXED)
                await bench.ask(_AT_ONCE)
                await bench.ask("Yes.", request=other)
                used = bench.sent.body
            async with self.bench() as bench:
                response = await bench.ask("Yes.", request=other)
                fresh = bench.sent.body
                _expect_only(response, "Yes.")
            if used != fresh:
                fail(f"a conversation was sent as {used} after another one, as {fresh} without it")

        self.run(check, backend)

    def test_an_answer_has_nothing_of_the_one_before(self, backend: str) -> None:
        """The blocks, calls and tokens of an answer are its own."""

        async def check() -> None:
            async with self.bench() as bench:
                await bench.ask(MIXED)
                _expect_only(await bench.ask("Yes."), "Yes.")

        self.run(check, backend)


def _expect_only(response: ChatResponse, text: str) -> None:
    found = [kind for kind in essence_of(response) if kind[0] != "finish"]
    if found != [("text", text)]:
        fail(f"the answer is {found}, not the text {text!r} alone")


def _expect_usage(usage: Any, given: Usage) -> None:
    if usage is None:
        fail(f"the response has no usage; the service counted {given}")
    cached = given.cache_read + given.cache_write
    total = given.input + cached + given.output + given.reasoning
    if usage.total_tokens != total:
        fail(f"`total_tokens` is {usage.total_tokens}, not {total}: {given} became {usage!r}")
    for name, found, alone, part in (
        ("input_tokens", usage.input_tokens, given.input, cached),
        ("output_tokens", usage.output_tokens, given.output, given.reasoning),
    ):
        if found not in {alone, alone + part}:
            fail(f"`{name}` is {found}, not {alone + part}: {given} became {usage!r}")
    for name, found, wanted in (
        ("cache_read_tokens", usage.cache_read_tokens, given.cache_read),
        ("reasoning_tokens", usage.reasoning_tokens, given.reasoning),
        ("cache_write_tokens", usage.cache_write_tokens, given.cache_write),
    ):
        # Not every dialect counts them apart; one that does must say the right number.
        if found not in {None, wanted}:
            fail(f"`{name}` is {found}, not {wanted}: {given} became {usage!r}")


def _tool_names(body: Any, count: int) -> list[str]:
    """Return the names of the tools of a request, which the strict server has taken."""
    tools: Any = cast("dict[str, Any]", body).get("tools") if isinstance(body, dict) else None
    if not tools:
        fail(f"the request has no `tools`, although {count} were given")
    return [tool.get("name") or tool["function"]["name"] for tool in tools]
