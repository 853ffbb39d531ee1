"""Plain mistakes of tools, approval systems and networks: the one line that is said of each."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core import ApprovalRequest, ApprovalResponse
from amplifier_core.llm_errors import NetworkError, ProviderUnavailableError
from amplifier_core.models import ToolResult
from amplifier_modules import EVENTS
from amplifier_modules.contexts.system_prompt import CONTEXT_SYSTEM_PROMPT
from amplifier_modules.hooks.guard.prompts import FINDINGS
from amplifier_modules.loops.answers.agent_events import EVENTS as AGENT_EVENTS
from amplifier_modules.loops.loop import EVENTS as LOOP_EVENTS
from amplifier_modules.tools.bash.job import JOB_END, JOB_START
from amplifier_modules.tools.mcp.servers import PROMPTS_CHANGED, SERVER_STATE, TOOLS_CHANGED
from amplifier_providers.responses.provider import EVENTS as RESPONSES_EVENTS
from amplifier_providers.retries import Retries, RetrySettings
from amplifier_providers.wire import events as provider_events

CALL = ("1", "x", {"x": 1})


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.exc_info for record in found] == [None] * len(found)
    return [record.getMessage() for record in found]


async def told(bench: Any) -> str:
    """The result that the model got of its call."""
    await bench.run()
    [message] = [each for each in await bench.history() if each["role"] == "tool"]
    return message["content"]


class SyncTool:
    name = "x"
    description = "A tool that somebody forgot to make async."

    def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(output="done")


@pytest.mark.parametrize("loop", ["basic", "streaming"])
async def test_a_sync_tool_is_one_line_that_says_what_to_do(
    bench: Any, say: Any, loop: str, caplog: pytest.LogCaptureFixture
):
    one = bench(loop, say.calls(CALL), say.text("ok"))
    one.tools["x"] = SyncTool()
    text = (
        "`execute` of `x` returned a `ToolResult` instead of an awaitable; make it `async def`, "
        "or use `@tool`"
    )
    assert await told(one) == f"Error: tool `x` failed: TypeError: {text}"
    assert lines(caplog) == [f"tool `x` failed: TypeError: {text}"]


async def test_a_tool_that_fails_is_one_line(
    bench: Any, say: Any, caplog: pytest.LogCaptureFixture
):
    def fail(_: dict[str, Any]) -> None:
        raise ValueError("no luck")

    one = bench("basic", say.calls(CALL), say.text("ok"))
    one.tool("x", fail)
    assert await told(one) == "Error: tool `x` failed: ValueError: no luck"
    assert lines(caplog) == ["tool `x` failed: ValueError: no luck"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"x": "one"}, 'argument `/x` of `x` must be of type integer, found "one"'),
        ({}, "the arguments of `x` must have `x`, found none"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_to_the_model_without_a_guard(
    bench: Any, say: Any, given: dict[str, Any], why: str, caplog: pytest.LogCaptureFixture
):
    one = bench("basic", say.calls(("1", "x", given)), say.text("ok"))
    tool = one.tool("x", lambda _: "ran")
    tool.input_schema = {**tool.input_schema, "required": ["x"]}
    assert await told(one) == f"Error: {why}; correct the arguments and call `x` again"
    assert (tool.inputs, lines(caplog)) == ([], [])


async def test_arguments_are_checked_as_the_hooks_left_them(bench: Any, say: Any):
    one = bench("basic", say.calls(("1", "x", {"x": "2"})), say.text("ok"))
    tool = one.tool("x", lambda _: "ran")
    one.hook(
        "tool:pre",
        lambda _event, data: {"action": "modify", "data": {**data, "tool_input": {"x": 2}}},
    )
    assert await told(one) == "ran"
    assert tool.inputs == [{"x": 2}]


@pytest.mark.parametrize("attribute", ["no schema", "empty schema", "checks itself"])
async def test_a_tool_without_a_schema_or_with_a_check_of_its_own_takes_any_arguments(
    bench: Any, say: Any, attribute: str
):
    one = bench("basic", say.calls(("1", "x", {"x": "one"})), say.text("ok"))
    tool: Any = one.tool("x", lambda _: "ran")
    if attribute == "no schema":
        del tool.input_schema
    elif attribute == "empty schema":
        tool.input_schema = {}
    else:
        tool.checks_arguments = True
    assert await told(one) == "ran"


async def test_a_schema_that_cannot_be_used_checks_nothing_and_says_so_once(
    bench: Any, say: Any, caplog: pytest.LogCaptureFixture
):
    one = bench("basic", say.calls(CALL, ("2", "x", {})), say.text("ok"))
    one.tool("x", lambda _: "ran").input_schema = {"type": "nonsense"}
    await one.run()
    contents = [each["content"] for each in await one.history() if each["role"] == "tool"]
    assert contents == ["ran", "ran"]
    [line] = lines(caplog)
    assert line.startswith("the arguments of tool `x` are not checked: ")


class FailingApproval:
    async def request_approval(self, *_: Any) -> str:
        raise ConnectionError("the pager is off")


class Provider:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.requests: list[ApprovalRequest] = []

    async def request_approval(self, request: ApprovalRequest) -> Any:
        self.requests.append(request)
        return self.answer


def asking(bench: Any, say: Any, approval: Any) -> Any:
    one = bench("basic", say.calls(CALL), say.text("ok"))
    one.tool("x", lambda _: "ran")
    one.coordinator.approval_system = approval
    one.answer_hook("tool:pre", action="ask_user", approval_prompt="run it?", approval_timeout=9.0)
    return one


async def test_an_approval_system_that_fails_denies_and_is_not_the_failure_of_the_tool(
    bench: Any, say: Any, caplog: pytest.LogCaptureFixture
):
    one = asking(bench, say, FailingApproval())
    text = "the approval system failed: ConnectionError: the pager is off"
    assert await told(one) == f"Denied by hook: {text}"
    assert lines(caplog) == [f"{text}; denying"]
    assert one.tools["x"].inputs == []


# Holds: differ-120
@pytest.mark.parametrize(("approved", "result"), [(True, "ran"), (False, "User denied: run it?")])
async def test_an_approval_provider_is_asked_with_a_request_that_names_the_hook(
    bench: Any, say: Any, approved: bool, result: str
):
    provider = Provider(ApprovalResponse(approved=approved))
    assert result in await told(asking(bench, say, provider))
    [request] = provider.requests
    details = {"hook": "hook", "event": "tool:pre", "options": ["Allow", "Deny"]}
    assert (request.action, request.timeout, request.details) == ("run it?", 9.0, details)


async def test_an_approval_provider_that_answers_something_else_denies(bench: Any, say: Any):
    assert "the approval provider must answer an `ApprovalResponse`, not `str`" in await told(
        asking(bench, say, Provider("allow"))
    )


async def test_a_hook_with_a_name_is_named_where_nobody_can_be_asked(
    bench: Any, say: Any, caplog: pytest.LogCaptureFixture
):
    await asking(bench, say, None).run()
    assert lines(caplog) == ["hook `hook` asks for approval, but no approval system is set"]


async def test_a_network_that_is_down_is_said_after_the_first_try(
    caplog: pytest.LogCaptureFixture,
):
    async def sleep(_: float) -> None: ...

    async def operation() -> None:
        raise NetworkError("cannot connect to `http://here`: refused", provider="p")

    now = iter(range(0, 10**6, 10**3))
    settings = RetrySettings(max_retries=3, retry_jitter=False, retry_budget=1e9)
    retries = Retries("p", settings, clock=lambda: next(now), sleep=sleep)
    with pytest.raises(NetworkError):
        await retries.call(operation, "m")

    line = "call of `p` failed: cannot connect to `http://here`: refused; retry 1 of 3 in 1.0 s"
    assert lines(caplog) == [line]


async def test_the_line_about_a_retry_does_not_quote_the_server(
    caplog: pytest.LogCaptureFixture,
):
    async def sleep(_: float) -> None: ...

    async def operation() -> None:
        raise ProviderUnavailableError("a-key is bad", provider="p", status_code=500)

    now = iter(range(0, 10**6, 10**3))
    settings = RetrySettings(max_retries=1, retry_jitter=False, retry_budget=1e9)
    with pytest.raises(ProviderUnavailableError):
        await Retries("p", settings, clock=lambda: next(now), sleep=sleep).call(operation, "m")
    assert lines(caplog) == ["call of `p` failed: server error (500); retry 1 of 1 in 1.0 s"]


def test_the_listed_events_are_those_that_our_modules_contribute():
    of_providers = {name for key, name in vars(provider_events).items() if key.isupper()}
    assert set(EVENTS) == {
        *LOOP_EVENTS, *AGENT_EVENTS, CONTEXT_SYSTEM_PROMPT, FINDINGS, *of_providers,
        *RESPONSES_EVENTS, JOB_START, JOB_END,
        SERVER_STATE, TOOLS_CHANGED, PROMPTS_CHANGED,
    }  # fmt: skip
