"""A request that does not begin with the one before is declared, and nothing else is.

Holds: prefix-1, prefix-2, prefix-3, prefix-4
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from amplifier_agent import Agent, hook
from amplifier_core import HookRegistry, HookResult
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.anthropic.config import read_config
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_testing.servers import Answer, AnthropicServer, Call

LOOK = ToolSpec(name="look", parameters={"type": "object", "properties": {}})
FIND = ToolSpec(name="find", parameters={"type": "object", "properties": {}})


class Asked:
    """A provider on a strict server, and the changes that it declares."""

    def __init__(self, server: AnthropicServer) -> None:
        self.server = server
        self.changes: list[tuple[str, str]] = []
        self.responses: list[dict[str, Any]] = []
        self.hooks = hooks = HookRegistry()
        hooks.on("llm:prefix_changed", self._take, name="changes")
        hooks.on("llm:response", lambda _, data: self.responses.append(data), name="responses")
        config = read_config({"api_key": "key", "base_url": server.url}, {})
        assert config is not None
        self.provider = AnthropicProvider(config, hooks)

    def _take(self, event: str, data: dict[str, Any]) -> None:
        self.changes.append((data["block"], data["cause"]))

    async def ask(self, *messages: dict[str, Any], **fields: Any) -> None:
        request = ChatRequest(messages=[Message(**each) for each in messages], **fields)
        await self.provider.complete(request)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the last request."""
        return self.server.requests[-1].body


@pytest.fixture
async def asked() -> AsyncIterator[Asked]:
    with AnthropicServer() as server:
        one = Asked(server)
        yield one
        await one.provider.close()
        assert server.refusals == []


def say(role: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **fields}


PASSING = {"metadata": {"ephemeral": True}}
HELLO = (say("system", "Be brief."), say("user", "Hello"))
MORE = (*HELLO, say("assistant", "Hi."), say("user", "And now?"))


async def test_a_conversation_that_grows_changes_nothing(asked: Asked) -> None:
    await asked.ask(*HELLO, tools=[LOOK])
    await asked.ask(*MORE, tools=[LOOK])

    assert asked.changes == []


@pytest.mark.parametrize(
    ("messages", "fields", "change"),
    [
        ((say("system", "Be long."), *MORE[1:]), {"tools": [LOOK]}, ("system[0]", "system prompt")),
        (MORE[1:], {"tools": [LOOK]}, ("system[0]", "system prompt")),
        (MORE, {"tools": [LOOK, FIND]}, ("tools[1]", "tools")),
        (MORE, {}, ("tools[0]", "tools")),
        (MORE, {"tools": [LOOK], "tool_choice": "none"}, ("tool_choice", "tools")),
        (MORE, {"tools": [LOOK], "model": "claude-opus-5-5"}, ("model", "model")),
        ((HELLO[0], say("user", "Bye")), {"tools": [LOOK]}, ("messages[0][0]", "messages")),
    ],
    ids=["system", "no system", "more tools", "no tools", "choice", "model", "messages"],
)
async def test_the_first_block_that_changed_is_named_with_its_cause(
    asked: Asked, messages: Any, fields: dict[str, Any], change: tuple[str, str]
) -> None:
    await asked.ask(*HELLO, tools=[LOOK])
    await asked.ask(*messages, **fields)

    assert asked.changes == [change]


async def test_what_is_of_one_request_stands_behind_the_last_mark(asked: Asked) -> None:
    note = say("system", "It is noon.", **PASSING)
    await asked.ask(*HELLO, note)
    await asked.ask(*MORE, say("user", "It is one.", **PASSING))

    assert asked.changes == []
    last = asked.body["messages"][-1]["content"]
    assert last == [
        {"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "It is one."},
    ]
    [first] = asked.server.requests[0].body["messages"]
    assert first["content"][1]["text"] == "<system-reminder>\nIt is noon.\n</system-reminder>"


async def test_a_text_of_the_system_within_a_conversation_stays_where_it_is(asked: Asked) -> None:
    await asked.ask(*MORE)
    await asked.ask(*MORE, say("assistant", "Now."), say("system", "Hurry."), say("user", "Go."))

    assert asked.changes == []
    assert [block["text"] for block in asked.body["system"]] == ["Be brief."]


async def test_a_turn_of_many_blocks_is_marked_at_its_beginning_too(asked: Asked) -> None:
    calls: list[Any] = [
        {"type": "tool_call", "id": f"c{i}", "name": "look", "input": {}} for i in range(12)
    ]
    results = [say("tool", "x", tool_call_id=f"c{i}") for i in range(12)]
    await asked.ask(*MORE, tools=[LOOK])
    await asked.ask(*MORE, {"role": "assistant", "content": calls}, *results, tools=[LOOK])

    marked = [
        (place, index)
        for place, message in enumerate(asked.body["messages"])
        for index, block in enumerate(message["content"])
        if "cache_control" in block
    ]
    assert marked == [(2, 0), (4, 11)]


async def test_what_was_paid_again_is_told_with_the_answer(asked: Asked) -> None:
    from amplifier_testing.servers import Usage

    usage = (Usage(input=50, cache_write=4_000), Usage(input=4_040, cache_read=20))
    asked.server.answers = [Answer("Hi.", usage=each) for each in usage]
    await asked.ask(*HELLO)
    await asked.ask(say("system", "Be long."), *MORE[1:])

    first, second = asked.responses
    assert "paid_again_tokens" not in first
    assert second["paid_again_tokens"] == 4_030


# A whole session: what the servers see is compared, block by block.


def without_mark(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    items = cast("dict[str, Any]", block).items()
    return {key: value for key, value in items if key != "cache_control"}


def blocks_of(body: dict[str, Any]) -> list[str]:
    """The blocks of a request up to the last mark, in the order of the cache."""
    found: list[tuple[str, Any]] = [("model", body["model"])]
    found += [("tools", each) for each in body.get("tools", ())]
    found += [("system", each) for each in body.get("system", ())]
    found += [("settings", [body.get("tool_choice"), body.get("thinking")])]
    for message in body["messages"]:
        found += [(message["role"], block) for block in message["content"]]
    ends = [place for place, (_, block) in enumerate(found) if "cache_control" in block]
    plain = [(name, without_mark(block)) for name, block in found[: ends[-1] + 1]]
    return [json.dumps(each, sort_keys=True) for each in plain]


def count_changes(server: AnthropicServer) -> int:
    bodies = [blocks_of(request.body) for request in server.requests]
    return sum(after[: len(before)] != before for before, after in pairwise(bodies))


@hook("provider:request")
def inject(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(
        action="inject_context",
        context_injection=f"Call {data['iteration']}.",
        ephemeral=True,
        append_to_last_tool_result=data["iteration"] % 2 == 0,
    )


@hook("tool:post")
def remember(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="inject_context", context_injection="A tool ran.")


async def run_session(
    server: AnthropicServer, folder: Path, turns: int, share: float = 1
) -> list[tuple[str, str]]:
    """Run turns with tools, notes, skills and hooks; return the causes of the changes."""
    (folder / "AGENTS.md").write_text("Use tabs.")
    skill = folder / ".claude" / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidies.\n---\nTidy up.")
    (folder / "a.txt").write_text("word " * 300)
    changes: list[tuple[str, str]] = []

    @hook("llm:prefix_changed")
    def change(event: str, data: dict[str, Any]) -> None:
        changes.append((data["block"], data["cause"]))

    config = {"api_key": "key", "base_url": server.url}
    context = {
        "module": "context-simple",
        "config": {"compact_threshold": share, "target_usage": share / 2},
    }
    agent = Agent(
        plan={
            "session": {"orchestrator": "loop-streaming", "context": context},
            "providers": [{"module": "provider-anthropic", "config": config}],
        },
        tools=["tool-filesystem", "tool-search", "tool-skill"],
        hooks=[inject, remember, change],
        project_notes=True,
        directory=folder,
    )
    read: Callable[[], Answer] = lambda: Answer(Call("read_file", {"path": "a.txt"}))
    async with agent.session() as session:
        for turn in range(turns):
            server.answers = [read(), read(), Answer("Done.")]
            if turn == 1:
                (folder / "AGENTS.md").write_text("Use spaces.")
            assert (await session.run(f"Read a.txt, {turn}.")).status == "completed"
    return changes


async def test_the_default_loop_only_lets_its_prompt_grow(tmp_path: Path) -> None:
    with AnthropicServer() as server:
        changes = await run_session(server, tmp_path, turns=4)

    assert (changes, count_changes(server)) == ([], 0)
    assert len(server.requests) == 12


async def test_a_compaction_is_declared_and_nothing_else_changes(tmp_path: Path) -> None:
    with AnthropicServer() as server:
        changes = await run_session(server, tmp_path, turns=6, share=0.003)

    assert changes
    assert {cause for _, cause in changes} == {"compaction"}
    assert count_changes(server) == len(changes)
