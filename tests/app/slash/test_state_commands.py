"""`/status`, `/tools` and `/help`: what a conversation has, as a person reads it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app.commands.chat.service_models import ServiceModels
from amplifier_app.commands.chat.slash.help import HELP
from amplifier_app.commands.chat.slash.model import MODEL
from amplifier_app.commands.chat.slash.status import STATUS
from amplifier_app.commands.chat.slash.tools import TOOLS
from amplifier_app.commands.provider_choice import PROVIDERS, KnownProvider
from amplifier_app.failure import Failure
from amplifier_core.session_capabilities import MCP_SERVERS, TOOLS_OFFER
from amplifier_modules.tools.mcp import ServerStatus, State

from .fake_context import FakeConversation, make_context, run_command

KEY = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def make_tool(description: str) -> SimpleNamespace:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return SimpleNamespace(description=description, input_schema=schema)


# Holds: command-90
@pytest.mark.anyio
async def test_the_status_says_what_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_app.commands.chat.slash.status._find_version", lambda: "3.0.0")
    monkeypatch.setattr(
        "amplifier_app.commands.chat.slash.status._describe_sandbox", lambda: "landlock"
    )
    states = [ServerStatus("notes\x1b[2J", State.DOWN, 0, f"no {KEY}")]
    servers = SimpleNamespace(list_states=lambda: states)
    context = make_context(tmp_path, FakeConversation(capabilities={MCP_SERVERS: servers}))
    context.turns.stored_id = "1b9d6bcd"
    lines = await run_command(STATUS, context)

    assert [each for each in lines if not each.startswith("servers")] == [
        "version  3.0.0",
        "model    the demo model",
        f"folder   {tmp_path}",
        "session  1b9d6bcd",
        "sandbox  landlock",
        "usage    no tokens so far",
        "mode     ask",
    ]
    assert all(each.isprintable() for each in lines)
    assert KEY not in "".join(lines)


# Holds: command-91
@pytest.mark.anyio
async def test_tools_say_where_they_are_from_and_which_are_deferred(tmp_path: Path) -> None:
    tools = {
        "look": make_tool("Looks at a file. It must be there.\n\x1b[2J"),
        "later": make_tool(f"Uses {KEY}"),
    }
    offer = SimpleNamespace(list_sent=lambda: [SimpleNamespace(name="look")])
    conversation = FakeConversation({"tools": tools}, {TOOLS_OFFER: offer})
    context = make_context(tmp_path, conversation)

    listed = await run_command(TOOLS, context)
    one = await run_command(TOOLS, context, "later")
    with pytest.raises(Failure, match="there is no tool `other`"):
        await run_command(TOOLS, context, "other")

    assert listed[0] == "look   types: Looks at a file"
    assert listed[1].startswith("later  types, deferred: Uses ")
    assert one[0] == "later from types, deferred: the model looks it up"
    assert one[2:4] == ["{", '  "type": "object",']
    assert all(each.isprintable() for each in [*listed, *one])
    assert KEY not in "".join([*listed, *one])


# Holds: command-170
@pytest.mark.anyio
async def test_models_are_completed_with_what_is_known_and_then_with_what_services_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    usual = PROVIDERS["anthropic"].model
    answers, asked = threading.Event(), list[str]()

    def ask(provider: KnownProvider) -> list[str]:
        asked.append(provider.name)
        answers.wait()
        if len(asked) == 1:
            raise OSError
        return [usual, "claude-later"]

    context = replace(make_context(tmp_path), models=ServiceModels(ask))
    known = ["demo", f"anthropic:{usual}"]

    async def complete(count: int) -> list[str]:
        """Return what is offered, and let the service answer after so many."""
        names: list[str] = []
        candidates: Any = MODEL.complete(context, "")
        async for each in candidates:
            names.append(each.text)
            if len(names) == count:
                answers.set()
        return names

    names = [sorted(await complete(len(known))) for _ in range(3)]
    assert names == [sorted(known), *[sorted([*known, "anthropic:claude-later"])] * 2]
    assert asked == ["anthropic"] * 2  # again after a failure, and then no more


# Holds: command-97
@pytest.mark.anyio
async def test_help_fits_a_terminal_of_24_rows_and_80_columns(tmp_path: Path) -> None:
    lines = await run_command(HELP, make_context(tmp_path))
    assert (len(lines) <= 24, [each for each in lines if len(each) > 80]) == (True, [])


# Holds: command-97
@pytest.mark.anyio
@pytest.mark.parametrize(("columns", "is_plain"), [(40, False), (200, True)])
async def test_help_is_a_list_where_a_table_does_not_fit_or_is_not_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, is_plain: bool
) -> None:
    monkeypatch.setattr("amplifier_app.commands.chat.slash.help.measure_columns", lambda: columns)
    monkeypatch.setenv("AMPLIFIER_PLAIN", "1" if is_plain else "0")
    monkeypatch.setenv("TERM", "xterm")
    lines = await run_command(HELP, make_context(tmp_path))
    table = lines[: lines.index("")]
    assert [each for each in table if len(each) >= 40 or each.count("/") > 1] == []
    assert table[:2] == ["Model and context", "  /model       show or change the model"]
