"""The demo model holds a conversation: it introduces itself, calls tools by name, and remembers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_agent import Agent
from amplifier_core.message_models import ChatRequest, Message, ToolCallBlock, ToolSpec
from amplifier_providers.demo.decision import decide
from amplifier_providers.demo.turn import Answer, read_turn

WEATHER = ToolSpec(
    name="weather",
    description="Tell the weather of a city. Not of the sea.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "integer"},
            "wind_speed": {"type": "number"},
            "is_long": {"type": "boolean"},
            "units": {"enum": ["metric", "imperial"]},
            "hours": {"type": "array", "items": {"type": "integer"}},
            "options": {"$ref": "#/$defs/Options"},
            "until": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["city"],
        "$defs": {"Options": {"type": "object"}},
    },
)
CLOCK = ToolSpec(name="clock", parameters={"type": "object"})
GLOB = ToolSpec(name="glob", parameters={"type": "object", "properties": {"pattern": {}}})
TOOLS = [WEATHER, CLOCK]


def conversation(*texts: str) -> list[Message]:
    """Messages in turn: the first of the user, the second of the model, and so on."""
    roles = ("user", "assistant")
    return [Message(role=roles[number % 2], content=text) for number, text in enumerate(texts)]


def answer(*texts: str, tools: list[ToolSpec] = TOOLS, **more: Any) -> Answer:
    return decide(read_turn(ChatRequest(messages=conversation(*texts), tools=tools, **more)))


def call_for(prompt: str) -> tuple[str, dict[str, Any]]:
    (call,) = answer(prompt).calls
    return call.name, call.input


@pytest.mark.parametrize(
    ("prompt", "arguments"),
    [
        ("call weather with city Paris", {"city": "Paris"}),
        ("Call weather with city Paris.", {"city": "Paris"}),
        ("please call the tool `weather` with city Paris!", {"city": "Paris"}),
        ("use weather with city Paris", {"city": "Paris"}),
        ("call weather with city Paris and days 3", {"city": "Paris", "days": 3}),
        ("call weather with days=3, city=Paris", {"city": "Paris", "days": 3}),
        ("call weather with city: New York and Boston", {"city": "New York and Boston"}),
        ('call weather with city "3" and days "3"', {"city": "3", "days": 3}),
        ("call weather with city 3", {"city": "3"}),
        ('call weather with city "a, days 2" and days 3', {"city": "a, days 2", "days": 3}),
        ("call weather with city Rome and wind speed 2.5", {"city": "Rome", "wind_speed": 2.5}),
        ("call weather with city Rome and is long yes", {"city": "Rome", "is_long": True}),
        ("call weather with city Rome and units METRIC", {"city": "Rome", "units": "metric"}),
        ("call weather with city Rome and hours 1, 2 and 3", {"city": "Rome", "hours": [1, 2, 3]}),
        ("call weather with city Rome and until none", {"city": "Rome", "until": None}),
        (
            'call weather with city Rome and options {"a": 1}',
            {"city": "Rome", "options": {"a": 1}},
        ),
        ('call weather with {"city": "Rome", "days": 2}', {"city": "Rome", "days": 2}),
        ('call weather with "Rome"', {"city": "Rome"}),
    ],
)
def test_a_tool_is_called_by_name_with_arguments_of_its_types(
    prompt: str, arguments: dict[str, Any]
) -> None:
    assert call_for(prompt) == ("weather", arguments)


@given(
    st.dictionaries(st.sampled_from(["city", "days", "wind_speed", "is_long"]), st.none()),
    st.from_regex(r"[A-Z][a-z]{0,8}( [A-Z][a-z]{1,8}){0,2}", fullmatch=True),
    st.integers(-(10**9), 10**9),
    st.floats(0.5, 1e6).map(lambda number: round(number, 3)),
    st.booleans(),
    st.sampled_from([" ", "=", ": ", " is "]),
    st.sampled_from([" and ", ", ", ", and "]),
)
@example({}, "Is Aa", 0, 1.0, False, " ", " and ")
@example({}, "To Aa", 0, 1.0, False, " is ", " and ")
def test_what_is_written_as_arguments_is_what_the_tool_gets(
    names: dict[str, None],
    city: str,
    days: int,
    speed: float,
    is_long: bool,
    equals: str,
    joiner: str,
) -> None:
    values = {"city": city, "days": days, "wind_speed": speed, "is_long": is_long}
    arguments = {name: values[name] for name in [*names, "city"]}
    written = joiner.join(f"{name}{equals}{value}" for name, value in arguments.items())
    assert call_for(f"call weather with {written}") == ("weather", arguments)


def test_a_tool_that_declares_no_arguments_takes_any() -> None:
    assert call_for("call clock") == ("clock", {})
    assert call_for("call clock with zone UTC and hours 24") == (
        "clock",
        {"zone": "UTC", "hours": 24},
    )


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (
            "call wether with city Paris",
            (
                "There is no tool `wether`; did you mean `weather`? These tools are mounted:"
                " `clock`, `weather`."
            ),
        ),
        ("call xyz", "There is no tool `xyz`. These tools are mounted: `clock`, `weather`."),
        ("call weather", "I cannot call `weather` without `city`."),
        ("call weather with days 2", "I cannot call `weather` without `city`."),
        (
            "call weather with cty Rome",
            "I cannot call `weather`: it has no argument `cty`; did you mean `city`?",
        ),
        (
            "call weather with city Rome and days many",
            "I cannot call `weather`: `days` must be an integer, found `many`.",
        ),
        (
            "call weather with city Rome and units feet",
            ("I cannot call `weather`: `units` must be one of `metric`, `imperial`, found `feet`."),
        ),
        ("call weather with {city}", "I cannot call `weather`: `{city}` is not JSON."),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_with_what_is_missing(
    prompt: str, text: str
) -> None:
    found = answer(prompt)
    assert found.calls == []
    assert found.text.partition("\n")[0] == text
    if "weather`" in text.partition(" These ")[0] and "no tool" not in text:
        assert "- `city` (string): The city.\n- `days` (integer); may be left out\n" in found.text
        assert "Ask like this: `call weather with city …`." in found.text


def test_without_tools_there_is_nothing_to_call() -> None:
    assert answer("call x", tools=[]).text == "There is no tool `x`: no tool is mounted."


@pytest.mark.parametrize(
    ("content", "is_error", "text"),
    [
        ("clear", False, "`weather` answered:\n\n```\nclear\n```"),
        ('{"sky":"clear"}', False, '`weather` answered:\n\n```json\n{\n  "sky": "clear"\n}\n```'),
        ("no such city", True, "`weather` failed:\n\n```\nno such city\n```"),
        ("a ``` b", False, "`weather` answered:\n\n````\na ``` b\n````"),
        ("", True, "`weather` failed without a reason."),
    ],
)
def test_the_result_of_a_call_is_the_answer(content: str, is_error: bool, text: str) -> None:
    prompt = "call weather with city Paris"
    call = ToolCallBlock(id="a", name="weather", input={"city": "Paris"})
    messages = [
        Message(role="user", content=prompt),
        Message(role="assistant", content=[call]),
        Message(role="tool", tool_call_id="a", content=content, metadata={"is_error": is_error}),
    ]
    found = decide(read_turn(ChatRequest(messages=messages, tools=TOOLS)))
    assert (found.calls, found.text) == ([], text)


@pytest.mark.parametrize("prompt", ["Who are you?", "hello", "Are you Claude?", "What are you?"])
def test_it_says_that_it_is_a_program_and_what_it_can_do(prompt: str) -> None:
    text = answer(prompt).text
    assert "I am the demo model: a program, not a language model." in text
    assert "I can do this:" in text


def test_it_lists_what_it_can_do_with_the_tools_that_are_mounted() -> None:
    text = answer("What can you do?").text
    assert "`weather(city, days?, wind_speed?," in text
    assert ": Tell the weather of a city\n" in text
    assert "`clock()`" in text
    assert "tour" not in text
    assert "tour of this folder" in answer("help", tools=[*TOOLS, GLOB]).text
    assert "No tool is mounted" in answer("help", tools=[]).text


@pytest.mark.parametrize(
    "prompt", ["The kettle is red.", "x", "", "run the tests", "callous words"]
)
def test_a_request_that_it_does_not_understand_is_answered_with_what_it_can_do(prompt: str) -> None:
    found = answer(prompt or "<reminder>", tools=[*TOOLS, GLOB])
    assert found.calls == []
    first = "I did not understand that" if prompt else "The request is empty."
    assert found.text.startswith(first)
    assert "I can do this:" in found.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what did I say first?", "First, you said:\n\n> I am Ada."),
        ("What was my first message?", "First, you said:\n\n> I am Ada."),
        ("what did I say last?", "Last, you said:\n\n> I like tea."),
        ("What did I just say?", "Last, you said:\n\n> I like tea."),
        ("What did I say about tea?", "You said about `tea`:\n\n> I like tea."),
        ("What did I say about wine?", "You said nothing about `wine` in this conversation."),
        ("what did you say first?", "First, I said:\n\n> Aha."),
        ("What did I say?", "You said, in this order:\n\n> I am Ada.\n\n> I like tea."),
    ],
)
def test_it_remembers_the_messages_of_the_conversation(question: str, text: str) -> None:
    assert answer("I am Ada.", "Aha.", "I like tea.", "So?", question).text == text


def test_before_the_first_message_nothing_was_said() -> None:
    text = answer("what did I say first?").text
    assert text == "You said nothing before this: it is the first message of our conversation."


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5))
def test_the_same_conversation_has_the_same_answer(texts: list[str]) -> None:
    def known(found: Answer) -> Any:
        return found.thinking, found.text, [(call.name, call.input) for call in found.calls]

    assert known(answer(*texts)) == known(answer(*texts))


def test_a_request_that_forbids_tools_is_not_answered_with_a_call() -> None:
    found = answer("call clock", tool_choice="none")
    assert (found.calls, found.text) == (
        [],
        "I may not call a tool now, so `clock` was not called.",
    )


async def test_any_mounted_tool_is_called_in_a_conversation() -> None:
    def weather(city: str, days: int = 1) -> str:
        """Tell the weather."""
        return f"clear in {city} for {days} days"

    async with Agent("demo", tools=[weather]).session() as session:
        first = await session.run("call weather with city Paris and days 3")
        second = await session.run("what did I say first?")

    assert "clear in Paris for 3 days" in first.text
    assert second.text == "First, you said:\n\n> call weather with city Paris and days 3"
