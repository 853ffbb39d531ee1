"""The command asks once about the hooks of a project, and mounts what hooks there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from amplifier_app.approval import TerminalApproval
from amplifier_app.commands import project_hooks
from amplifier_app.commands.mount_plan import SHELL_HOOKS, mount_plan
from amplifier_app.commands.project_hooks import (
    ask_about_changed_hook,
    ask_about_project_hooks,
)
from amplifier_modules.hooks.shell.hook_files import ShellHook


class Person:
    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def request_approval(self, prompt: str, *_rest: Any) -> str:
        self.prompts.append(prompt)
        return "Allow"


def write_hooks(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    hook = {"type": "command", "command": "sh check.sh"}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))


@pytest.fixture
def make_plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], dict[str, Any]]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lambda: mount_plan(tmp_path / "project", {})


def find_config(plan: dict[str, Any]) -> Any:
    return next((each["config"] for each in plan["hooks"] if each["module"] == SHELL_HOOKS), None)


# Holds: shellhooks-16
def test_hooks_are_mounted_where_there_are_some(
    make_plan: Callable[[], dict[str, Any]], tmp_path: Path
) -> None:
    root = str(tmp_path / "project")
    user = tmp_path / "config" / "amplifier-core" / "settings.json"
    state = str(tmp_path / "state" / "amplifier-core")

    assert find_config(make_plan()) is None
    write_hooks(user)
    assert find_config(make_plan()) == {"root": root, "user_settings": str(user)}
    user.unlink()
    write_hooks(tmp_path / "project" / ".claude" / "settings.json")
    found = find_config(make_plan())
    assert {**found, "state_folder": str(Path(found["state_folder"]))} == {
        "root": root,
        "project_hooks": True,
        "state_folder": state,
    }


# Holds: shellhooks-16
async def test_a_person_is_asked_once_about_a_line_and_its_files(
    make_plan: Callable[[], dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_hooks, "can_ask", lambda: True)
    folder = tmp_path / "project"
    write_hooks(folder / ".claude" / "settings.json")
    script = folder / "check.sh"
    script.write_text("exit 2")
    person = Person()

    for text in ("exit 2", "exit 2", "exit 0", "exit 0"):
        script.write_text(text)
        await ask_about_project_hooks(make_plan(), folder, cast("TerminalApproval", person))

    question = (
        "the project has these hooks: may they run, in the sandbox, until they change?\n"
        "| PreToolUse `Bash`: `sh check.sh`\n"
        "|   `check.sh`"
    )
    assert person.prompts == [question, question]


# Holds: shellhooks-21
@pytest.mark.parametrize("can_ask", [True, False])
async def test_a_person_is_asked_again_where_one_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can_ask: bool
) -> None:
    monkeypatch.setattr(project_hooks, "can_ask", lambda: can_ask)
    (tmp_path / "check.sh").write_text("exit 2")
    person = Person()
    hook = ShellHook("PreToolUse", "Bash", "sh check.sh", of_project=True)

    is_agreed = await ask_about_changed_hook(tmp_path, cast("TerminalApproval", person), hook)

    question = (
        "this hook of the project, or a file that it names, has changed: may it run, in the"
        " sandbox, until it changes again?\n| PreToolUse `Bash`: `sh check.sh`\n|   `check.sh`"
    )
    assert (is_agreed, person.prompts) == (can_ask, [question] if can_ask else [])


# Holds: shellhooks-16
async def test_where_nobody_can_be_asked_a_line_says_that_they_do_not_run(
    make_plan: Callable[[], dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = tmp_path / "project"
    write_hooks(project / ".claude" / "settings.json")
    monkeypatch.setattr(project_hooks, "can_ask", lambda: False)
    person = Person()
    await ask_about_project_hooks(make_plan(), project, cast("TerminalApproval", person))

    assert person.prompts == []
    assert capsys.readouterr().err == (
        "hooks of `.claude` of this folder do not run until you agree to them\n"
    )
