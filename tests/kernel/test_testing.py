"""The stand-ins for tests of modules do what the parts of a session do."""

from __future__ import annotations

import inspect

import amplifier_core
from amplifier_core import HookResult, ModuleCoordinator, ToolResult, testing
from amplifier_core.testing import (
    EventRecorder,
    MockContextManager,
    MockCoordinator,
    MockTool,
    ScriptedOrchestrator,
    create_test_coordinator,
    wait_for,
)


# Holds: differ-109
def test_the_names_at_the_top_are_these():
    for name in (
        "EventRecorder",
        "MockContextManager",
        "MockCoordinator",
        "MockTool",
        "ScriptedOrchestrator",
        "create_test_coordinator",
        "wait_for",
    ):
        assert getattr(amplifier_core, name) is getattr(testing, name)
    assert testing.TestCoordinator is MockCoordinator
    assert MockCoordinator.__test__ is False  # pytest collects no class that a module imports


def test_the_coordinator_is_a_real_one():
    coordinator = MockCoordinator()
    assert isinstance(coordinator, ModuleCoordinator)
    assert (coordinator.session_id, coordinator.parent_id) == ("test-session", None)
    assert coordinator.config == {
        "session": {"orchestrator": "test-orchestrator", "context": "test-context"}
    }
    assert coordinator.loader is None
    assert (coordinator.mount_history, coordinator.unmount_history) == ([], [])


def test_the_coordinator_can_be_subclassed():
    class Mine(MockCoordinator):
        def __init__(self) -> None:
            super().__init__()
            self.mine = 1

    assert (Mine().mine, Mine().session_id) == (1, "test-session")


async def test_the_coordinator_notes_every_mount_and_unmount_when_awaited():
    coordinator, tool, loop = MockCoordinator(), MockTool("a"), object()
    assert inspect.iscoroutinefunction(coordinator.mount)
    waiting = coordinator.mount("tools", tool, name="a")
    assert coordinator.mount_history == []
    await waiting
    await coordinator.mount("orchestrator", loop)
    assert coordinator.get("tools") == {"a": tool}
    await coordinator.unmount("tools", name="a")
    await coordinator.unmount("orchestrator")
    assert coordinator.mount_history == [
        {"mount_point": "tools", "module": tool, "name": "a"},
        {"mount_point": "orchestrator", "module": loop, "name": None},
    ]
    assert coordinator.unmount_history == [
        {"mount_point": "tools", "name": "a"},
        {"mount_point": "orchestrator", "name": None},
    ]
    assert coordinator.get("tools") == {}


async def test_the_coordinator_sets_no_defaults_on_events():
    coordinator, seen = MockCoordinator(), []

    def note(event: str, data: dict[str, object]) -> None:
        seen.append(set(data))

    coordinator.hooks.register("x:y", note)
    await coordinator.hooks.emit("x:y", {"a": 1})
    assert seen == [{"a", "timestamp"}]


# Holds: differ-95
async def test_approvals_can_be_asked_and_messages_shown():
    coordinator = MockCoordinator()
    asked = HookResult(action="ask_user", approval_prompt="go on?")
    shown = HookResult(user_message="hello")
    assert (await coordinator.process_hook_result(asked, "tool:pre", "h")).action == "continue"
    coordinator.approval_system.request_approval.return_value = "Deny"
    assert (await coordinator.process_hook_result(asked, "tool:pre", "h")).action == "deny"
    await coordinator.process_hook_result(shown, "tool:pre", "h")
    coordinator.display_system.show_message.assert_awaited_once_with("hello", "info", "hook:h")


async def test_the_tool_counts_its_calls():
    tool = MockTool(output={"a": 1})
    assert await tool.execute({"x": 1}) == ToolResult(success=True, output={"a": 1})
    tool.execute.assert_awaited_once_with({"x": 1})
    assert (tool.name, tool.description, tool.call_count) == (
        "mock_tool",
        "Mock tool: mock_tool",
        1,
    )
    assert tool.input_schema == {"type": "object", "properties": {}}


# Holds: differ-97
async def test_the_context_has_every_method_of_one():
    context = MockContextManager([{"role": "user", "content": "hello"}])
    await context.add_message({"role": "assistant", "content": "hi"})
    copied = await context.get_messages_for_request(token_budget=5, provider=None)
    assert copied == await context.get_messages() == context.messages
    assert copied is not context.messages
    await context.set_messages(copied[:1])
    assert context.messages == [{"role": "user", "content": "hello"}]
    await context.clear()
    assert context.messages == []
    assert await context._should_compact() is False
    await context._compact_internal()


async def test_the_recorder_keeps_a_shallow_copy():
    recorder, inner = EventRecorder(), object()
    data = {"a": inner}
    assert await recorder.emit("x:y", data) == HookResult(action="continue")
    assert (await recorder.record("x:z", {})).data is None
    data["b"] = inner
    assert recorder.get_events("x:y") == [("x:y", {"a": inner})]
    assert recorder.get_events() == recorder.events
    recorder.clear()
    assert recorder.events == []


async def test_the_recorder_is_a_handler():
    coordinator, recorder = MockCoordinator(), EventRecorder()
    coordinator.hooks.register("x:y", recorder.record)
    await coordinator.hooks.emit("x:y", {"a": 1})
    assert recorder.get_events("x:y")[0][1]["a"] == 1


# Holds: differ-96
async def test_the_scripted_loop_answers_by_its_script_then_done():
    loop, context, recorder = ScriptedOrchestrator(["a"]), MockContextManager(), EventRecorder()
    given = {"context": context, "providers": {}, "tools": {}, "hooks": recorder}
    assert await loop.execute("p", **given) == "a"
    assert await loop.execute("q", **given, coordinator=object()) == "DONE"
    assert [message["content"] for message in context.messages] == ["p", "a", "q", "DONE"]
    assert recorder.events == [
        ("session:start", {"prompt": "p"}),
        ("session:end", {"response": "a"}),
        ("session:start", {"prompt": "q"}),
        ("session:end", {"response": "DONE"}),
    ]
    assert loop.call_count == 2


async def test_the_test_coordinator_has_tools_and_a_context():
    coordinator = create_test_coordinator()
    tools = coordinator.get("tools")
    assert [(await tool.execute({})).output for tool in tools.values()] == ["Echo response", None]
    assert list(tools) == ["echo", "fail"]
    assert isinstance(coordinator.get("context"), MockContextManager)
    assert coordinator.mount_history == []


async def test_waiting_ends_with_the_condition_or_the_time():
    answers = iter([False, False, True])
    assert await wait_for(lambda: next(answers)) is True
    assert await wait_for(lambda: False, timeout=0) is False
