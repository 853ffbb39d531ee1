"""`/permissions`, `/hooks` and `/doctor`: what is allowed, what runs at events, what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands.chat.slash.doctor import DOCTOR
from amplifier_app.commands.chat.slash.hooks import HOOKS
from amplifier_app.commands.chat.slash.permissions import PERMISSIONS
from amplifier_app.commands.doctor import checks
from amplifier_app.commands.doctor.finding import Finding
from amplifier_core.approval import AskedCall, Offer
from amplifier_core.session_capabilities import APPROVAL_POLICY
from amplifier_modules.hooks.approval import ApprovalPolicy, ApprovalSettings
from amplifier_modules.hooks.approval.rule_set import load_rules
from amplifier_providers.settings import read_settings

from .fake_context import FakeConversation, make_context, run_command


class FakeCoordinator:
    """Has an id, and no tools."""

    session_id = "id"

    def get(self, _: str) -> None:
        return None

    def get_capability(self, _: str) -> None:
        return None


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
async def test_the_rules_of_the_session_are_shown_with_their_places_and_what_was_granted_in_it(
    tmp_path: Path,
) -> None:
    own = write_settings(
        tmp_path / "settings.json",
        {"permissions": {"allow": ["Bash(make:*)", f"Bash(echo {KEY})"], "deny": ["Nothing(("]}},
    )
    theirs = write_settings(
        tmp_path / ".claude" / "settings.json",
        {"permissions": {"allow": ["Bash(npm:*)"], "ask": ["Bash(git \x1b[2J push)"]}},
    )
    config = {"user_settings": str(own), "project_rules": True, "state_folder": str(tmp_path)}
    settings = read_settings(ApprovalSettings, config, "hooks-approval")
    session, rules = FakeCoordinator(), load_rules(settings, tmp_path)
    policy = ApprovalPolicy(session, tmp_path, rules, "ask", usual="auto")
    grants = [["id", "edit_file"], ["of which this is a copy", "bash"]]
    await policy.restore({"grants": grants, "mode": "ask", "before_plan": "auto"})
    asked = AskedCall("q", "bash", {"command": "ls"}, offer=Offer(rule="Bash(ls)"))
    asked.reply.grant = "Bash(ls)"
    await policy.note_grant(asked, "id")
    conversation = FakeConversation(
        capabilities={APPROVAL_POLICY: policy}, configs={"hooks-approval": config}
    )
    lines = await run_command(PERMISSIONS, make_context(tmp_path, conversation))
    write_settings(own, {"permissions": {"deny": ["Bash"]}})
    later = await run_command(PERMISSIONS, make_context(tmp_path, conversation))

    assert [lines[0], lines[1], lines[3], *lines[5:]] == [
        "mode: ask",
        f"deny Nothing(( ({own}, not understood: it asks)",
        f"allow Bash(make:*) ({own})",
        f"allow Bash(npm:*) ({theirs}, does not count: you have not agreed)",
        "allow Bash(ls) (granted in this session)",
        "granted in this session: edit_file",
    ]
    assert lines[2].startswith("ask Bash(git ")
    assert all(each.isprintable() for each in lines)
    assert KEY not in "".join(lines)
    # What holds is what the session began with.
    assert later == [
        *lines,
        "the files have other rules by now, which count from the next session on",
    ]


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
        handlers={
            "tool:pre": ["guard", "log"],
            "tool:post": ["log"],
            **{f"event:{number}": ["store"] for number in range(9)},
        },
        configs={"hooks-shell": config},
    )
    lines = await run_command(HOOKS, make_context(tmp_path, conversation))

    assert lines[0].startswith("shell hook, yours, PreToolUse (Bash): log ")
    assert lines[1].startswith("shell hook, of the project: not asked, PreToolUse (Bash): ./check")
    assert lines[2:] == [
        "guard: tool:pre",
        "log: tool:pre, tool:post",
        "store: event:0, event:1, event:2 and 6 more",
    ]
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
