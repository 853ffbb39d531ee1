"""`amplifier-core tool` lists the tools of a session, and calls one without a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

RAW = Path(__file__).parents[2] / "modules" / "tool_mcp" / "raw_server.py"


# Holds: invoke-1
def test_the_tools_are_those_of_a_session_and_of_its_servers(command: Any) -> None:
    pytest.importorskip("mcp")
    entry = {"command": sys.executable, "args": ["-S", "-E", str(RAW), "tools=echo"]}
    (command.folder / "servers.json").write_text(json.dumps({"mcpServers": {"raw": entry}}))
    done = command("tool", "list", "--mcp-config", "servers.json", "--json")
    tools = {each["name"]: each for each in json.loads(done.stdout)["tools"]}
    assert done.returncode == 0, done.stderr
    assert tools["raw__echo"] == {
        "name": "raw__echo",
        "from": "server raw",
        "description": "Does echo.",
        "input_schema": {"type": "object"},
        "read_only": False,
    }
    assert {name: tools[name]["from"] for name in ("bash", "grep", "write_file", "todo")} == {
        "bash": "tool-bash", "grep": "tool-search", "write_file": "tool-filesystem",
        "todo": "tool-todo",
    }  # fmt: skip
    called = command("tool", "invoke", "raw__echo", "--mcp-config", "servers.json")
    assert (called.returncode, called.stdout) == (0, "done\n")


# Holds: invoke-1
def test_a_list_for_people_has_a_line_for_each_tool(command: Any) -> None:
    lines = command("tool", "list").stdout.splitlines()
    assert lines[0].split() == ["NAME", "FROM", "WHAT", "IT", "DOES"]
    assert ["grep", "tool-search"] in [each.split()[:2] for each in lines]


# Holds: invoke-2
def test_a_call_has_values_of_the_types_that_the_tool_declares(command: Any) -> None:
    (command.folder / "a.txt").write_text("one\nTODO 1\nTODO 2\n")
    done = command("tool", "invoke", "grep", "pattern=TODO [0-9]", "limit=1", "ignore_case=yes")
    found = json.loads(done.stdout)
    assert (done.returncode, found["total_matches"], len(found["matches"])) == (0, 2, 1)
    whole = command("tool", "invoke", "read_file", "--input", '{"path": "a.txt"}', "--json")
    answer = json.loads(whole.stdout)
    assert {name: answer[name] for name in ("tool", "is_error", "error")} == {
        "tool": "read_file", "is_error": False, "error": None,
    }  # fmt: skip
    assert json.loads(answer["content"])["content"] == "one\nTODO 1\nTODO 2\n"


# Holds: invoke-2
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["grip"], 2, "there is no tool `grip`; did you mean `grep`?; there are `bash`, "),
        (["grep", "patern=x"], 2, "`grep` has no argument `patern`; did you mean `pattern`?"),
        (["grep", "limit=many"], 2, "`limit` must be"),
        (["grep", "pattern"], 2, "`pattern` is no `KEY=VALUE`"),
        (["grep", "--input", "{"], 2, "`--input` is no JSON: "),
        (["grep", "--input", "[]"], 2, "`--input` is no JSON object"),
        (["grep", "a=b", "--input", "{}"], 2, "are given as `KEY=VALUE` or as `--input`"),
        (["read_file"], 1, "must have `path`"),
        (["read_file", "path=/etc/passwd"], 1, "leads outside the root"),
        (["write_file", "path=a", "content=b", "--mode", "read-only"], 1, "read-only"),
    ],
)  # fmt: skip
def test_what_cannot_be_called_or_is_denied_is_said_with_an_exit_code(
    command: Any, words: list[str], code: int, said: str
) -> None:
    done = command("tool", "invoke", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (command.folder / "a").exists()


# Holds: invoke-2
def test_a_result_cannot_control_the_terminal(command: Any) -> None:
    (command.folder / "a.md").write_text("a\x1b[2J")
    done = command("tool", "invoke", "read_file", "path=a.md")
    assert "\x1b" not in done.stdout
    assert done.returncode == 0
