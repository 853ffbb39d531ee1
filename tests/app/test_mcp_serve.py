"""`amplifier-core mcp serve`: the tools of the command for the clients of others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from amplifier_app.commands.mcp.bearer_token import VARIABLE, find_token
from amplifier_app.commands.mcp.served_tools import Serving
from amplifier_app.commands.mount_plan import mount_plan
from amplifier_app.commands.named_modules import NamedModules
from amplifier_app.failure import Failure

TOKEN = "a-token-of-24-characters"
PLAN = """
[[tools]]
module = "noisy_tool"

[[tools]]
module = "tool-filesystem"
"""
NOISY_MODULE = """
print("imported")
__amplifier_module_type__ = "tool"

async def mount(coordinator, config=None):
    print("mounted")
"""


def message(id: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"


# Holds: mcp-68, mcp-72
def test_a_client_that_starts_the_command_gets_the_tools_of_the_users_plan_under_the_guard(
    command: Any, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    package = site / "amplifier_module_noisy_tool"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(NOISY_MODULE)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    configuration = tmp_path / "configuration" / "amplifier-core" / "config.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(f'plan = "{plan}"')
    (command.folder / "note.txt").write_text("read me")
    environment = {**command.environment, "XDG_CONFIG_HOME": str(tmp_path / "configuration")}
    environment["PYTHONPATH"] = f"{site}:{environment.get('PYTHONPATH', '')}"
    answers: list[Any] = []
    with subprocess.Popen(
        [sys.executable, "-m", "amplifier_app.cli", "mcp", "serve"],
        cwd=command.folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = {"name": "test", "version": "1"}
        for each in (
            message(
                1,
                "initialize",
                protocolVersion="2025-11-25",
                capabilities={},
                clientInfo=client,
            ),
            message(2, "tools/list"),
            message(3, "tools/call", name="read_file", arguments={"path": "note.txt"}),
            message(4, "tools/call", name="read_file", arguments={"path": "/etc/passwd"}),
        ):
            process.stdin.write(each)
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=60)

    assert (process.returncode, rest) == (143, "")
    assert answers[0]["result"]["serverInfo"]["name"] == "amplifier-core"
    assert "bash" not in [each["name"] for each in answers[1]["result"]["tools"]]
    assert answers[2]["result"]["structuredContent"]["content"] == "read me"
    assert answers[3]["result"]["isError"]
    assert "imported\nmounted\n" in errors


# Holds: mcp-72
def test_without_a_plan_the_tools_of_the_command_are_served_without_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of the servers of a user may be this command.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/amplifier-core").mkdir(parents=True)
    servers = {"self": {"command": "amplifier-core", "args": ["mcp", "serve"]}}
    (tmp_path / "config/amplifier-core/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert "tool-mcp" in [each["module"] for each in mount_plan(tmp_path, {})["tools"]]
    plan = Serving(tmp_path).make_plan()

    tools = {each["module"] for each in plan["tools"]}
    assert {"tool-bash", "tool-filesystem", "tool-search"} <= tools
    assert "tool-mcp" not in tools
    assert plan["providers"] == []
    assert {"hooks-guard", "hooks-approval"} <= {each["module"] for each in plan["hooks"]}


# Holds: mcp-72
def test_a_plan_cannot_leave_the_guard_out(tmp_path: Path) -> None:
    named = NamedModules({"hooks": [], "tools": [{"module": "tool-search"}], "providers": ["p"]})
    plan = Serving(tmp_path, named).make_plan()

    assert "hooks-guard" in [each["module"] for each in plan["hooks"]]
    assert plan["providers"] == [{"module": "p"}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--token-file", "t"], "`--token-file` has no effect without `--http`"),
        (["--http", "here"], "`--http` is `here` (must be a port, or `HOST:PORT`)"),
    ],
)
# Holds: mcp-72
def test_wrong_usage_is_one_line(command: Any, arguments: list[str], said: str) -> None:
    ended = command("mcp", "serve", *arguments)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in ended.stderr


# Holds: mcp-73
def test_the_token_comes_from_a_file_of_the_user_a_variable_or_is_new(tmp_path: Path) -> None:
    file = tmp_path / "token"
    made, is_new = find_token(str(file), {VARIABLE: TOKEN})
    assert (len(made) >= 43, is_new) == (True, False)
    assert file.stat().st_mode & 0o777 == 0o600
    assert find_token(str(file), {}) == (made, False)
    assert find_token(None, {VARIABLE: f" {TOKEN} "}) == (TOKEN, False)

    new, is_new = find_token(None, {})
    assert (len(new) >= 43, is_new) == (True, True)
    assert new != find_token(None, {})[0]


# Holds: mcp-73
def test_a_token_that_others_can_read_or_guess_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    with pytest.raises(Failure, match="can be read by others"):
        find_token(str(file), {})
    file.chmod(0o600)
    file.write_text("short")
    with pytest.raises(Failure, match="the token has 5 characters"):
        find_token(str(file), {})
    with pytest.raises(Failure, match=VARIABLE):
        find_token(None, {VARIABLE: "short"})
    with pytest.raises(Failure, match="cannot be used"):
        find_token(str(tmp_path / "nowhere" / "token"), {})
