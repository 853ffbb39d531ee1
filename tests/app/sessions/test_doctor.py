"""`amplifier-core doctor` says what is set up, what is missing, and what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest


def find(command: Any) -> dict[str, dict[str, str]]:
    """The findings by their names."""
    done = command("doctor", "--json")
    return {each["name"]: each for each in json.loads(done.stdout)["findings"]}


# Holds: config-6
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these sandboxes")
def test_a_machine_on_which_all_is_set_up_has_nothing_to_be_done(
    keyed: Any, model: Any, say: Any, tmp_path: Path
) -> None:
    keyed.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    keyed("config", "init")
    (keyed.folder / "AGENTS.md").write_text("Use tabs.")
    say("Yes.")
    keyed("Well?")
    done = keyed("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    found = find(keyed)
    assert found["keys"] == {
        "name": "keys", "state": "ok", "text": "anthropic (ANTHROPIC_API_KEY)", "advice": "",
    }  # fmt: skip
    assert found["configuration"]["text"] == str(tmp_path / "amplifier-core" / "config.toml")
    assert found["project"]["text"] == "notes: AGENTS.md"
    assert found["sessions"]["text"].startswith("1 in ")
    assert {each["state"] for name, each in found.items() if not name.startswith("extra")} == {"ok"}
    assert keyed.environment["ANTHROPIC_API_KEY"] not in done.stdout


# Holds: config-6
def test_what_is_missing_comes_with_what_to_do(command: Any, tmp_path: Path) -> None:
    command.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    found = find(command)
    assert found["keys"]["advice"] == (
        "set one such as ANTHROPIC_API_KEY, or `amplifier-core provider key set anthropic`"
    )
    assert found["configuration"]["advice"] == "`amplifier-core config init` makes it"
    assert found["project"]["advice"] == "`/init` in a conversation drafts AGENTS.md"
    assert command("doctor").returncode == 0


# Holds: config-6
def test_each_server_is_named_with_whose_it_is_and_whether_it_can_start(
    command: Any, tmp_path: Path
) -> None:
    command.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    own = {
        "a": {"command": "no-such-program"},
        "b": {"url": "https://example.com/mcp", "disabled": True},
        "c": {"command": "sh", "env": {"X": "${NO_SUCH_VARIABLE}"}},
        "d": {"command": "sh"},
    }
    (tmp_path / "amplifier-core").mkdir()
    (tmp_path / "amplifier-core" / "mcp.json").write_text(json.dumps({"mcpServers": own}))
    (command.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"e": own["d"]}}))
    found = find(command)
    servers = {name[-1]: each for name, each in found.items() if name.startswith("server ")}
    assert [(name, each["state"], each["text"]) for name, each in servers.items()] == [
        ("a", "broken",
         "yours, enabled: no-such-program; there is no program `no-such-program`"),
        ("b", "ok", "yours, disabled: https://example.com/mcp"),
        ("c", "broken", "yours, enabled: sh; not set: `NO_SUCH_VARIABLE`"),
        ("d", "ok", "yours, enabled: sh"),
        ("e", "missing", "of the project, not asked: sh"),
    ]  # fmt: skip
    assert servers["e"]["advice"] == "`amplifier-core mcp ask` asks about it"


# Holds: config-6
def test_settings_and_keys_that_do_not_count_are_named(command: Any, tmp_path: Path) -> None:
    command.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    command.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    (tmp_path / "state").write_text("")
    command.environment["ANTHROPIC_KEY"] = "x"
    command.environment["GROQ_API_KEY"] = "'x'"
    (tmp_path / "amplifier-core").mkdir()
    (tmp_path / "amplifier-core" / "settings.json").write_text("{")
    (tmp_path / "amplifier-core" / "config.toml").write_text('model = "mistral:x"')
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    settings = {"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [hook]}}
    (command.folder / ".claude").mkdir()
    (command.folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    done = command("doctor")
    lines = {" ".join(each.split()[:5]) for each in done.stdout.splitlines()}
    assert done.returncode == 1
    assert lines >= {
        "- keys no provider reads",
        "✗ keys `GROQ_API_KEY` has white",
        "✗ model mistral:x, as configured:",
        f"✗ sessions `{tmp_path}/state/amplifier-core/sessions` cannot be",
        f"✗ rules `{tmp_path}/amplifier-core/settings.json` has no",
        "- rules of the project:",
        "- hooks of the project:",
    }


# Holds: config-6
def test_what_cannot_work_is_broken_and_the_exit_code_says_so(command: Any, tmp_path: Path) -> None:
    command.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    file = tmp_path / "amplifier-core" / "config.toml"
    file.parent.mkdir()
    file.write_text("mode = 3")
    done = command("doctor")
    assert done.returncode == 1
    [line] = [each for each in done.stdout.splitlines() if each.startswith("✗")]
    assert line.split()[:2] == ["✗", "configuration"]
    assert line.endswith(
        "(must be `auto` or `review` or `ask` or `read-only` or `plan`) → correct the file;"
        " `amplifier-core config show` shows its keys"
    )
    missing = command("doctor", "-C", "nowhere")
    assert (missing.returncode, missing.stdout) == (2, "")
