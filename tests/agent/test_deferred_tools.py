"""Tools beyond twenty: named in each request, described when the model asks, called as themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, ToolFinished, ToolStarted, hook, tool
from amplifier_core import HookResult
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.models import ToolResult
from amplifier_providers.base import BaseProvider
from amplifier_stream import ChunkCall, StreamChunk
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Block,
    Call,
    ModelServer,
    ResponsesServer,
)


class Far:
    """A tool as a server has it."""

    deferred = True

    def __init__(self, name: str, description: str = "Says where it was.", **more: Any) -> None:
        self.name = name
        self.description = description
        self.input_schema = {
            "type": "object",
            "properties": {"at": {"type": "string", "description": "The place. " * 20}},
            "required": ["at"],
        }
        self.calls: list[dict[str, Any]] = []
        for key, value in more.items():
            setattr(self, key, value)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        return ToolResult(success=True, output=f"{self.name} was at {input['at']}")


@tool
def near(at: str) -> str:
    """Look near."""
    return f"near {at}"


def make_far(count: int = 60) -> list[Far]:
    return [Far(f"far__look{number}", f"Looks at star {number}.") for number in range(count)]


def through(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": "call_tool", "arguments": {"name": name, "arguments": arguments}}


def directly(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def results_of(result: Any) -> list[tuple[str, Any]]:
    return [(each["name"], each["content"]) for each in result.messages if each["role"] == "tool"]


def calls_sent(request: Any) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a request, and the names of its results."""
    return [
        (block.name, block.input)
        for message in request.messages
        if message.role == "assistant" and not isinstance(message.content, str)
        for block in message.content
        if block.type == "tool_call"
    ]


def tools_bytes(request: Any) -> str:
    return json.dumps([each.model_dump() for each in request.tools])


# Holds: deferred-1, deferred-2, deferred-4
async def test_a_model_finds_a_tool_and_calls_it() -> None:
    far = make_far()
    model = ScriptedProvider(
        [
            directly("search_tools", query="star 44"),
            through("far__look44", at="noon"),
            "Done.",
        ]
    )
    result = await Agent(model, tools=[near, *far]).run("go")

    assert [each.name for each in model.requests[0].tools or ()] == [
        "near", "search_tools", "call_tool",
    ]  # fmt: skip
    listed = model.requests[0].tools[1].description
    assert "- far__look44: Looks at star 44." in listed
    found = results_of(result)[0][1].splitlines()[0]
    assert json.loads(found) == {
        "name": "far__look44",
        "description": "Looks at star 44.",
        "parameters": far[44].input_schema,
    }
    assert results_of(result)[1] == ("far__look44", "far__look44 was at noon")
    assert far[44].calls == [{"at": "noon"}]


# Holds: deferred-1
@pytest.mark.parametrize(
    ("given", "options", "listed"),
    [
        ([near, *make_far(19)], {}, 20),
        ([near, *make_far(20)], {}, 3),
        ([near, *make_far(20)], {"deferred_tools": None}, 21),
        ([near, *make_far(3)], {"deferred_tools": 3}, 3),
        ([near, *make_far(3)], {"deferred_tools": 3, "listed_tools": ["far__look1"]}, 4),
        ([Far(f"own{number}", deferred=False) for number in range(60)], {}, 22),
    ],
)
async def test_only_what_is_too_much_is_deferred(
    given: list[Any], options: dict[str, Any], listed: int
) -> None:
    model = ScriptedProvider(["Done."])
    loop = {"module": "loop-streaming", "config": options}
    await Agent(model, tools=given, loop=loop).run("go")
    assert len(model.requests[0].tools or ()) == listed


async def test_an_agent_says_how_many_tools_are_described() -> None:
    counts: list[int] = []
    for most in (None, 0, 60):
        model = ScriptedProvider(["Done."])
        await Agent(model, tools=[near, *make_far(59)], deferred_tools=most).run("go")
        counts.append(len(model.requests[0].tools or ()))
    assert counts == [60, 2, 60]
    for wrong, error in ((True, TypeError), ("20", TypeError), (-1, ValueError)):
        with pytest.raises(error, match="`deferred_tools` is"):
            Agent("demo", deferred_tools=wrong)  # type: ignore[arg-type]


# Holds: deferred-4
async def test_hooks_events_and_the_history_have_the_tool_that_was_meant() -> None:
    seen: list[tuple[str, str]] = []

    @hook("tool:pre", "tool:start", "tool:post", "content_block:start", "content_block:end")
    def note(event: str, data: dict[str, Any]) -> None:
        named = data.get("tool_name") or (data.get("metadata") or data.get("block") or {}).get(
            "name"
        )
        if named:
            seen.append((event, named))

    model = ScriptedProvider(
        [[through("far__look1", at="a"), directly("far__look2", at="b"), through("near", at="c")],
         "Done."]
    )  # fmt: skip
    stream = Agent(model, tools=[near, *make_far()], hooks=[note]).stream("go")
    told = [each async for each in stream]

    assert {name for _, name in seen} == {"far__look1", "far__look2", "near"}
    assert {event for event, _ in seen} == {
        "tool:pre", "tool:start", "tool:post", "content_block:start", "content_block:end",
    }  # fmt: skip
    started = [(each.name, each.arguments) for each in told if isinstance(each, ToolStarted)]
    assert sorted(started, key=str) == [
        ("far__look1", {"at": "a"}), ("far__look2", {"at": "b"}), ("near", {"at": "c"}),
    ]  # fmt: skip
    assert len([each for each in told if isinstance(each, ToolFinished)]) == 3
    result = told[-1]
    assert "call_tool" not in json.dumps([
        {**each, "content": [
            {key: value for key, value in block.items() if key != "called_as"}
            if isinstance(block, dict) else block for block in each["content"]
        ]} for each in result.messages
    ])  # fmt: skip


# Holds: deferred-6
async def test_requests_have_each_call_as_the_model_made_it() -> None:
    model = ScriptedProvider(
        [
            [through("far__look1", at="a"), directly("far__look2", at="b")],
            through("far__look3", at="c"),
            "Done.",
        ]
    )
    await Agent(model, tools=[near, *make_far()]).run("go")

    made = [
        ("call_tool", {"name": "far__look1", "arguments": {"at": "a"}}),
        ("far__look2", {"at": "b"}),
        ("call_tool", {"name": "far__look3", "arguments": {"at": "c"}}),
    ]
    assert [calls_sent(each) for each in model.requests] == [[], made[:2], made]
    named = [each.name for each in model.requests[2].messages if each.role == "tool"]
    assert named == ["call_tool", "far__look2", "call_tool"]


# Holds: deferred-4
async def test_a_hook_that_denies_a_tool_denies_it_however_it_is_called() -> None:
    @hook("tool:pre")
    def deny(_event: str, data: dict[str, Any]) -> HookResult | None:
        if data["tool_name"] != "far__look7":
            return None
        return HookResult(action="deny", reason=f"not {data['tool_input']['at']}")

    far = make_far()
    script = [[through("far__look7", at="a"), directly("far__look7", at="b")], "Done."]
    result = await Agent(ScriptedProvider(script), tools=[near, *far], hooks=[deny]).run("go")

    assert [content for _, content in results_of(result)] == [
        "Denied by hook: not a", "Denied by hook: not b",
    ]  # fmt: skip
    assert far[7].calls == []


# Holds: deferred-4
async def test_a_person_is_asked_about_the_tool_that_was_meant() -> None:
    asked: list[tuple[str, Any]] = []

    def answer(question: Any) -> bool:
        asked.append((question.tool_name, dict(question.arguments)))
        return False

    far = make_far()
    far[7].needs_approval = True  # type: ignore[attr-defined]
    script = [through("far__look7", at="a"), "Done."]
    agent = Agent(ScriptedProvider(script), tools=[near, *far], approvals=answer)
    await agent.run("go")
    assert asked == [("far__look7", {"at": "a"})]


# Holds: deferred-2, deferred-4
async def test_a_search_is_allowed_where_nothing_may_change() -> None:
    far = make_far()
    far[1].read_only = True  # type: ignore[attr-defined]
    script = [
        directly("search_tools", query="far__look1"),
        [through("far__look1", at="a"), through("far__look2", at="b")],
        "Done.",
    ]
    approval = {"module": "hooks-approval", "config": {"mode": "read-only"}}
    agent = Agent(ScriptedProvider(script), tools=[near, *far], hooks=[approval])
    searched, looked, denied = results_of(await agent.run("go"))
    assert "far__look1" in searched[1]
    assert looked == ("far__look1", "far__look1 was at a")
    assert (
        denied[1]
        == "Denied by hook: the mode is `read-only`, and `far__look2` may change something"
    )


# Holds: deferred-4
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "far__look7", "arguments": {}}, "the arguments of `far__look7` must have `at`"),
        ({"name": "far__look7", "arguments": 3}, "the arguments of `far__look7` cannot be used"),
        ({"name": "nowhere", "arguments": {}}, "unknown tool `nowhere`"),
        ({"arguments": {}}, "the arguments of `call_tool` must have `name`"),
        ({"name": "call_tool", "arguments": {}}, "must be the name of a tool other than"),
    ],
)
async def test_a_call_that_cannot_run_says_why(arguments: dict[str, Any], said: str) -> None:
    model = ScriptedProvider([{"tool": "call_tool", "arguments": arguments}, "Done."])
    result = await Agent(model, tools=[near, *make_far()]).run("go")
    assert said in str(results_of(result)[0][1])


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


async def test_a_tool_of_the_same_name_is_not_shadowed() -> None:
    far = [*make_far(), Far("call_tool"), Far("search_tools", deferred=False)]
    script = [
        {"tool": "call_tool_2", "arguments": {"name": "call_tool", "arguments": {"at": "a"}}},
        "Done.",
    ]
    model = ScriptedProvider(script)
    result = await Agent(model, tools=[near, *far]).run("go")
    assert [each.name for each in model.requests[0].tools or ()] == [
        "near", "search_tools", "search_tools_2", "call_tool_2",
    ]  # fmt: skip
    assert results_of(result) == [("call_tool", "call_tool was at a")]


# Holds: deferred-4, deferred-5
@pytest.mark.parametrize("is_early", [True, False])
async def test_calls_that_arrive_in_pieces_run_as_the_tool_that_was_meant(is_early: bool) -> None:
    made = json.dumps({"name": "far__look1", "arguments": {"at": "a"}})

    class Streaming(BaseProvider):
        name = "streaming"

        async def chunks(self, request: ChatRequest, **options: Any) -> Any:
            del options
            if request.messages[-1].role == "tool":
                yield "Done."
                return
            yield StreamChunk(type="tool_call", call=ChunkCall(0, "c1", "call_tool"))
            for place in range(0, len(made), 7):
                yield StreamChunk(made[place : place + 7], type="tool_call", call=ChunkCall(0))
            yield StreamChunk(finished=True)

    shown: list[str] = []

    @hook("content_block:start", "content_block:delta")
    def note(_event: str, data: dict[str, Any]) -> None:
        if data["block_type"] == "tool_call":
            shown.append((data.get("metadata") or {}).get("name") or data["partial_json"])

    loop = {"module": "loop-streaming", "config": {"execute_while_streaming": is_early}}
    agent = Agent(Streaming(), tools=[near, *make_far()], hooks=[note], loop=loop)
    result = await agent.run("go")
    assert results_of(result) == [("far__look1", "far__look1 was at a")]
    assert (shown[0], "".join(shown[1:])) == ("far__look1", '{"at": "a"}')
    [call] = [
        block for each in result.messages for block in each["content"] if "called_as" in block
    ]
    assert (call["name"], call["called_as"]) == ("far__look1", "call_tool")


async def test_a_model_that_writes_its_calls_calls_each_tool_by_its_name() -> None:
    written = '<tool>{"tool_name": "far__look7", "arguments": {"at": "a"}}</tool>'
    model = ScriptedProvider([written, "Done."])
    loop = {"module": "loop-streaming", "config": {"tool_tags": True}}
    result = await Agent(model, tools=[near, *make_far()], loop=loop).run("go")

    prompt = str(model.requests[0].messages[0].content)
    assert ("search_tools:" in prompt, "- call_tool:" in prompt) == (True, False)
    assert results_of(result) == [("far__look7", "far__look7 was at a")]
    assert "far__look7" in str(model.requests[1].messages[-2].content)


async def test_a_sub_agent_decides_by_its_own_tools() -> None:
    model = ScriptedProvider(
        [
            directly("task", prompt="look"),
            through("far__look1", at="a"),
            "Looked.",
            "Done.",
        ]
    )
    far = make_far()
    await Agent(model, tools=[near, *far, "tool-task"]).run("go")
    names = [[each.name for each in request.tools or ()] for request in model.requests]
    assert names[0][-2:] == names[1][-2:] == ["search_tools", "call_tool"]
    assert len(names[1]) <= len(names[0])
    assert far[1].calls == [{"at": "a"}]


async def test_a_tool_that_ends_the_turn_is_never_deferred() -> None:
    model = ScriptedProvider([through("far__look1", at="a"), "[1, 2]"])
    agent = Agent(model, tools=[near, *make_far()], output=list[int], deferred_tools=1)
    assert (await agent.run("go")).output == [1, 2]
    for request in model.requests:
        assert [each.name for each in request.tools or ()] == [
            "near", "final_answer", "search_tools", "call_tool",
        ]  # fmt: skip


# Holds: deferred-8
async def test_loops_of_others_get_all_tools() -> None:
    found: list[str] = []

    class Loop:
        async def execute(
            self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any, **more: Any
        ) -> str:
            found.extend(tools)
            return prompt

    far = make_far()
    await Agent(ScriptedProvider(["Done."]), tools=[near, *far], loop=Loop()).run("go")
    assert found == ["near", *(each.name for each in far)]


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
