"""`--mode` and `/mode` of the command, and the rules of the user and of the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prompt_terminal import CTRL_D, SHIFT_TAB, PromptTerminal

WRITE = {"type": "tool_use", "id": "t1", "name": "write_file", "input": {"path": "a.txt", "content": "x"}}  # fmt: skip


def script(model: Any, *texts: str) -> None:
    for text in texts:
        model.reply(*model.said(WRITE, stop="tool_use"))
        model.reply(*model.said({"type": "text", "text": text}))


def last_result(model: Any) -> str:
    return json.dumps(model.requests[-1]["messages"][-1])


# Holds: approval-22
@pytest.mark.parametrize(
    ("mode", "writes", "said"),
    [
        ("auto", True, "created"),
        ("ask", False, "there is no terminal to ask in"),
        ("read-only", False, "the mode is `read-only`"),
        ("plan", False, "call `present_plan` with the plan"),
    ],
)
def test_the_command_takes_a_mode(
    keyed: Any, model: Any, mode: str, writes: bool, said: str
) -> None:
    script(model, "Done.")
    done = keyed("--no-save", "--quiet", "--mode", mode, "Write")
    assert done.returncode == 0, done.stderr
    assert (keyed.folder / "a.txt").exists() is writes
    assert said in last_result(model)
    assert ("present_plan" in json.dumps(model.requests[0]["tools"])) is (mode == "plan")


# Holds: approval-22
def test_a_mode_that_there_is_not_is_wrong_usage(keyed: Any) -> None:
    done = keyed("--mode", "reviewed", "Write")
    assert done.returncode == 2
    assert "`reviewed` is not one of `auto`, `ask`, `review`, `read-only`, `plan`" in done.stderr


# Holds: approval-22
def test_the_rules_of_the_user_and_what_the_project_denies_count(keyed: Any, model: Any) -> None:
    script(model, "Done.")
    script(model, "Done.")
    settings = Path(keyed.environment["XDG_CONFIG_HOME"]) / "amplifier-core" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"permissions": {"allow": ["Edit(*.txt)"]}}')
    keyed("--quiet", "--mode", "ask", "Write")
    assert (keyed.folder / "a.txt").exists()
    log = Path(keyed.environment["XDG_STATE_HOME"]) / "amplifier-core" / "approvals.jsonl"
    assert not log.exists()

    (keyed.folder / ".claude").mkdir()
    rules = {"permissions": {"deny": ["Edit(a.txt)"], "allow": ["Bash"]}}
    (keyed.folder / ".claude" / "settings.json").write_text(json.dumps(rules))
    done = keyed("--quiet", "--mode", "auto", "Write")
    assert "the rule `Edit(a.txt)` denies it" in last_result(model)
    assert "does not count until you agree to it" in done.stderr
    (row,) = map(json.loads, log.read_text().splitlines())
    assert (row["event"], row["tool"]) == ("approval:refused", "write_file")


# Holds: approval-22
def test_a_conversation_changes_its_mode_and_asks_about_what_the_project_allows(
    keyed: Any, model: Any
) -> None:
    script(model, "One.", "Two.")
    (keyed.folder / ".claude").mkdir()
    (keyed.folder / ".claude" / "settings.json").write_text('{"permissions": {"allow": ["Bash"]}}')
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    terminal = PromptTerminal(keyed)
    terminal.say("/mode all")
    terminal.see("there is no mode `all`")
    terminal.say("/mode read-only")
    terminal.see("the mode is read-only from now on")
    terminal.say("Write")
    terminal.see("may they count?")
    terminal.see_match("^[a-z]{4}>")
    terminal.say("no")
    terminal.see("One.")
    assert not (keyed.folder / "a.txt").exists()
    terminal.say("/mode ask")
    terminal.see("the mode is ask from now on")
    terminal.say("Write")
    terminal.see("a for `write_file` in this session")
    terminal.see_match("^[a-z]{4}>", 2)
    terminal.say("a")
    terminal.see("Two.")
    terminal.say("/mode")
    terminal.see("the mode is ask", 2)
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert (keyed.folder / "a.txt").read_text() == "x"
    state = Path(keyed.environment["XDG_STATE_HOME"]) / "amplifier-core" / "project-rules.json"
    assert '"trusted": false' in state.read_text()


# Holds: approval-30
def test_shift_tab_goes_on_in_the_next_mode_and_the_prompt_shows_it(keyed: Any, model: Any) -> None:
    script(model, "One.")
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    terminal = PromptTerminal(keyed)
    for mode in ("ask", "review", "read-only", "plan", "auto", "ask"):
        terminal.type(SHIFT_TAB)
        terminal.see_match(f"^{mode} >$")
    for _ in range(2):
        terminal.type(SHIFT_TAB)
    terminal.see_match("^read-only >$")
    terminal.say("Write")
    terminal.see("One.")
    assert "the mode is `read-only`" in last_result(model)
    assert not (keyed.folder / "a.txt").exists()
    terminal.say("/mode")
    terminal.see("the mode is read-only")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0


# Holds: approval-30
def test_a_conversation_that_begins_in_a_mode_shows_it(keyed: Any) -> None:
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    terminal = PromptTerminal(keyed, "--mode", "plan")
    terminal.see_match("^plan >$")
    terminal.type(SHIFT_TAB)
    terminal.see_match("^auto >$")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
