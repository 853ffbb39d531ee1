"""Tool calls of a turn: concurrent, judged by hooks, answered in order, never fatal."""

from __future__ import annotations

import json

import anyio
import pytest

from amplifier_core import world
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.message_models import ChatResponse, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def result_message(call_id, name, content, **more):
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content, **more}


async def results(turn):
    return [message for message in await turn.history() if message["role"] == "tool"]


async def test_a_tool_call_is_stored_run_and_answered(bench, say):
    turn = bench("basic", say.calls(("1", "look", {"x": 1}), text="let me see"), say.text("done"))
    look = turn.tool("look", lambda given: "seen")

    assert await turn.run("hi") == "done"
    assert look.inputs == [{"x": 1}]
    assert await turn.history() == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "let me see"},
                {"type": "tool_call", "id": "1", "name": "look", "input": {"x": 1}},
            ],
            "tool_calls": [{"id": "1", "tool": "look", "arguments": {"x": 1}}],
        },
        result_message("1", "look", "seen"),
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]
    group = turn.data(TOOL_PRE)[0]["parallel_group_id"]
    call = {"tool_name": "look", "tool_call_id": "1", "parallel_group_id": group}
    assert turn.data(TOOL_PRE) == [{**call, "tool_input": {"x": 1}}]
    shown = {"success": True, "output": "seen", "error": None}
    assert turn.data(TOOL_POST) == [{**call, "tool_input": {"x": 1}, "result": shown}]
    assert [d["turn_count"] for d in turn.data("orchestrator:complete")] == [2]
    assert turn.token.running_tools == set()


# Holds: world-6
async def test_a_replay_answers_a_call_and_no_tool_runs(bench, say):
    class Replay(world.World):
        async def outside(self, name, call):
            return f"recorded {name}"

    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")

    with world.use(Replay()):
        assert await turn.run() == "done"
    assert look.inputs == []
    assert await results(turn) == [result_message("1", "look", "recorded tool:look")]


async def test_calls_run_concurrently_and_are_answered_in_order(bench, say):
    turn = bench("basic", say.calls(("1", "wait", {}), ("2", "free", {})), say.text("done"))
    freed = anyio.Event()
    running = []

    async def wait(given):
        running.extend(sorted(turn.token.running_tool_names))
        await freed.wait()
        return "waited"

    async def free(given):
        await anyio.wait_all_tasks_blocked()
        freed.set()
        return "freed"

    turn.tool("wait", wait)
    turn.tool("free", free)
    with anyio.fail_after(10):
        await turn.run()

    assert await results(turn) == [
        result_message("1", "wait", "waited"),
        result_message("2", "free", "freed"),
    ]
    assert "wait" in running
    assert len({data["parallel_group_id"] for data in turn.data(TOOL_PRE)}) == 1


async def test_empty_arguments_are_arguments(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    await turn.run()

    assert look.inputs == [{}]


async def test_an_unknown_tool_is_answered_with_the_known_ones(bench, say):
    turn = bench("basic", say.calls(("1", "read_fil", {})), say.text("done"))
    turn.tool("read_file", lambda given: "")
    turn.tool("glob", lambda given: "")
    await turn.run()

    text = "unknown tool `read_fil` (mounted: `glob`, `read_file`); did you mean `read_file`?"
    assert await results(turn) == [result_message("1", "read_fil", f"Error: {text}", is_error=True)]
    assert turn.data(TOOL_ERROR)[0]["error"] == {"type": "UnknownToolError", "msg": text}
    assert turn.data(TOOL_POST) == []


async def test_arguments_that_cannot_be_used_are_answered_with_the_reason(bench, say, valid):
    problem = {"error": "the object ends too early", "raw_arguments": '{"x"'}
    response = ChatResponse(
        content=[ToolCallBlock(id="1", name="look", input={}, **problem)],
        tool_calls=[ToolCall(id="1", name="look", arguments={}, **problem)],
    )
    turn = bench("basic", response, say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    await turn.run()

    assert look.inputs == []
    text = (
        "the arguments of `look` cannot be used: the object ends too early; "
        "call it again with one complete JSON object"
    )
    assert await results(turn) == [result_message("1", "look", f"Error: {text}", is_error=True)]
    assert turn.data(TOOL_ERROR)[0]["error"] == {"type": "InvalidToolCallError", "msg": text}
    valid(await turn.history())


async def test_calls_in_any_form_are_run(bench, say):
    calls = [
        ToolCall.model_construct(id="1", name="look", arguments=None),
        {"id": "2", "tool": "look", "arguments": {"x": 2}},
        {"id": "3", "name": "look", "input": {"x": 3}},
    ]
    response = ChatResponse(content=[])
    turn = bench("basic", response, say.text("done"))
    turn.provider.parse_tool_calls = lambda r: calls if r is response else []
    look = turn.tool("look", lambda given: "seen")
    await turn.run()

    assert sorted(given["x"] for given in look.inputs) == [2, 3]
    contents = [message["content"] for message in await results(turn)]
    assert contents[1:] == ["seen", "seen"]
    assert "they are of type `NoneType`, not an object" in contents[0]


async def test_an_error_of_a_tool_is_its_result(bench, say):
    def fail(given):
        raise OSError("disk on fire")

    turn = bench("basic", say.calls(("1", "burn", {}), ("2", "look", {})), say.text("done"))
    turn.tool("burn", fail)
    turn.tool("look", lambda given: "seen")

    assert await turn.run() == "done"
    assert await results(turn) == [
        result_message(
            "1", "burn", "Error: tool `burn` failed: OSError: disk on fire", is_error=True
        ),
        result_message("2", "look", "seen"),
    ]
    assert [data["error"] for data in turn.data(TOOL_ERROR)] == [
        {"type": "OSError", "msg": "disk on fire"}
    ]


async def test_a_failed_result_is_marked_as_an_error(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda g: ToolResult(success=False, error={"message": "no such file"}))
    await turn.run()

    assert await results(turn) == [result_message("1", "look", "no such file", is_error=True)]
    assert turn.data(TOOL_POST)[0]["result"]["success"] is False


async def test_a_structured_result_is_sent_as_json(bench, say):
    output = {"files": [{"path": "a.py", "bytes": 3}]}
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: ToolResult(output=output))
    await turn.run()

    assert json.loads((await results(turn))[0]["content"]) == output


async def test_a_denied_call_is_not_run(bench, say):
    turn = bench("basic", say.calls(("1", "burn", {}), ("2", "look", {})), say.text("done"))
    burn = turn.tool("burn", lambda given: "burnt")
    turn.tool("look", lambda given: "seen")
    turn.hook(
        TOOL_PRE,
        lambda _e, data: (
            HookResult(action="deny", reason="too hot") if data["tool_name"] == "burn" else None
        ),
    )
    await turn.run()

    assert burn.inputs == []
    assert await results(turn) == [
        result_message("1", "burn", "Denied by hook: too hot", is_error=True),
        result_message("2", "look", "seen"),
    ]
    assert [data["tool_name"] for data in turn.data(TOOL_POST)] == ["look"]


async def test_a_hook_may_change_the_input(bench, say):
    turn = bench("basic", say.calls(("1", "look", {"x": 1})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    turn.hook(
        TOOL_PRE,
        lambda _e, data: HookResult(action="modify", data={**data, "tool_input": {"x": 2}}),
    )
    await turn.run()

    assert look.inputs == [{"x": 2}]
    assert turn.data(TOOL_POST)[0]["tool_input"] == {"x": 2}
    assert (await turn.history())[1]["tool_calls"][0]["arguments"] == {"x": 1}


async def test_a_tool_that_changes_its_input_changes_no_history(bench, say):
    turn = bench("basic", say.calls(("1", "look", {"x": 1})), say.text("done"))

    def look(given):
        given.clear()
        return "seen"

    turn.tool("look", look)
    await turn.run()

    message = (await turn.history())[1]
    assert message["tool_calls"][0]["arguments"] == {"x": 1}
    assert message["content"][0]["input"] == {"x": 1}


async def test_an_observer_does_not_change_what_the_model_sees(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: ToolResult(output="seen"))
    turn.hook(TOOL_POST, lambda _e, data: data["result"].update(output="forged") or None)
    await turn.run()

    assert (await results(turn))[0]["content"] == "seen"


@pytest.mark.parametrize(
    ("replacement", "text"),
    [({"a": 1}, '{"a": 1}'), (["b"], '["b"]'), ("plain", "plain"), (7, "7")],
)
async def test_a_hook_may_replace_the_result(bench, say, replacement, text):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "seen")
    turn.hook(
        TOOL_POST,
        lambda _e, data: HookResult(action="modify", data={**data, "result": replacement}),
    )
    await turn.run()

    assert (await results(turn))[0]["content"] == text


async def test_a_result_that_a_hook_denies_is_not_shown(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "the password")
    turn.answer_hook(TOOL_POST, action="deny", reason="secret")
    await turn.run()

    assert await results(turn) == [
        result_message("1", "look", "Denied by hook: secret", is_error=True)
    ]


async def test_what_a_hook_adds_to_a_result_is_sent_once_and_not_stored(bench, say):
    turn = bench(
        "basic", say.calls(("1", "look", {})), say.calls(("2", "look", {})), say.text("done")
    )
    turn.tool("look", lambda given: "seen")
    hint = HookResult(
        action="inject_context",
        context_injection="look closer",
        ephemeral=True,
        append_to_last_tool_result=True,
    )
    answers = [hint, None]
    turn.hook(TOOL_POST, lambda _e, _d: answers.pop(0))
    await turn.run()

    assert turn.provider.requests[1].messages[-1].content == "seen\n\nlook closer"
    assert "look closer" not in str(turn.provider.requests[2].messages)
    assert [message["content"] for message in await results(turn)] == ["seen", "seen"]


async def test_a_hook_that_injects_beside_a_copy_of_the_result_leaves_it_as_it_is(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "seen")

    def hint(_event, data):
        return HookResult(action="inject_context", context_injection="hint", data=data)

    turn.hook(TOOL_POST, hint)
    await turn.run()

    assert [message["content"] for message in await results(turn)] == ["seen"]


async def test_what_a_hook_stores_while_tools_run_stands_behind_their_results(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {}), ("2", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "seen")
    note = HookResult(
        action="inject_context", context_injection="noted", context_injection_role="user"
    )
    answers = [note, None]
    turn.hook(TOOL_POST, lambda _e, _d: answers.pop(0))
    await turn.run()

    history = await turn.history()
    valid(history)
    assert [message["role"] for message in history] == [
        "user", "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    assert history[4]["content"] == "noted"


class Approvals:
    """A user who is asked one thing at a time."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.is_busy = False

    async def request_approval(self, prompt, *_options):
        assert not self.is_busy, "two questions at once"
        self.is_busy = True
        await anyio.lowlevel.checkpoint()
        self.is_busy = False
        self.asked.append(prompt)
        return self.answers.pop(0)


async def test_a_user_is_asked_one_question_at_a_time(bench, say):
    turn = bench("basic", say.calls(("1", "look", {}), ("2", "look", {})), say.text("done"))
    turn.coordinator.approval_system = approvals = Approvals("Allow", "Deny")
    look = turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="ask_user", approval_prompt="May it look?")
    await turn.run()

    assert approvals.asked == ["May it look?"] * 2
    assert len(look.inputs) == 1
    contents = sorted(message["content"] for message in await results(turn))
    assert contents == ["Denied by hook: User denied: May it look?", "seen"]


async def test_a_question_that_nobody_can_answer_is_a_denial(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="ask_user", approval_prompt="May it look?")
    await turn.run()

    assert look.inputs == []
    assert "No approval system available" in (await results(turn))[0]["content"]


async def test_an_approval_that_fails_runs_nothing_and_ends_nothing(bench, say):
    class Broken:
        async def request_approval(self, *question):
            raise ConnectionError("no terminal")

    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.coordinator.approval_system = Broken()
    look = turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="ask_user", approval_prompt="May it look?")

    assert await turn.run() == "done"
    assert look.inputs == []
    assert "ConnectionError: no terminal" in (await results(turn))[0]["content"]


async def test_a_provider_that_fails_after_tools_leaves_a_valid_history(bench, say, valid):
    turn = bench("basic", say.calls(("1", "look", {})), RuntimeError("gone"))
    turn.tool("look", lambda given: "seen")

    with pytest.raises(RuntimeError, match="gone"):
        await turn.run()
    valid(await turn.history())


# Holds: sink-31
async def test_ctrl_c_in_a_tool_ends_the_turn(bench, say, valid):
    def pressed(given):
        raise KeyboardInterrupt

    turn = bench("basic", say.calls(("1", "run", {}), ("2", "wait", {})), say.text("again"))
    turn.tool("run", pressed)
    turn.tool("wait", lambda given: anyio.sleep_forever())

    with pytest.raises(KeyboardInterrupt):
        await turn.run()
    valid(await turn.history())
    pressed_in, other = [result["content"] for result in await results(turn)]
    assert pressed_in == INTERRUPTED.content
    assert other in {INTERRUPTED.content, NOT_STARTED.content}
    assert turn.data("execution:end")[0]["status"] == "error"
    assert await turn.run() == "again"
