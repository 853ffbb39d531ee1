"""`/status`, `/tools` and `/help`: what a conversation has, as a person reads it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app.commands.chat.slash.help import HELP
from amplifier_app.commands.chat.slash.model import MODEL
from amplifier_app.commands.chat.slash.status import STATUS
from amplifier_app.commands.chat.slash.tools import TOOLS
from amplifier_app.commands.provider_choice import PROVIDERS
from amplifier_app.display.wrapping import wrap_line
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
        "tokens   no tokens so far",
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


def test_models_that_can_answer_are_completed_without_asking_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    offered: Any = MODEL.complete(make_context(tmp_path), "")
    names = [each.text for each in offered]
    assert f"anthropic:{PROVIDERS['anthropic'].model}" in names
    assert "demo" in names
    assert not any(each.startswith("openai:") for each in names)


# Holds: command-97
@pytest.mark.anyio
async def test_help_fits_a_terminal_of_24_rows_and_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    lines = [
        row
        for line in await run_command(HELP, make_context(tmp_path))
        for row in wrap_line(line, 79).split("\n")
    ]
    assert (len(lines) <= 24, [each for each in lines if len(each) > 79]) == (True, [])


# Holds: terminal-3
@pytest.mark.anyio
@pytest.mark.parametrize("is_plain", [True, False])
async def test_help_has_one_column_where_there_is_no_space_for_two_and_in_plain_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_plain: bool
) -> None:
    monkeypatch.setenv("TERM", "dumb" if is_plain else "xterm")
    columns = 80 if is_plain else 40
    monkeypatch.setattr("amplifier_app.commands.chat.slash.help.measure_columns", lambda: columns)
    lines = await run_command(HELP, make_context(tmp_path))
    commands = lines[: lines.index("")]
    assert max(map(len, commands)) < 40
    assert [each for each in commands if each.count("/") > 1] == []
