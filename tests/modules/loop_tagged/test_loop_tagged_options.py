"""What a loop with calls in tags lets an application choose: prompts, events, measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tagged_answers import LOOK, Pieces, heard

from amplifier_agent import Agent, Event, tool
from amplifier_core.events import ALL_EVENTS
from amplifier_core.message_models import ToolSpec
from amplifier_modules.loops.answers import agent_events
from amplifier_modules.loops.answers.tagged_request import tools_prompt, written_call
from amplifier_modules.loops.basic import BasicLoop
from amplifier_modules.loops.tagged import TaggedLoop
from amplifier_providers.settings import SettingError
from amplifier_stream import AgentEvent, CustomEvent, MessageContentEvent, StreamMetrics

SEARCH = ToolSpec(
    name="search",
    description="Search the files.",
    parameters={
        "type": "object",
        "required": ["text", "where"],
        "properties": {
            "text": {"type": "string", "description": "What to look for."},
            "where": {"type": "array", "items": {"type": "string"}},
            "mode": {"type": "string", "enum": ["word", "line"], "default": "word"},
            "limits": {"type": "object", "properties": {"most": {"type": ["integer", "null"]}}},
            "since": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
    },
)
NOW = ToolSpec(name="now", description=None, parameters={"type": "object", "properties": {}})
LISTED = """\
- search: Search the files.
  arguments:
    - text (string, required): What to look for.
    - where (list of string, required)
    - mode (string, optional) (one of "word", "line") (default "word")
    - limits (object, optional)
      - most (integer or null, optional)
    - since (any, optional) (schema {"anyOf": [{"type": "string"}, {"type": "integer"}]})
  example: EXAMPLE
- now: no description
  arguments: none
  example: NONE"""


@pytest.mark.parametrize(
    ("tool_format", "example", "none"),
    [
        (
            "json",
            '<act>{"tool_name": "search", "arguments": {"text": "text", "where": ["text"]}}</act>',
            '<act>{"tool_name": "now", "arguments": {}}</act>',
        ),
        (
            "xml",
            "<act><tool_name>search</tool_name><arguments>"
            + '{"text": "text", "where": ["text"]}</arguments></act>',
            "<act><tool_name>now</tool_name><arguments></arguments></act>",
        ),
    ],
)
def test_tools_are_described_from_their_schemas(tool_format: Any, example: str, none: str) -> None:
    said = tools_prompt([SEARCH, NOW], "act", tool_format, "Tools for <{tag}>:\n{tools}\nGo.")
    listed = LISTED.replace("EXAMPLE", example).replace("NONE", none)
    assert said == f"Tools for <act>:\n{listed}\nGo."


@pytest.mark.parametrize(
    "arguments",
    [{}, {"a": "x < y & \"z\""}, {"n": 1, "b": True}, {"list": [1], "a b": None}, {"o": {"a": "</tool>"}}],
)  # fmt: skip
@pytest.mark.parametrize("tool_format", ["json", "xml"])
def test_a_written_call_is_read_as_what_it_was(tool_format: Any, arguments: dict[str, Any]) -> None:
    from amplifier_stream import ToolCallParser, coerce_arguments

    parser = ToolCallParser(["tool"])
    events = [*parser.feed(written_call("f", arguments, "tool", tool_format)), *parser.flush()]
    [call] = [event.call for event in events if event.call is not None]
    schema = {"properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}}}
    assert call.arguments is not None
    assert (call.name, coerce_arguments(call.arguments, schema)) == ("f", arguments)


async def test_the_prompt_of_the_config_is_what_the_model_is_told(bench: Any) -> None:
    turn = bench("tagged", config={"tool_prompt": "Yours: {tools} in {tag}", "tool_tags": "do"})
    turn.provider = Pieces(["done"])
    turn.tool("look", lambda given: "seen")
    await turn.run()
    told = turn.provider.requests[0].messages[0]
    assert told.role == "system"
    assert told.content.startswith("Yours: - look: A tool of the tests.")
    assert told.content.endswith(" in do")


async def test_without_tools_a_model_is_told_of_none(bench: Any) -> None:
    turn = bench("tagged")
    turn.provider = Pieces(["done"])
    await turn.run()
    assert [message.role for message in turn.provider.requests[0].messages] == ["user"]


@pytest.mark.parametrize("loop", [BasicLoop, TaggedLoop])
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tool_prompt": "no place"}, "`tool_prompt` is 'no place' .must be a text that has `{tools}` once"),
        ({"tool_prompt": "{tools}{tools}"}, "once, where the list of the tools belongs"),
        ({"tool_format": "yaml"}, "`tool_format` is 'yaml' .must be"),
        ({"tool_tags": "a b"}, "`tool_tags` is 'a b' .*tag name `a b`"),
        ({"execute_while_streaming": "yes"}, "`execute_while_streaming` is 'yes'"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused(
    loop: Any, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        loop(config)


def test_the_tagged_loop_has_a_tag_by_default_and_the_others_have_none() -> None:
    assert (TaggedLoop().settings.tool_tags, BasicLoop().settings.tool_tags) == (("tool",), ())


@dataclass(frozen=True)
class Progress(AgentEvent):
    """How far a provider is."""

    percent: int


@dataclass(frozen=True)
class Note(AgentEvent):
    text: str


async def test_events_of_an_application_have_its_names_or_are_custom(bench: Any) -> None:
    turn = bench("tagged")
    named = {Progress: "my:progress", "cost": "my:cost"}
    turn.coordinator.register_capability("agent.events", named)
    for event in named.values():
        turn.coordinator.hooks.register(event, turn._record, name="recorder")
    own = [Progress(50), CustomEvent("cost", 1), CustomEvent("other", {"a": 1}), Note("n")]
    turn.provider = Pieces([own[0], "a", *own[1:]])

    assert await turn.run() == "a"
    assert heard(turn, "my:") == [("progress", 50), ("cost", "cost", 1)]
    assert [each for each in heard(turn) if each[0] == "custom"] == [
        ("custom", "other", {"a": 1}),
        ("custom", "Note", {"text": "n"}),
    ]
    [listed] = await turn.coordinator.collect_contributions("observability.events")
    assert set(listed) >= {*agent_events.EVENTS, *named.values()}


async def test_a_transform_replaces_events_but_not_the_answer(bench: Any) -> None:
    def louder(event: AgentEvent) -> Iterator[AgentEvent]:
        if isinstance(event, MessageContentEvent):
            yield MessageContentEvent(event.content.upper())
            yield CustomEvent("said", len(event.content))
        else:
            yield event

    turn = bench("tagged")
    turn.coordinator.register_capability("agent.transform", louder)
    turn.provider = Pieces([f"a {LOOK}"], ["b"])
    look = turn.tool("look", lambda given: "seen")

    assert await turn.run() == "b"
    assert look.inputs == [{"x": 1}]
    assert [each[1] for each in heard(turn) if each[0] == "message_content"] == ["A ", "B"]
    assert [each[1:] for each in heard(turn) if each[0] == "custom"] == [("said", 2), ("said", 1)]
    assert [data["delta"] for data in turn.data("content_block:delta") if "delta" in data] == ["A ", "B"]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("agent.transform", lambda event: [1], "`agent.transform` returned a `int` among its events"),
        ("agent.events", ["x"], "`agent.events` is a `list`"),
        ("agent.events", {Progress: 1}, "`agent.events` names .*Progress.* as 1"),
    ],
)  # fmt: skip
async def test_capabilities_that_cannot_be_used_are_named(
    bench: Any, name: str, value: Any, message: str
) -> None:
    turn = bench("tagged")
    turn.provider = Pieces(["a"])
    await turn.loop()
    turn.coordinator.register_capability(name, value)
    with pytest.raises(TypeError, match=message):
        await turn.run()


async def test_answers_are_measured_by_the_metrics_of_the_session(bench: Any) -> None:
    turn = bench("tagged")
    turn.provider = Pieces(["a ", LOOK], ["b"])
    turn.tool("look", lambda given: "seen")
    await turn.run()

    figures = turn.coordinator.get_capability("stream.metrics").snapshot()
    assert (figures["streams"], figures["chunks"], figures["tools_succeeded"]) == (2, 5, 1)
    assert figures["events"] == len(heard(turn))


async def test_an_application_keeps_its_own_metrics(bench: Any) -> None:
    mine = StreamMetrics()
    turn = bench("tagged")
    mine.attach(turn.coordinator)
    turn.provider = Pieces(["a"])
    await turn.run()
    assert turn.coordinator.get_capability("stream.metrics") is mine
    assert mine.snapshot()["streams"] == 1


async def test_hooks_observe_shows_the_figures_of_the_answers() -> None:
    agent = Agent(Pieces([LOOK], ["b"]), tools=[look], loop="loop-tagged", hooks=["hooks-observe"])
    async with agent.session() as session:
        await session.run("go")
        observer = session.session.coordinator.get_capability("observe.session")
        stream = observer.snapshot()["stream"]
    assert (stream["streams"], stream["tool_success_rate"]) == (2, 1.0)
    assert stream["event_latency_seconds"]["count"] == stream["events"]


async def test_hooks_observe_has_no_such_figures_of_other_answers() -> None:
    agent = Agent(Pieces(["b"]), hooks=["hooks-observe"])
    async with agent.session() as session:
        await session.run("go")
        observer = session.session.coordinator.get_capability("observe.session")
        assert "stream" not in observer.snapshot()


@tool
def look(x: int) -> str:
    """Look."""
    return f"seen {x}"


async def test_an_agent_streams_the_events_as_plain_ones() -> None:
    agent = Agent(Pieces([f"a {LOOK}"], ["b"]), tools=[look], loop="loop-tagged")
    names = [event.raw[0] async for event in agent.stream("go") if type(event) is Event]
    assert names == [
        "agent:message_start", "agent:message_content", "agent:tool_call_start",
        "agent:tool_call_content", "agent:tool_call_content", "agent:tool_call_content",
        "agent:tool_call_end", "agent:message_end",
        "agent:message_start", "agent:message_content", "agent:message_end",
    ]  # fmt: skip


def test_the_events_of_the_kernel_stay_as_they_are() -> None:
    assert [name for name in ALL_EVENTS if name.startswith("agent:")] == []
