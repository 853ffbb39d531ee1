"""Skills and notes in the command: what the model gets, `--no-project-notes`, `/init`, `/skills`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prompt_terminal import CTRL_D, PromptTerminal


@pytest.fixture
def written(keyed: Any) -> Any:
    """A user and a project with notes, skills and agents."""
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    config, home = (Path(keyed.environment[each]) for each in ("XDG_CONFIG_HOME", "HOME"))
    for path, text in {
        config / "amplifier-core/AGENTS.md": "Be short.",
        home / ".claude/skills/mine/SKILL.md": "---\ndescription: Mine.\n---\nDo it.\n",
        home / ".claude/agents/looker.md": "---\ndescription: Looks.\n---\nLook.\n",
        keyed.folder / "AGENTS.md": "Use tabs. @../secret.md",
        keyed.folder / ".claude/skills/theirs/SKILL.md": "---\ndescription: Theirs.\n---\nX\n",
        keyed.folder / ".claude/skills/bad/SKILL.md": "---\na: *b\n---\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return keyed


def parts_of(request: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """The system prompt of a request, and the descriptions of its tools."""
    tools = {each["name"]: each["description"] for each in request["tools"]}
    return json.dumps(request["system"]), tools


# Holds: notes-11, skills-8
def test_the_command_gives_the_model_notes_and_skills(written: Any, model: Any, say: Any) -> None:
    say("Yes.", "No.")

    done = written("--module", "tool-task", "Hello")
    without = written("--no-project-notes", "Hello")

    system, tools = parts_of(model.requests[0])
    assert system.index("Be short.") < system.index("Use tabs.")
    assert tools["skill"].endswith("\n- mine (user): Mine.\n- theirs (project): Theirs.")
    assert tools["task"].endswith("\n- looker (user): Looks.")
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    bad = "the project's skill `bad` is not offered: its fields have references (`&` or `*`)"
    out = "`@../secret.md` of `AGENTS.md` is not read: it leads out"
    assert done.stderr.splitlines() == [
        f"warning: {bad} (tool-skill)",
        f"warning: {out} (hooks-project-notes)",
    ]
    system, tools = parts_of(model.requests[1])
    assert "Use tabs." not in system
    assert "Be short." not in system
    assert "skill" in tools
    assert without.stdout == "No.\n"


# Holds: notes-12, skills-10
def test_in_a_conversation_skills_are_listed_and_notes_drafted(
    written: Any, model: Any, say: Any
) -> None:
    say("Drafted.")
    terminal = PromptTerminal(written)
    terminal.say("/skills")
    terminal.see(
        "mine    user     Mine.\ntheirs  project  Theirs.\nwarning: the project's skill `bad`"
    )
    terminal.say("/init and mention the tests")
    terminal.see("Drafted.")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0

    asked = json.dumps(model.requests[0]["messages"][0])
    assert "Draft the file `AGENTS.md`" in asked
    assert "Besides: and mention the tests" in asked


# Holds: notes-11, skills-8
def test_without_skills_and_notes_nothing_is_there(keyed: Any, model: Any, say: Any) -> None:
    say("Yes.")

    keyed("Hello")

    system, tools = parts_of(model.requests[0])
    assert "project-notes" not in system
    assert "skill" not in tools
