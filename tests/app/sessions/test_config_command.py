"""`amplifier-core config`, and runs with a `config.toml`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def file(keyed: Any, tmp_path: Path) -> Path:
    """The place of the user's file."""
    keyed.environment["XDG_CONFIG_HOME"] = str(tmp_path / "configuration")
    return tmp_path / "configuration" / "amplifier-core" / "config.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)


# Holds: config-5
def test_a_run_is_as_the_file_says_and_as_the_options_say_before_that(
    keyed: Any, model: Any, say: Any, file: Path
) -> None:
    write(file, 'model = "claude-haiku-4-5"\nsave = false\nsystem_file = "system.md"\n')
    (file.parent / "system.md").write_text("Be brief.")
    say("Yes.", "No.")
    assert keyed("Well?").stdout == "Yes.\n"
    assert keyed("--model", "claude-opus-4-8", "--system", "Be kind.", "Well?").stdout == "No.\n"
    asked = [(each["model"], each["system"][0]["text"]) for each in model.requests]
    assert [name for name, _ in asked] == ["claude-haiku-4-5", "claude-opus-4-8"]
    assert [text.partition("\n")[0] for _, text in asked] == ["Be brief.", "Be kind."]
    assert json.loads(keyed("session", "list", "--all", "--json").stdout) == []


# Holds: config-5
def test_a_mistake_is_one_line_before_anything_is_asked(keyed: Any, model: Any, file: Path) -> None:
    write(file, "max_retries = -1\n")
    done = keyed("Well?")
    assert (done.returncode, done.stdout, model.requests) == (2, "", [])
    assert done.stderr == (
        f"error: `{file}`: `max_retries` is -1 (must be a whole number from 0 to 1,000); correct the"
        " file; `amplifier-core config show` shows its keys\n"
    )


# Holds: config-5
def test_what_of_a_project_does_not_count_is_a_warning(
    keyed: Any, model: Any, say: Any, file: Path
) -> None:
    (keyed.folder / ".amplifier-core").mkdir()
    path = keyed.folder / ".amplifier-core" / "config.toml"
    path.write_text('model = "claude-haiku-4-5"\nmax_iterations = 900\n')
    say("Yes.")
    done = keyed("Well?")
    assert (done.stdout, model.requests[0]["model"]) == ("Yes.\n", "claude-haiku-4-5")
    assert done.stderr == (
        f"warning: {path}: `max_iterations` is 900, and yours (the usual one) lets less happen: yours counts\n"
    )


# Holds: config-4
def test_show_says_where_each_value_comes_from(keyed: Any, file: Path) -> None:
    write(file, 'mode = "review"\n[profiles.quick]\nmax_iterations = 9\n')
    keyed.environment["TOOL_TIMEOUT"] = "30"
    shown = json.loads(keyed("config", "show", "--profile", "quick", "--json").stdout)
    assert shown["file"] == str(file)
    assert {
        key: shown["keys"][key] for key in ("mode", "max_iterations", "tool_timeout", "plan")
    } == {
        "mode": {"value": "review", "from": str(file)},
        "max_iterations": {"value": 9, "from": f"{file}, profile `quick`"},
        "tool_timeout": {"value": 30, "from": "the variable TOOL_TIMEOUT"},
        "plan": {"value": None, "from": None},
    }
    rows = keyed("config", "show").stdout.splitlines()
    assert rows[0].split() == ["KEY", "VALUE", "FROM"]
    assert [row.split() for row in rows if row.startswith("mode ")] == [
        ["mode", "review", str(file)]
    ]


# Holds: config-4
def test_the_file_is_made_opened_in_an_editor_and_checked(keyed: Any, file: Path) -> None:
    made = keyed("config", "init")
    assert (made.stdout, file.stat().st_mode & 0o777) == (f"made `{file}`\n", 0o600)
    again = keyed("config", "init")
    assert (again.returncode, again.stderr) == (
        2,
        f"error: `{file}` exists; `amplifier-core config edit` opens it\n",
    )
    for name in ("VISUAL", "EDITOR"):
        keyed.environment.pop(name, None)
    assert keyed("config", "edit").stderr == (
        f"error: neither VISUAL nor EDITOR is set; set EDITOR, or open `{file}` yourself\n"
    )
    editor = file.with_name("my editor")
    editor.write_text('#!/bin/sh\nprintf "mode = 3" > "$2"\n')
    editor.chmod(0o700)
    keyed.environment["EDITOR"] = f"'{editor}' --wait"
    wrong = keyed("config", "edit")
    assert (wrong.returncode, file.read_text()) == (2, "mode = 3")
    assert wrong.stderr.startswith(f"error: `{file}`: `mode` is 3 (must be")
    keyed.environment["VISUAL"] = "true"
    file.unlink()
    assert keyed("config", "edit").stdout == f"`{file}` has no mistake\n"
    keyed.environment["VISUAL"] = "false"
    assert keyed("config", "edit").stderr == "error: the editor `false` ended with exit code 1\n"
    assert "profiles" in json.loads(keyed("config", "schema").stdout)["properties"]
