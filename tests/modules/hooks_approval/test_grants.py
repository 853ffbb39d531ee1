"""What a person may grant beyond a call, and how far that reaches."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.approval import Offer
from amplifier_modules.hooks.approval.calls import describe_call
from amplifier_modules.hooks.approval.grants import make_offer
from amplifier_modules.hooks.approval.rules import find_allowing, read_rule

WRITE = ("write_file", {"path": "src/a", "content": "x"})
OTHER = ("write_file", {"path": "src/b", "content": "y"})
ABOVE = ("write_file", {"path": "b", "content": "y"})


def ask_always(_input: Any) -> bool:
    return True


# Holds: approval-15
async def test_a_tool_that_is_granted_in_the_session_is_asked_about_once(case: Any) -> None:
    turn = await case(WRITE, OTHER, ("wipe", {})).begin(mode="ask")
    turn.tool("write_file")
    turn.tool("wipe")
    turn.person.answers = ["session", "no"]
    texts = await turn.run()
    assert texts[:2] == ["did it", "did it"]
    assert [each.tool_name for each in turn.person.asked] == ["write_file", "wipe"]


# Holds: approval-15
async def test_a_grant_holds_for_a_tool_that_wants_every_call_agreed_to(case: Any) -> None:
    turn = await case(("wipe", {"a": 1}), ("wipe", {"a": 2})).begin(mode="auto")
    turn.tool("wipe", needs_approval=True)
    turn.person.answers = ["session"]
    assert await turn.run() == ["did it", "did it"]
    assert len(turn.person.asked) == 1


# Holds: approval-15
async def test_what_a_tool_asks_about_just_these_arguments_is_granted_once(case: Any) -> None:
    calls = [("wipe", {"a": 1}), ("wipe", {"a": 1})]
    turn = await case(*calls).begin(mode="ask", allow=["wipe"])
    turn.tool("wipe", needs_approval=ask_always)
    turn.person.answers = ["session", "wipe"]
    assert await turn.run() == ["did it", "did it"]
    assert [each.offer for each in turn.person.asked] == [Offer(), Offer()]


# Holds: approval-16
@pytest.mark.parametrize(
    ("command", "sandbox", "tool", "offer"),
    [
        ("make test", "default", {"is_confined": True}, Offer(True, "Bash(make test:*)")),
        ("make test", "default", {"is_confined": False}, Offer(False, "Bash(make test:*)")),
        ("make test", "none", {"is_confined": True, "needs_approval": ask_always}, Offer()),
        ("make test", "none", {"is_confined": False, "needs_approval": ask_always}, Offer()),
        ("make test", "default", {}, Offer(False, "Bash(make test:*)")),
        ("make $X", "default", {"is_confined": False}, Offer()),
        ("ls && make -j4 all", "default", {"is_confined": True}, Offer(True, "Bash(make:*)")),
        ("python3 a.py", "default", {"is_confined": True}, Offer(True, "Bash(python3 a.py)")),
        ("sudo make", "default", {"is_confined": True}, Offer(True, "Bash(sudo make)")),
    ],
)
def test_a_command_without_a_sandbox_is_never_granted_for_the_session(
    tmp_path: Path, command: str, sandbox: str, tool: dict[str, Any], offer: Offer
) -> None:
    bash = SimpleNamespace(directory=str(tmp_path), **tool)
    call = describe_call("bash", bash, {"command": command, "sandbox": sandbox}, tmp_path)
    assert make_offer(call) == offer


@pytest.mark.parametrize("path", ["src/a.py", "a.py", "a/b/c.md", "../x", "/etc/x", "a b", "a*"])
def test_the_rule_that_is_offered_means_the_call(path: str) -> None:
    call = describe_call("edit_file", None, {"path": path}, Path("/srv/project"))
    rule = make_offer(call).rule
    assert rule is None or find_allowing([read_rule(rule, Path("/srv/project"))], call)
    assert (rule is None) is (path in ("../x", "/etc/x", "a b", "a*"))


# Holds: approval-17
async def test_a_rule_that_is_granted_counts_at_once_and_is_in_the_users_settings(
    case: Any, tmp_path: Path
) -> None:
    path = tmp_path / "config" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"theme": "dark", "permissions": {"allow": ["Read"], "deny": ["wipe"]}}')
    turn = await case(WRITE, OTHER, ABOVE).begin(mode="ask", user_settings=str(path))
    turn.tool("write_file")
    turn.person.answers = ["Edit(/src/**)", "no"]
    texts = await turn.run()
    assert (texts[:2], len(turn.person.asked)) == (["did it", "did it"], 2)
    assert turn.person.asked[0].offer == Offer(True, "Edit(/src/**)", str(path))
    assert json.loads(path.read_text()) == {
        "theme": "dark",
        "permissions": {"allow": ["Read", "Edit(/src/**)"], "deny": ["wipe"]},
    }


# Holds: approval-17
async def test_a_rule_that_means_another_call_or_nothing_cannot_be_granted(case: Any) -> None:
    turn = await case(WRITE).begin(mode="ask")
    turn.tool("write_file")
    await turn.run()
    check = turn.person.asked[0].check_rule
    assert check("Edit(/lib/**)") == "`Edit(/lib/**)` does not mean this call"
    assert "no glob" in (check("Edit(!x)") or "")
    assert check("Edit(/src/**)") is None


# Holds: approval-16
async def test_without_a_sandbox_a_rule_about_the_command_agrees_and_no_other_does(
    case: Any, tmp_path: Path
) -> None:
    make, install = ("bash", {"command": "make test"}), ("bash", {"command": "make && rm x"})
    turn = await case(make, install).begin(mode="auto", allow=["Bash", "Bash(make:*)"])
    turn.tool("bash", is_confined=False, directory=str(tmp_path), needs_approval=ask_always)
    turn.person.answers = ["no"]
    texts = await turn.run()
    assert texts[0] == "did it"
    assert [each.arguments for each in turn.person.asked] == [install[1]]


# Holds: approval-16
async def test_a_rule_does_not_let_a_command_out_of_its_sandbox(case: Any, tmp_path: Path) -> None:
    leaves = ("bash", {"command": "make", "sandbox": "none", "reason": "x"})
    turn = await case(leaves).begin(mode="auto", allow=["Bash", "Bash(make:*)"])
    turn.tool("bash", is_confined=True, directory=str(tmp_path), needs_approval=ask_always)
    await turn.run()
    assert len(turn.person.asked) == 1
