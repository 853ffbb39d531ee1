"""`/permissions`, `/hooks` and `/doctor`: what is allowed, what runs at events, what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app.commands.chat.slash.doctor import DOCTOR
from amplifier_app.commands.chat.slash.hooks import HOOKS
from amplifier_app.commands.chat.slash.permissions import PERMISSIONS
from amplifier_app.commands.doctor import checks
from amplifier_app.commands.doctor.finding import Finding
from amplifier_core.session_capabilities import APPROVAL_POLICY

from .fake_context import FakeConversation, make_context, run_command

KEY = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def write_settings(path: Path, content: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


# Holds: command-94
@pytest.mark.anyio
async def test_each_rule_is_shown_with_its_place_and_grants_follow(tmp_path: Path) -> None:
    own = write_settings(
        tmp_path / "settings.json",
        {"permissions": {"allow": ["Bash(make:*)", f"Bash(echo {KEY})"], "deny": ["Nothing(("]}},
    )
    theirs = write_settings(
        tmp_path / ".claude" / "settings.json",
        {"permissions": {"allow": ["Bash(npm:*)"], "ask": ["Bash(git \x1b[2J push)"]}},
    )
    body = {"grants": [["id", "edit_file"]]}
    policy = SimpleNamespace(mode="ask", describe=lambda: body)
    config = {"user_settings": str(own), "project_rules": True, "state_folder": str(tmp_path)}
    conversation = FakeConversation(
        capabilities={APPROVAL_POLICY: policy}, configs={"hooks-approval": config}
    )
    lines = await run_command(PERMISSIONS, make_context(tmp_path, conversation))

    assert [lines[0], lines[1], lines[3], lines[5], lines[6]] == [
        "mode: ask",
        f"deny Nothing(( ({own}, not understood: it asks)",
        f"allow Bash(make:*) ({own})",
        f"allow Bash(npm:*) ({theirs}, does not count: you have not agreed)",
        "granted in this session: edit_file",
    ]
    assert lines[2].startswith("ask Bash(git ")
    assert all(each.isprintable() for each in lines)
    assert KEY not in "".join(lines)


# Holds: command-95
@pytest.mark.anyio
async def test_hooks_are_shown_with_their_events_and_whose_they_are(tmp_path: Path) -> None:
    def write_hooks(command: str) -> dict[str, Any]:
        hook = {"type": "command", "command": command}
        return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}

    own = write_settings(tmp_path / "settings.json", write_hooks(f"log {KEY}"))
    write_settings(tmp_path / ".claude" / "settings.json", write_hooks("./check\x1b[2J"))
    config = {"user_settings": str(own), "project_hooks": True, "state_folder": str(tmp_path)}
    conversation = FakeConversation(
        handlers={"tool:pre": ["guard", "log"], "tool:post": ["log"]},
        configs={"hooks-shell": config},
    )
    lines = await run_command(HOOKS, make_context(tmp_path, conversation))

    assert lines[:2] == ["guard: tool:pre", "log: tool:pre, tool:post"]
    assert lines[2].startswith("shell hook, yours, PreToolUse (Bash): log ")
    assert lines[3].startswith("shell hook, of the project: not asked, PreToolUse (Bash): ./check")
    assert all(each.isprintable() for each in lines)
    assert KEY not in "".join(lines)


# Holds: command-96
@pytest.mark.anyio
async def test_the_doctor_of_a_conversation_says_what_that_of_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Finding("model", "ok", "demo"),
        Finding("keys", "missing", f"\x1b[2J {KEY}", "set one"),
    ]

    def list_findings(_: Path) -> list[Finding]:
        return found

    monkeypatch.setattr(checks, "list_findings", list_findings)
    lines = await run_command(DOCTOR, make_context(tmp_path))

    assert lines[0] == "✓ model  demo"
    assert lines[1].startswith("- keys   ")
    assert lines[1].endswith(" → set one")
    assert lines[1].isprintable()
    assert KEY not in lines[1]
