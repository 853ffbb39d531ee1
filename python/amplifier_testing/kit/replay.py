"""Tests of conversations that go on: what was said is sent again as the service wants it."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core.message_models import ChatResponse, ToolCall

from ..servers import Answer, Call, Thinking
from .base import KitBase
from .bench import Bench
from .conversation import (
    IMAGE,
    PIXEL,
    call_block,
    make_assistant,
    make_foreign,
    make_result,
    make_system,
    make_user,
    request,
    text_block,
)
from .failing import fail

_THOUGHT = Answer(Thinking("I need the file."), "I look.", Call("look", {"at": "a.py"}))
_AT_ONCE = Answer(Call("look", {"at": "first"}), Call("look", {"at": "second"}))


class ReplayTests(KitBase):
    """What a provider makes of a history. The strict server refuses what the service would."""

    def test_a_result_follows_its_call(self, backend: str) -> None:
        """A call goes back with its result, and the thoughts before it as they were signed."""

        async def check() -> None:
            async with self.bench() as bench:
                first = await bench.ask(_THOUGHT)
                call = bench.call(first)
                history = [
                    make_user("Look."),
                    make_assistant(first),
                    make_result(call.id, "it is short"),
                ]
                sent = await _send(bench, history)
                _expect_in_order(sent, ["Look.", "I look.", "a.py", "it is short"])
                if self.thinking:
                    _expect_signatures(first, sent)

        self.run(check, backend)

    def test_results_of_calls_at_once_go_back_to_their_calls(self, backend: str) -> None:
        """The calls keep their order, and each has its own result, whichever came first."""

        async def check() -> None:
            for turn in (1, -1):
                async with self.bench() as bench:
                    first = await bench.ask(_AT_ONCE)
                    calls = bench.list_calls(first, 2)
                    results = [make_result(call.id, f"of {_read_place(call)}") for call in calls]
                    sent = await _send(
                        bench, [make_user("Look."), make_assistant(first), *results[::turn]]
                    )
                    _expect_in_order(sent, ["Look.", "first", "second"])
                    for text in ("of first", "of second"):
                        _expect_in_order(sent, ["Look.", "second", text])
                    if turn == 1:
                        _expect_in_order(sent, ["of first", "of second"])

        self.run(check, backend)

    def test_a_conversation_of_many_turns_goes_on(self, backend: str) -> None:
        """Five rounds of thoughts, calls, results and answers are taken, and nothing gets lost."""

        async def check() -> None:
            async with self.bench() as bench:
                history: list[dict[str, Any]] = []
                marks: list[str] = []
                for n in range(5):
                    history.append(make_user(f"question {n}"))
                    thought = Answer(Thinking(f"thought {n}"), Call("look", {"at": f"place {n}"}))
                    first = await bench.ask(thought, request=request(history))
                    history.append(make_assistant(first))
                    history += [
                        make_result(call.id, f"result {n}") for call in bench.list_calls(first, 1)
                    ]
                    last = await bench.ask(Answer(f"answer {n}"), request=request(history))
                    history.append(make_assistant(last))
                    marks += [f"{what} {n}" for what in ("question", "place", "result", "answer")]
                history.append(make_user("And now?"))
                _expect_in_order(await _send(bench, history), [*marks, "And now?"])

        self.run(check, backend)

    def test_images_of_the_user_are_sent(self, backend: str) -> None:
        """An image in a message arrives as an image."""
        self.check_claim("images")

        async def check() -> None:
            async with self.bench() as bench:
                text = text_block("What is this?")
                sent = await _send(bench, [make_user([text, IMAGE])])
                if PIXEL not in sent:
                    fail("the data of the image were not sent")

        self.run(check, backend)

    def test_results_without_a_call_do_no_harm(self, backend: str) -> None:
        """A history that was cut may begin with a result; the service refuses one without a call."""

        async def check() -> None:
            async with self.bench() as bench:
                first = await bench.ask(_THOUGHT)
                call = bench.call(first)
                answered = make_result(call.id, "it is short")
                for history in (
                    [answered, make_user("Go on.")],
                    [make_user("Look."), answered, make_user("Go on.")],
                    [
                        make_user("Look."),
                        make_assistant(first),
                        answered,
                        make_result("other1234", "x"),
                    ],
                    [make_user("Look."), make_assistant(first), answered, answered],
                ):
                    await _send(bench, history)

        self.run(check, backend)

    def test_calls_without_a_result_do_no_harm(self, backend: str) -> None:
        """A turn that was interrupted leaves calls without results."""

        async def check() -> None:
            async with self.bench() as bench:
                first = await bench.ask(_AT_ONCE)
                one, _ = bench.list_calls(first, 2)
                for after in (
                    [make_user("Go on.")],
                    [make_result(one.id, "x"), make_user("Go on.")],
                    [],
                ):
                    history = [make_user("Look."), make_assistant(first), *after]
                    await _send(bench, history if after else [*history, make_user("Go on.")])

        self.run(check, backend)

    def test_empty_texts_do_no_harm(self, backend: str) -> None:
        """Messages and blocks without text are in every long history."""

        async def check() -> None:
            async with self.bench() as bench:
                blank = [text_block(""), text_block(" \n")]
                first = await bench.ask(Answer(Call("look")))
                call = bench.call(first)
                for history in (
                    [make_user(""), make_user("Go on.")],
                    [make_user([*blank, text_block("Go on.")])],
                    [make_user("Hi."), {"role": "assistant", "content": ""}, make_user("Go on.")],
                    [
                        make_user("Hi."),
                        {"role": "assistant", "content": blank},
                        make_user("Go on."),
                    ],
                    [
                        make_user("Hi."),
                        make_assistant(first),
                        make_result(call.id, ""),
                        make_user("Go on."),
                    ],
                    [make_system(""), make_user("Go on.")],
                ):
                    _expect_in_order(await _send(bench, history), ["Go on."])

        self.run(check, backend)

    def test_what_another_provider_wrote_does_no_harm(self, backend: str) -> None:
        """Its thoughts, the ids of its calls and the names of its tools are of another form."""

        async def check() -> None:
            async with self.bench() as bench:
                for n, call_id in enumerate(("call:1", "functions.look:0", "x" * 80, "é")):
                    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "foreign"}
                    name = ("look", "mcp.server/look", "n" * 140, "with space")[n]
                    call = call_block(call_id, name)
                    message = make_foreign([thinking, text_block("I look."), call])
                    history = [make_user("Look."), message, make_result(call_id, "it is short")]
                    sent = await _send(bench, history)
                    _expect_in_order(sent, ["Look.", "I look.", "it is short"])

        self.run(check, backend)


def _read_place(call: ToolCall) -> Any:
    """Return the argument that each call of these tests has."""
    if "at" not in call.arguments:
        fail(f"a call came without the argument `at` that the service gave it: {call!r}")
    return call.arguments["at"]


async def _send(bench: Bench, history: list[dict[str, Any]]) -> str:
    """Send a history; return the body of the request, its JSON without escapes."""
    await bench.ask("Yes.", request=request(history))
    return json.dumps(bench.sent.body, ensure_ascii=False)


def _expect_in_order(sent: str, texts: list[str]) -> None:
    """Fail unless all texts were sent, each behind the one before it."""
    # A body may name other things first: the messages begin where the first text is.
    at = sent.find(texts[0])
    for before, text in zip(["", *texts], texts, strict=False):
        found = sent.find(text, at)
        if found < 0:
            place = f" after {before!r}" if text in sent else ""
            fail(f"{text!r} was not sent{place}: {sent}")
        at = found


def _expect_signatures(response: ChatResponse, sent: str) -> None:
    for block in response.content:
        signature = getattr(block, "signature", None)
        if block.type == "thinking" and signature and signature not in sent:
            fail(f"the signature of the thoughts was not sent: {sent}")
