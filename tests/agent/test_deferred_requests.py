"""What requests say of deferred tools stays, and services get it in their own ways."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_providers.base import BaseProvider
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Block,
    Call,
    ModelServer,
    ResponsesServer,
)

sys.path.insert(0, str(Path(__file__).parent))
from far_tools import Far, directly, make_far, near, results_of, through, tools_bytes


class Answering(BaseProvider):
    """Answers, and keeps what each request said of tools, and how it began."""

    name = "answering"

    def __init__(self) -> None:
        self.tools: set[str] = set()
        self.messages: list[str] = []
        self.has_only_grown = True

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        del options
        self.tools.add(tools_bytes(request))
        before = len(self.messages)
        messages = [each.model_dump_json() for each in request.messages]
        self.has_only_grown = self.has_only_grown and messages[:before] == self.messages
        self.messages = messages
        return ChatResponse(content=[TextBlock(text="Done.")])


# Holds: deferred-3
async def test_what_requests_say_of_tools_stays_whatever_tools_come_and_go() -> None:
    far = make_far()
    model = Answering()
    async with Agent(model, tools=[near, *far]).session() as session:
        coordinator = session.session.coordinator
        for turn in range(100):
            if turn % 3 == 1:
                late = Far(f"late__look{turn}")
                await coordinator.mount("tools", late, name=late.name)
            if turn % 5 == 2:
                await coordinator.unmount("tools", f"far__look{turn % 60}")
            if turn == 50:
                far[3].description = "Looks at another star."
            await session.run("go")

    assert (len(model.tools), model.has_only_grown) == (1, True)
    notes = [each for each in model.messages if "(Note of the program.) There are further" in each]
    assert len(notes) == 33  # none of what went, or of what the model has not read
    assert "late__look97" in notes[-1]


# Holds: deferred-3
async def test_a_tool_that_the_model_knows_is_announced_where_it_is_described_anew() -> None:
    far = make_far()
    changing = Far("changing", "Before.", deferred=False)
    model = ScriptedProvider(
        [directly("search_tools", query="far__look9"), "Done.", "Done.", "Done."]
    )
    async with Agent(model, tools=[changing, *far]).session() as session:
        await session.run("go")
        changing.description = "After."
        far[9].description = "Looks elsewhere."
        await session.run("go")
        await session.run("go")

    assert len({tools_bytes(each) for each in model.requests}) == 1
    notes = [str(each.content) for each in model.requests[-1].messages if "(Note" in str(each)]
    assert len(notes) == 1
    assert "After." in notes[0]
    assert "Looks elsewhere." in notes[0]


# Holds: deferred-7
async def test_a_session_that_goes_on_says_the_same_of_its_tools(tmp_path: Path) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
    first = ScriptedProvider([through("far__look1", at="a"), "Done."])
    agent = Agent(first, tools=[near, *make_far()], store=store)
    async with agent.session(session_id="s") as session:
        await session.run("go")

    # Other tools are there by now, and one of them is what models call others through.
    second = ScriptedProvider([through("far__look61", at="b"), "Done."])
    others = [near, *make_far(62)[1:], Far("call_tool")]
    agent = agent.replace(model=second, tools=others)
    async with agent.session(session_id="s") as session:
        result = await session.run("go on")

    assert tools_bytes(second.requests[0]) == tools_bytes(first.requests[0])
    kept = [each.model_dump() for each in first.requests[-1].messages]
    assert [each.model_dump() for each in second.requests[0].messages][: len(kept)] == kept
    assert results_of(result)[-1] == ("far__look61", "far__look61 was at b")


# Holds: deferred-9
def test_sixty_tools_of_servers_take_a_fifth_of_the_bytes() -> None:
    sizes: list[int] = []
    for most in (None, 20):
        model = ScriptedProvider(["Done."])
        Agent(model, tools=[near, *make_far()], deferred_tools=most).run_sync("go")
        sizes.append(len(tools_bytes(model.requests[0])))
    assert sizes[1] < sizes[0] / 5


# Holds: deferred-11
async def test_claude_reads_of_tools_by_references_and_calls_them_by_their_names(
    tmp_path: Path,
) -> None:
    with AnthropicServer() as server:
        config = {"api_key": "k", "base_url": server.url, "native_tool_search": True}
        server.answers = [
            Answer(Call("search_tools", {"query": "far__look1 late__look"})),
            Answer(Call("far__look1", {"at": "a"})),
            "Done.",
            Answer(Call("search_tools", {"query": "far__look1 late__look"})),
            "Done.",
        ]
        agent = Agent(
            plan={"providers": [{"module": "provider-anthropic", "config": config}]},
            tools=[near, *make_far()],
            store={"module": "store-sqlite", "config": {"folder": str(tmp_path)}},
        )
        async with agent.session(session_id="s") as session:
            await session.run("go")
        agent = agent.replace(tools=[near, *make_far(), Far("late__look")])
        async with agent.session(session_id="s") as session:
            await session.run("go on")
        assert server.refusals == []
        bodies = [each.body for each in server.requests]

    assert len({json.dumps(each["tools"]) for each in bodies}) == 1
    tools = bodies[0]["tools"]
    assert [each["name"] for each in tools[:3]] == ["near", "search_tools", "call_tool"]
    assert [each.get("defer_loading") for each in tools] == [None] * 3 + [True] * 60
    assert [index for index, each in enumerate(tools) if "cache_control" in each] == [2]
    reference = {"type": "tool_reference", "tool_name": "far__look1"}
    [first, last] = [
        block["content"]
        for message in bodies[-1]["messages"]
        for block in message["content"]
        if block["type"] == "tool_result" and isinstance(block["content"], list)
    ]
    assert first == [reference]
    assert (last[0], last[1]["text"].splitlines()[1:]) == (
        reference,
        ['Call them with `call_tool`: {"name": …, "arguments": …}'],
    )
    assert json.loads(last[1]["text"].splitlines()[0])["name"] == "late__look"


# Holds: deferred-11
async def test_openai_searches_for_tools_its_own_way_and_calls_them_by_their_names() -> None:
    search = {"type": "tool_search_call", "id": "tsc_1", "call_id": "call_s", "status": "completed"}
    search |= {"execution": "client", "arguments": {"query": "far__look1"}}
    names: list[str] = []

    @hook("tool:pre")
    def note(_event: str, data: dict[str, Any]) -> None:
        names.append(data["tool_name"])

    with ResponsesServer(deployments={"gpt-5.5": "gpt-5.5"}) as server:
        server.answers = [Answer(Block(search)), Answer(Call("far__look1", {"at": "a"})), "Done."]
        config = {"api_key": "k", "base_url": server.url, "native_tool_search": True}
        agent = Agent(
            plan={"providers": [{"module": "provider-openai", "config": config}]},
            tools=[near, *make_far()],
            hooks=[note],
        )
        result = await agent.run("go")
        assert server.refusals == []
        bodies = [each.body for each in server.requests]

    assert (result.text, names) == ("Done.", ["search_tools", "far__look1"])
    assert len({json.dumps(each["tools"]) for each in bodies}) == 1
    assert [each.get("name", each["type"]) for each in bodies[0]["tools"]] == [
        "near", "tool_search", "call_tool",
    ]  # fmt: skip
    sent, found = bodies[1]["input"][1:]
    assert sent == {key: value for key, value in search.items() if key != "id"}
    assert found == {
        "type": "tool_search_output",
        "call_id": "call_s",
        "execution": "client",
        "status": "completed",
        "tools": [
            {
                "type": "function",
                "name": "far__look1",
                "description": "Looks at star 1.",
                "parameters": Far("far").input_schema,
                "strict": False,
                "defer_loading": True,
            }
        ],
    }
    assert bodies[2]["input"][: len(bodies[1]["input"])] == bodies[1]["input"]


SERVERS: list[tuple[str, Callable[[], ModelServer]]] = [
    ("provider-anthropic", AnthropicServer),
    ("provider-openai", lambda: ResponsesServer(deployments={"gpt-5.5": "gpt-5.5"})),
]


# Holds: deferred-5, deferred-6
@pytest.mark.parametrize(("module", "serve"), SERVERS)
async def test_services_get_calls_as_they_were_made_and_hooks_as_they_were_meant(
    module: str, serve: Callable[[], ModelServer]
) -> None:
    events: list[tuple[str, Any]] = []

    @hook("content_block:start", "content_block:delta", "content_block:end")
    def note(event: str, data: dict[str, Any]) -> None:
        if data["block_type"] == "tool_call":
            block = data.get("block") or {}
            said = {key: block[key] for key in ("name", "input") if key in block}
            named = (data.get("metadata") or {}).get("name")
            events.append((event, named or data.get("partial_json") or said))

    with serve() as server:
        made = {"name": "far__look1", "arguments": {"at": "a"}}
        server.answers = [Answer(Call("call_tool", made)), "Done."]
        config = {"api_key": "k", "base_url": server.url}
        agent = Agent(
            plan={"providers": [{"module": module, "config": config}]},
            tools=[near, *make_far()],
            hooks=[note],
        )
        result = await agent.run("go")
        assert server.refusals == []
        bodies = [json.dumps(each.body) for each in server.requests]

    assert results_of(result) == [("far__look1", "far__look1 was at a")]
    assert events[0] == ("content_block:start", "far__look1")
    assert json.loads("".join(text for event, text in events if event.endswith("delta"))) == {
        "at": "a"
    }
    assert events[-1] == ("content_block:end", {"name": "far__look1", "input": {"at": "a"}})
    assert "called_as" not in bodies[1]
    assert len(events) >= 3
