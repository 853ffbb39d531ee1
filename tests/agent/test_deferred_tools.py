"""Tools beyond twenty: named in each request, described when the model asks, called as themselves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, ToolFinished, ToolStarted, hook
from amplifier_core import HookResult
from amplifier_core.message_models import ChatRequest
from amplifier_providers.base import BaseProvider
from amplifier_stream import ChunkCall, StreamChunk

sys.path.insert(0, str(Path(__file__).parent))
from far_tools import Far, calls_sent, directly, make_far, near, results_of, through


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
