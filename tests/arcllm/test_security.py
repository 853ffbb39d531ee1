"""No personal data and no secret goes out or comes in, wherever it is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fake_step import FakeStep, ask, response, take
from hypothesis import given
from hypothesis import strategies as st

from arcllm import (
    ArcLLMConfigError,
    ArcLLMParseError,
    ContentBlock,
    ImageBlock,
    LLMResponse,
    Message,
    TextBlock,
    Tool,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
)
from arcllm.deltas import Delta, RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta
from arcllm.layers.security import ArcLLMSecurityError, SecurityLayer, SecuritySettings
from arcllm.layers.security.arguments import ArgumentStream
from arcllm.layers.security.cleaning import Cleaning
from arcllm.layers.security.detector import detector_of
from arcllm.layers.tool_calls import ToolCallLayer
from arcllm.step import Call, Piece

MAIL, MARK = "ada@example.com", "[PII:EMAIL]"
KEY = "sk-ant-api03-" + "a1B2c3D4" * 10
CARD = 4111_1111_1111_1111


@dataclass
class Streaming(FakeStep):
    """Yields these deltas, then the first answer."""

    deltas: list[Delta] = field(default_factory=list[Delta])

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        self.calls.append(call)
        for delta in self.deltas:
            await anyio.lowlevel.checkpoint()
            yield delta
        answer = self.answers[0]
        assert isinstance(answer, LLMResponse)
        yield answer


def layer(beneath: FakeStep, **settings: Any) -> SecurityLayer:
    return SecurityLayer(beneath, SecuritySettings.model_validate(settings))


async def sent(messages: list[Message], **settings: Any) -> list[Message]:
    beneath = FakeStep()
    await layer(beneath, **settings).complete(Call(messages))
    return beneath.calls[0].messages


async def deltas(shown: list[Delta], **settings: Any) -> list[Delta]:
    pieces: list[Piece] = []
    await take(layer(Streaming(deltas=shown), **settings).stream(ask()), pieces)
    return [piece for piece in pieces if not isinstance(piece, LLMResponse)]


def nested(text: str) -> list[ContentBlock]:
    return [
        TextBlock(text=f"I am {text}"),
        ImageBlock(source=f"https://example.com/?{text}", media_type="image/png"),
        ToolUseBlock(id="1", name="find", arguments={"of": [{"mail": text}, 1, None], text: True}),
        ToolResultBlock(
            tool_use_id="1",
            content=[ToolResultBlock(tool_use_id="2", content=[TextBlock(text=text)])],
        ),
        ToolResultBlock(tool_use_id="3", content=f"found {text}"),
    ]


# Holds: layer-18
async def test_personal_data_leaves_from_no_place_of_a_message() -> None:
    messages = [
        Message(role="system", content=f"The user is {MAIL}"),
        Message(role="user", content=nested(MAIL)),
    ]
    before = [message.model_copy(deep=True) for message in messages]

    found = await sent(messages)

    blocks = nested(MARK)
    blocks[1] = nested(MAIL)[1]
    assert found == [
        Message(role="system", content=f"The user is {MARK}"),
        Message(role="user", content=blocks),
    ]
    assert messages == before


# Holds: layer-18
async def test_secrets_leave_from_no_place_of_a_message() -> None:
    messages = [Message(role="user", content=nested(KEY))]

    found = await sent(messages, known_secrets=["tangerine-42"])
    known = await sent(
        [Message(role="user", content="tangerine-42")], known_secrets=["tangerine-42"]
    )

    left = [block for block in found[0].content if not isinstance(block, ImageBlock)]
    assert KEY not in str(left)
    assert "REDACTED" in str(left)
    assert known[0].content == "[REDACTED:secret]"


async def test_what_holds_nothing_is_sent_as_it_is() -> None:
    messages = [Message(role="user", content=nested("nobody")), Message(role="user", content=[])]

    assert await sent(messages) == messages
    assert (await layer(FakeStep()).complete(ask())).metadata == {}


# Holds: layer-18
async def test_an_answer_comes_without_them() -> None:
    call = ToolCall(id="1", name="send", arguments={"to": MAIL, "card": CARD, "n": 5, "x": 1.5})
    answer = response(
        f"Write to {MAIL} with {KEY}",
        thinking=f"It is {MAIL}",
        tool_calls=[call, ToolCall(id="2", name="stop", arguments={})],
        metadata={"refusal": f"not {MAIL}", "request_id": "r1"},
        raw={"text": MAIL},
    )

    found = await layer(FakeStep([answer])).complete(ask(MAIL))

    assert found.content is not None
    assert found.content.startswith(f"Write to {MARK} with [REDACTED:")
    assert found.thinking == f"It is {MARK}"
    assert found.tool_calls == [
        ToolCall(
            id="1",
            name="send",
            arguments={"to": MARK, "card": "[PII:CREDIT_CARD]", "n": 5, "x": 1.5},
        ),
        ToolCall(id="2", name="stop", arguments={}),
    ]
    assert found.raw is None
    assert found.metadata == {
        "refusal": f"not {MARK}",
        "request_id": "r1",
        "security": {"request": ["EMAIL"], "response": ["SECRET", "EMAIL", "CREDIT_CARD"]},
    }


async def test_two_people_with_one_mark_stay_two() -> None:
    call = ToolCall(id="1", name="send", arguments={MAIL: 1, "b@example.com": 2})

    found = await layer(FakeStep([response(tool_calls=[call])])).complete(ask())

    assert found.tool_calls[0].arguments == {MARK: 1, f"{MARK} 2": 2}


async def test_a_direction_and_a_type_can_be_left_alone() -> None:
    text = f"{MAIL} 123-45-6789 {KEY}"
    beneath = FakeStep([response(text)])

    answer = await layer(
        beneath, pii=["request"], pii_types=["SSN"], secrets=["response"]
    ).complete(ask(text))

    assert beneath.calls[0].messages[0].content == f"{MAIL} [PII:SSN] {KEY}"
    assert answer.content is not None
    assert answer.content.startswith(f"{MAIL} 123-45-6789 [REDACTED:")


async def test_opaque_data_is_sent_as_it_is_or_not_at_all() -> None:
    signed = {"type": "hidden", "block": {"thinking": "A thought.", "signature": "Eq" * 200}}
    personal = {"type": "hidden", "block": {"thinking": f"It is {MAIL}", "signature": "Eq" * 200}}
    noted = {"type": "visible", "kind": "text", "mark": "0f", "more": {"cited": [MAIL]}}
    secret = {"type": "hidden", "block": {"text": f"the key is {KEY}"}}
    messages = [
        Message(role="assistant", content="Hi", opaque=opaque)
        for opaque in ([signed], [signed, personal, noted], [personal], [secret], None)
    ]

    found = await sent(messages)

    visible = {"type": "visible", "kind": "text", "mark": "0f"}
    assert [message.opaque for message in found] == [[signed], [signed, visible], None, None, None]
    assert found[0] is not None
    assert [message.content for message in found] == ["Hi"] * 5


@pytest.mark.parametrize("text", [MAIL, KEY])
async def test_what_is_found_can_be_blocked(text: str) -> None:
    beneath = FakeStep([response(text)])
    kind = "EMAIL" if text == MAIL else "SECRET"

    with pytest.raises(ArcLLMSecurityError) as request:
        await layer(beneath, action="block").complete(ask(text))
    assert beneath.calls == []
    with pytest.raises(ArcLLMSecurityError) as answer:
        await layer(beneath, action="block").complete(ask())

    assert (request.value.direction, request.value.types) == ("request", (kind,))
    assert str(answer.value) == f"the response holds `{kind}` and was blocked"


@pytest.mark.parametrize("text", [f"a {MAIL} b", f"a {KEY} b"])
async def test_a_stream_is_blocked_before_it_shows_what_was_found(text: str) -> None:
    beneath = Streaming(deltas=[TextDelta(each) for each in text])
    pieces: list[Piece] = []

    with pytest.raises(ArcLLMSecurityError):
        await take(layer(beneath, action="block").stream(ask()), pieces)

    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "a "


async def test_what_is_nested_too_deeply_to_be_searched_is_blocked() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    block = ToolUseBlock.model_construct(type="tool_use", id="1", name="x", arguments=deep)
    call = ToolCall.model_construct(id="1", name="x", arguments=deep)
    answer = response()
    answer.tool_calls = [call]
    beneath = FakeStep([lambda _: answer])

    with pytest.raises(ArcLLMSecurityError, match="the request holds `data nested too deeply`"):
        await layer(beneath, secrets=[]).complete(
            Call([Message.model_construct(role="assistant", content=[block])])
        )
    with pytest.raises(ArcLLMSecurityError, match="the response holds `data nested too deeply`"):
        await layer(beneath, secrets=[]).complete(ask())


async def test_own_patterns_are_types() -> None:
    found = await sent(
        [Message(role="user", content=f"STAFF-123 {MAIL}")],
        pii_patterns={"STAFF": r"STAFF-\d+"},
        pii_types=[],
    )

    assert found[0].content == f"[PII:STAFF] {MAIL}"


def test_a_pattern_that_cannot_be_used_is_an_error() -> None:
    with pytest.raises(ArcLLMConfigError, match="pattern `STAFF` cannot be used: unclosed group"):
        layer(FakeStep(), pii_patterns={"STAFF": "("})
    with pytest.raises(ArcLLMConfigError, match="`known_secrets`: secret 0 has 1 bytes"):
        layer(FakeStep(), known_secrets=["x"])


class Names:
    """Finds each `Ada`, and what overlaps it."""

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        start = text.find("Ada")
        while start >= 0:
            yield start, start + 3, "NAME"
            yield start + 1, start + 3, "PART"
            start = text.find("Ada", start + 1)
        yield 5, 5, "EMPTY"
        yield 0, len(text) + 1, "BEYOND"


class Nothing:
    """Finds nothing, as it has no method for that."""


async def test_a_class_of_ones_own_finds_personal_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "our_names", Names)
    name = "our_names:made"
    monkeypatch.setattr(Names, "made", Names, raising=False)

    found = await sent([Message(role="user", content=f"Ada, Ada {MAIL}")], pii_detector=name)
    shown = await deltas([TextDelta("Ad"), TextDelta("a" + " " * 600 + "Ada")], pii_detector=name)

    assert found[0].content == f"[PII:NAME], [PII:NAME] {MAIL}"
    text = "".join(delta.text for delta in shown if isinstance(delta, TextDelta))
    assert text == "[PII:NAME]" + " " * 600 + "[PII:NAME]"
    monkeypatch.setattr(Names, "made", Nothing)
    for wrong in (name, "our_names:none", "no_such_module:X"):
        with pytest.raises(ArcLLMConfigError, match="`pii_detector`"):
            layer(FakeStep(), pii_detector=wrong)


async def test_arguments_that_cannot_be_read_come_without_them() -> None:
    error = ArcLLMParseError(f'{{"to": "{MAIL}', ValueError(f"unclosed {MAIL}"))
    for run in (
        lambda security: security.complete(ask()),
        lambda security: take(security.stream(ask()), []),
    ):
        with pytest.raises(ArcLLMParseError) as caught:
            await run(layer(FakeStep([error])))

        assert caught.value.raw_string == f'{{"to": "{MARK}'
        assert MAIL not in str(caught.value)


async def test_a_stream_holds_back_only_what_could_become_personal_data() -> None:
    parts = ["Hello ", "you, wri", "te ", "to ada@exam", "ple.com", " now"]

    shown = await deltas([TextDelta(part) for part in parts], secrets=[])

    assert shown == [
        TextDelta("Hello "),
        TextDelta("you, "),
        TextDelta("write "),
        TextDelta("to "),
        TextDelta(f"{MARK} "),
        TextDelta("now"),
    ]


async def test_each_text_of_a_stream_is_shown_to_its_end_before_the_next() -> None:
    shown = await deltas(
        [
            ThinkingDelta(f"from {MAIL}", 0),
            TextDelta(f"to {MAIL}", 1),
            ToolCallDelta(0, "1", "send", ""),
            ToolCallDelta(0, "1", "send", '{"to": "ada@'),
            ToolCallDelta(0, "1", "send", 'example.com"}'),
        ],
        secrets=[],
    )

    assert shown == [
        ThinkingDelta("from ", 0),
        ThinkingDelta(MARK, 0),
        TextDelta("to ", 1),
        TextDelta(MARK, 1),
        ToolCallDelta(0, "1", "send", ""),
        ToolCallDelta(0, "1", "send", '{"to": "'),
        ToolCallDelta(0, "1", "send", f'{MARK}"}}'),
    ]


async def test_the_id_and_the_name_of_a_call_come_without_them() -> None:
    made = ToolCall(id=MAIL, name=MAIL, arguments={})
    beneath = FakeStep([response(tool_calls=[made])])

    found = await layer(beneath, secrets=[]).complete(ask())
    shown = await deltas([ToolCallDelta(0, made.id, made.name, "{}")], secrets=[])

    assert found.tool_calls == [ToolCall(id=MARK, name=MARK, arguments={})]
    assert shown == [ToolCallDelta(0, MARK, MARK, "{}")]


# Holds: layer-19
async def test_a_text_that_goes_on_after_the_next_began_is_searched_as_a_whole() -> None:
    shown = await deltas(
        [
            TextDelta("to ada@exam", 0),
            TextDelta("aside", 1),
            TextDelta("ple.com, ", 0),
            TextDelta("please", 0),
        ],
        secrets=[],
    )

    assert shown == [
        TextDelta("to ", 0),
        TextDelta("ada@exam", 0),
        TextDelta("aside", 1),
        TextDelta(f"{MARK}, please", 0),
    ]


async def test_a_number_that_was_a_secret_stays_json_in_streamed_arguments() -> None:
    shown = await deltas([ToolCallDelta(0, "1", "log_in", '{"token": 12345678901234, "n": 1}')])

    arguments = "".join(delta.arguments for delta in shown if isinstance(delta, ToolCallDelta))
    assert json.loads(arguments) == {"token": "[REDACTED:token]", "n": 1}


async def test_why_a_call_must_not_run_is_said_without_them() -> None:
    tool = Tool(name="send", description="", parameters={"properties": {"to": {"enum": ["me"]}}})
    made = ToolCall(id="call_1", name="send", arguments={"to": MAIL})
    beneath = ToolCallLayer(FakeStep([response(None, tool_calls=[made])]))

    answer = await SecurityLayer(beneath, SecuritySettings()).complete(ask(tools=[tool]))

    problems = answer.metadata["invalid_tool_calls"]
    assert list(problems) == ["call_1"]
    assert MARK in problems["call_1"]
    assert MAIL not in problems["call_1"]


async def test_what_was_held_of_a_retracted_block_is_gone() -> None:
    shown = await deltas([TextDelta("to ada@", 0), RetractedDelta(0), TextDelta("x", 1)])

    assert shown == [TextDelta("to ", 0), RetractedDelta(0), TextDelta("x", 1)]


SHOWN = st.sampled_from([MAIL, KEY, "123-45-6789", "and", "4111 1111 1111 1111", "é日", "."])


# Nothing is drawn within the test: a draw that ends it would leave its event loop open.
# Holds: layer-19
@given(st.lists(SHOWN, max_size=6).map(" ".join), st.lists(st.integers(0, 1000), max_size=6))
async def test_a_stream_shows_what_its_response_says(text: str, places: list[int]) -> None:
    cuts = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    parts = [text[start:end] for start, end in pairwise(cuts)]
    pieces: list[Piece] = []

    beneath = Streaming([response(text)], deltas=[TextDelta(part) for part in parts])
    await take(layer(beneath).stream(ask()), pieces)

    shown = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert isinstance(pieces[-1], LLMResponse)
    assert shown == pieces[-1].content
    assert MAIL not in shown


WORDS = st.sampled_from([MAIL, "123-45-6789", "4111111111111111", 'a"b\\c', "é😀\u2028", "\n", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.lists(WORDS, max_size=3).map("".join)
    | st.sampled_from([CARD, -CARD, 1, -2.5e-3, 10**20, 0]),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(WORDS, values, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(VALUES, st.booleans(), st.lists(st.integers(0, 300), max_size=8))
def test_streamed_arguments_stay_json_and_say_what_the_whole_would(
    value: Any, is_ascii: bool, places: list[int]
) -> None:
    detector = detector_of(SecuritySettings())
    written = json.dumps(value, ensure_ascii=is_ascii)
    cuts = sorted({0, len(written), *(place % (len(written) + 1) for place in places)})
    stream = ArgumentStream(detector)

    shown = "".join(stream.feed(written[start:end]) for start, end in pairwise(cuts))
    shown += stream.flush()

    expected = Cleaning("response", detector, None, "redact").clean_data(value)
    pairs = json.loads(shown, object_pairs_hook=list)
    assert pairs == json.loads(json.dumps(expected), object_pairs_hook=_without_counts)


def _without_counts(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(name.removesuffix(" 2").removesuffix(" 3"), value) for name, value in pairs]


def test_broken_arguments_are_shown_as_they_came() -> None:
    for broken in (
        '{"a": "b',
        '{"a\\',
        '{"a": "\\q\\ud83d',
        "12",
        '{"a": "\\ud83d\\u00',
        "nonsense -",
    ):
        stream = ArgumentStream(detector_of(SecuritySettings()))
        assert stream.feed(broken) + stream.flush() == broken


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_cancelled_call_leaves_nothing_open(is_stream: bool) -> None:
    beneath = FakeStep(pause=anyio.sleep_forever)
    security = layer(beneath)

    async def run() -> None:
        await (take(security.stream(ask()), []) if is_stream else security.complete(ask()))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert beneath.open == 0
