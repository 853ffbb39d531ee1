"""`hooks-guard` in a session: what it counts and refuses, and that it is no where it fails."""

from __future__ import annotations

import logging
from math import inf
from typing import Any

import anyio
import pytest

from amplifier_core.events import TOOL_PRE
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatResponse, ToolCall, ToolCallBlock
from amplifier_guard import Rate, RateLimiter
from amplifier_modules.hooks import guard
from amplifier_modules.hooks.guard import tools as guard_tools
from amplifier_modules.hooks.guard.prompts import FINDINGS
from amplifier_modules.hooks.guard.settings import GuardSettings
from amplifier_providers.settings import read_settings


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


class Person:
    def __init__(self, answer="Allow once"):
        self.asked = []
        self.answer = answer

    async def request_approval(self, prompt, *options):
        self.asked.append((prompt, *options))
        return self.answer


async def tool_contents(turn):
    return [message["content"] for message in await turn.history() if message["role"] == "tool"]


async def guarded(bench, config: dict[str, Any] | None, *script):
    turn = bench("basic", *script)
    turn.leave = await guard.mount(turn.coordinator, config)
    return turn


async def test_a_prompt_too_many_is_refused(bench, say):
    turn = await guarded(
        bench, {"rates": {"user": {"limit": 1, "period": 1000}}}, *[say.text("done")] * 2
    )

    assert await turn.run() == "done"
    assert (await turn.run()).startswith("Operation denied: rate limit of this user reached; retry")
    assert len(turn.provider.requests) == 1


async def test_a_model_call_too_many_ends_the_turn(bench, say):
    config = {"rates": {"provider": {"limit": 1, "period": 1000}}}
    turn = await guarded(bench, config, say.calls(("1", "look", {})), say.text("never"))
    turn.tool("look", lambda given: "seen")

    assert (await turn.run()).startswith("Operation denied: rate limit of this provider reached")
    assert await tool_contents(turn) == ["seen"]


async def test_a_tool_call_too_many_is_an_error_to_the_model(bench, say):
    calls = say.calls(("1", "look", {}), ("2", "look", {}), ("3", "other", {}))
    config = {"rates": {"tool": {"limit": 1, "period": 1000}}}
    turn = await guarded(bench, config, calls, say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    turn.tool("other", lambda given: "other")

    assert await turn.run() == "done"
    refused, *ran = sorted(await tool_contents(turn))
    assert refused.startswith("Denied by hook: rate limit of this tool reached; retry in")
    assert ran == ["other", "seen"]
    assert len(look.inputs) == 1


async def test_sessions_of_an_application_may_share_a_limiter(bench, say):
    limiter = RateLimiter(user=Rate(1, 1000))
    answers = []
    for _ in range(2):
        turn = bench("basic", say.text("done"))
        turn.coordinator.register_capability("guard.rate_limiter", limiter)
        await guard.mount(turn.coordinator)
        answers.append(await turn.run())

    assert answers[0] == "done"
    assert answers[1].startswith("Operation denied: rate limit of this user reached")


UNKNOWN = "no allowed prefix matches this `git` command"
SHELL = {"tools": {"bash": {"shell": {"allow": ["ls"], "root": "/srv"}}}}


@pytest.mark.parametrize(("answer", "ran"), [("Allow once", True), ("Deny", False)])
async def test_a_command_that_is_not_allowed_runs_if_a_person_says_so(bench, say, answer, ran):
    given = {"command": "git push"}
    turn = await guarded(bench, SHELL, say.calls(("1", "bash", given)), say.text("done"))
    turn.coordinator.approval_system = person = Person(answer)
    bash = turn.tool("bash", lambda given: "ran")
    await turn.run()

    question = f"run `git push` with `bash`? ({UNKNOWN})"
    assert person.asked == [(question, ["Allow once", "Deny"], inf, "deny")]
    assert bash.inputs == ([given] if ran else [])
    assert await tool_contents(turn) == [
        "ran" if ran else f"Denied by hook: User denied: {question}"
    ]


# Holds: sink-48
async def test_a_person_is_asked_about_the_command_that_other_hooks_have_made(bench, say):
    calls = say.calls(("1", "bash", {"command": "ls"}))
    turn = await guarded(bench, SHELL, calls, say.text("done"))
    turn.coordinator.approval_system = person = Person("Deny")
    bash = turn.tool("bash", lambda given: "ran")
    changed = {"command": "rm -r src"}
    turn.hook(
        TOOL_PRE, lambda _e, data: {"action": "modify", "data": {**data, "tool_input": changed}}
    )
    await turn.run()

    assert bash.inputs == []
    assert [prompt for prompt, *_ in person.asked] == [
        "run `rm -r src` with `bash`? (no allowed prefix matches this `rm` command)"
    ]


@pytest.mark.parametrize(
    ("config", "given", "reason"),
    [
        (SHELL, {}, "`command` of `bash` must be a command, as text"),
        (SHELL, {"command": ["ls"]}, "`command` of `bash` must be a command, as text"),
        (
            SHELL,
            {"command": f"git {'x' * 997}"},
            f"the command is too long to ask about (limit: 1,000 characters; {UNKNOWN})",
        ),
        (
            {"tools": {"bash": {"shell": {"otherwise": "reject", "argument": "line"}}}},
            {"line": "git push"},
            UNKNOWN,
        ),
        ({"tools": {"bash": {"url": {}}}}, {"url": 7}, "`url` of `bash` must be a URL, as text"),
        (
            {"tools": {"bash": {"url": {}}}},
            {"url": "http://127.0.0.1/"},
            "host `127.0.0.1` has the address `127.0.0.1`, which is not public (loopback)",
        ),
        (
            {"tools": {"bash": {"url": {"schemes": ["https"], "argument": "to"}}}},
            {"to": "http://93.184.216.34/"},
            "URL scheme `http` is not allowed (allowed: https)",
        ),
    ],
)
async def test_arguments_that_lead_astray_are_refused_and_nobody_is_asked(
    bench, say, config, given, reason
):
    turn = await guarded(bench, config, say.calls(("1", "bash", given)), say.text("done"))
    turn.coordinator.approval_system = person = Person()
    bash = turn.tool("bash", lambda given: "ran")

    assert await turn.run() == "done"
    assert await tool_contents(turn) == [f"Denied by hook: {reason}"]
    assert (bash.inputs, person.asked) == ([], [])


async def test_a_name_that_nobody_answers_for_is_refused(bench, say, monkeypatch):
    async def resolve(host, port):
        await anyio.sleep_forever()

    monkeypatch.setattr("amplifier_guard.url.resolve_host", resolve)
    monkeypatch.setattr(guard_tools, "LOOK_UP_SECONDS", 0.01)
    calls = say.calls(("1", "fetch", {"url": "https://example.org/"}))
    turn = await guarded(bench, {"tools": {"fetch": {"url": {}}}}, calls, say.text("done"))
    fetch = turn.tool("fetch", lambda given: "fetched")
    await turn.run()

    reason = "name look-up of the URL timed out after 0.01 s"
    assert await tool_contents(turn) == [f"Denied by hook: {reason}"]
    assert fetch.inputs == []


async def test_what_is_allowed_runs_without_a_question(bench, say):
    calls = say.calls(
        ("1", "bash", {"command": "ls src"}), ("2", "fetch", {"url": "http://127.0.0.1/"})
    )
    url = {"url": {"deny_private": False}}
    config = {"tools": {"bash": SHELL["tools"]["bash"], "fetch": url}}
    turn = await guarded(bench, config, calls, say.text("done"))
    turn.tool("bash", lambda given: "ran")
    turn.tool("fetch", lambda given: "fetched")
    await turn.run()

    assert await tool_contents(turn) == ["ran", "fetched"]


MARKUP = "Look: <script>alert(1)</script>"


@pytest.mark.parametrize("config", [None, {"findings": "report"}])
async def test_what_looks_suspicious_is_reported_with_its_place_and_sent_as_it_is(
    bench, say, config, caplog
):
    turn = await guarded(bench, config, say.text("done"))
    told = []
    turn.hook(FINDINGS, lambda _event, data: told.append(data) or None)

    with caplog.at_level(logging.INFO, "amplifier_modules.hooks"):
        assert await turn.run(MARKUP) == "done"
    assert (await turn.history())[0] == {"role": "user", "content": MARKUP}
    [data] = told
    assert data["action"] == "report"
    [finding] = data["findings"]
    assert finding["start"] == MARKUP.index("<script")
    assert MARKUP not in str(told)
    [record] = caplog.records
    assert record.getMessage() == "suspicious patterns in a prompt (1): script at 6"
    assert [FINDINGS] in await turn.coordinator.collect_contributions("observability.events")


@pytest.mark.parametrize(("answer", "sent"), [("Allow once", True), ("Deny", False)])
async def test_what_looks_suspicious_is_sent_if_a_person_says_so(bench, say, answer, sent):
    turn = await guarded(bench, {"findings": "ask"}, say.text("done"))
    turn.coordinator.approval_system = person = Person(answer)

    said = await turn.run(MARKUP)

    [(question, *_)] = person.asked
    assert question.startswith("the prompt looks suspicious (")
    assert said == "done" if sent else said.startswith("Operation denied: User denied: the prompt")
    assert len(turn.provider.requests) == sent


async def test_what_looks_suspicious_is_refused_where_that_is_set(bench, say):
    turn = await guarded(bench, {"findings": "reject"}, say.text("done"))
    told = []
    turn.hook(FINDINGS, lambda _event, data: told.append(data) or None)

    assert (await turn.run(MARKUP)).startswith("Operation denied: ")
    assert turn.provider.requests == []
    assert [(data["action"], len(data["findings"])) for data in told] == [("reject", 1)]


async def test_a_prompt_that_is_too_long_is_refused(bench, say):
    turn = await guarded(bench, {"message_max_chars": 5}, say.text("done"), say.text("done"))

    assert await turn.run("12345") == "done"
    refusal = await turn.run("123456")
    assert refusal.startswith("Operation denied: ")
    assert "6" in refusal
    assert "5" in refusal
    assert len(turn.provider.requests) == 1


async def test_what_a_user_steers_with_is_judged_as_a_prompt(bench, say):
    turn = bench("streaming", say.calls(("1", "look", {})), say.text("done"))
    await guard.mount(turn.coordinator, {"message_max_chars": 5})
    turn.tool("look", lambda given: turn.coordinator.get_capability("session.steer")("123456"))

    assert await turn.run("12345") == "done"
    [discarded] = turn.data("orchestrator:steering_discarded")
    assert discarded["messages"] == ["123456"]
    assert "6" in discarded["reason"]


# Holds: sink-51
@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("look", {"x": "one"}, "look"),
        ("look", {"x": 1.5}, "look"),
        ("lo\x1bok", {}, "ok"),
    ],
)
async def test_a_call_that_does_not_fit_its_tool_is_an_error_to_the_model(
    bench, say, name, given, words
):
    turn = await guarded(bench, None, say.calls(("1", name, given)), say.text("done"))
    look = turn.tool(name, lambda given: "seen")
    await turn.coordinator.mount("tools", look, name=name)

    assert await turn.run() == "done"
    [content] = await tool_contents(turn)
    assert content.startswith("Denied by hook: ")
    assert words in content
    assert "\x1b" not in content
    assert look.inputs == []


async def test_a_call_that_fits_runs_and_a_tool_without_a_schema_takes_anything(bench, say):
    calls = say.calls(("1", "look", {"x": 1}), ("2", "free", {"any": [None]}))
    turn = await guarded(bench, None, calls, say.text("done"))
    for name in ("look", "free"):
        await turn.coordinator.mount("tools", turn.tool(name, lambda given: "seen"), name=name)
    turn.tools["free"].input_schema = {}
    await turn.run()

    assert await tool_contents(turn) == ["seen", "seen"]


async def test_a_tool_that_changes_its_schema_is_held_to_the_new_one(bench, say):
    calls = [say.calls((str(n), "look", {"x": x})) for n, x in enumerate([1, "one", 1])]
    turn = await guarded(bench, None, *calls, say.text("done"))

    def look(given):
        look.tool.input_schema["properties"]["x"]["type"] = "string"
        return "seen"

    look.tool = turn.tool("look", look)
    await turn.coordinator.mount("tools", look.tool, name="look")
    await turn.run()

    assert look.tool.inputs == [{"x": 1}, {"x": "one"}]
    assert [content[:4] for content in await tool_contents(turn)] == ["seen", "seen", "Deni"]


async def test_a_schema_that_cannot_be_used_is_no(bench, say):
    turn = await guarded(bench, None, say.calls(("1", "look", {})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    look.input_schema = {"type": "nonsense"}
    await turn.coordinator.mount("tools", look, name="look")
    await turn.run()

    [content] = await tool_contents(turn)
    assert content.startswith("Denied by hook: the schema of tool `look` cannot be used: ")
    assert look.inputs == []


async def test_arguments_that_could_not_be_read_are_told_by_the_loop(bench, say):
    problem = {"error": "the object ends too early", "raw_arguments": '{"x"'}
    response = ChatResponse(
        content=[ToolCallBlock(id="1", name="look", input={}, **problem)],
        tool_calls=[ToolCall(id="1", name="look", arguments={}, **problem)],
    )
    turn = await guarded(bench, None, response, say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    look.input_schema = {"type": "object", "required": ["x"]}
    await turn.coordinator.mount("tools", look, name="look")
    await turn.run()

    [content] = await tool_contents(turn)
    assert "the object ends too early" in content


async def test_a_tool_may_run_as_long_as_the_guard_says(bench, say, monkeypatch):
    monkeypatch.delenv("TOOL_TIMEOUT", raising=False)
    for config, seconds in [(None, 120.0), ({"tool_timeout": 3}, 3.0)]:
        turn = await guarded(bench, config)
        assert turn.coordinator.get_capability("guard.tool_timeout") == seconds
    monkeypatch.setenv("TOOL_TIMEOUT", "7")
    turn = await guarded(bench, None)
    assert turn.coordinator.get_capability("guard.tool_timeout") == 7.0


# Holds: sink-49
async def test_where_the_guard_fails_it_is_no(bench, say, monkeypatch):
    turn = await guarded(
        bench, SHELL, say.calls(("1", "bash", {"command": "ls"})), say.text("done")
    )
    bash = turn.tool("bash", lambda given: "ran")

    def fail(*_):
        raise RuntimeError("out of order")

    monkeypatch.setattr("amplifier_modules.hooks.guard.tools._Shell.judge", fail)
    await turn.run()

    assert bash.inputs == []
    assert await tool_contents(turn) == ["Denied by hook: hook `hooks-guard` failed on `tool:pre`"]


# Holds: sink-49
async def test_every_handler_fails_closed_and_goes_with_the_module(bench):
    turn = await guarded(bench, {"rates": {"user": {"limit": 1}}})
    hooks = turn.coordinator.hooks

    def registered():
        return {
            (event, fail_closed)
            for event in hooks.list_handlers()
            for _, name, _, fail_closed, _ in hooks._registrations(event)
            if name == guard.NAME
        }

    assert registered() == {
        (event, True)
        for event in (
            "prompt:submit",
            "orchestrator:steering_submitted",
            "provider:request",
            "tool:pre",
        )
    }
    turn.leave()
    assert registered() == set()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"finding": "ask"}, "`finding` is unknown (did you mean `findings`?)"),
        ({"rates": {"usr": None}}, "`rates.usr` is unknown (did you mean `user`?)"),
        ({"findings": "block"}, "`findings` is 'block' (must be `report`, `ask` or `reject`)"),
        ({"tool_timeout": 0}, "`tool_timeout` is 0 (must be a number, above 0)"),
        ({"tool_timeout": float("inf")}, "`tool_timeout` is inf (must be "),
        (
            {"tools": {"b": {"shell": {"allow": "ls"}}}},
            "`tools.b.shell.allow` is 'ls' (must be a list, each item text)",
        ),
        (
            {"rates": {"tool": {"limit": 0}}},
            "`rates.tool.limit` is 0 (must be a whole number, at least 1)",
        ),
    ],
)
async def test_a_setting_that_cannot_work_is_told_at_mount(bench, config, words):
    coordinator = bench("basic").coordinator
    with pytest.raises(ConfigurationError) as raised:
        await guard.mount(coordinator, config)

    assert str(raised.value).startswith(f"hooks-guard: {words}")


def test_what_is_absent_or_none_has_its_default():
    for config in (None, {}, {"findings": None}):
        assert read_settings(GuardSettings, config, "hooks-guard") == GuardSettings()
