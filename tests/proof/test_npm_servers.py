"""Three servers that everybody has, driven by the command, and one that is killed in a conversation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from amplifier_agent import Agent, ScriptedProvider, hook

TOOLS = Path(__file__).parents[2] / ".tools" / "conformance" / "node_modules"
SERVERS = TOOLS / "@modelcontextprotocol"
FOLDERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
PROGRAM = "import sys; from amplifier_app.cli import main; sys.exit(main())"

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not SERVERS.exists(), reason="needs `make .tools/conformance/.installed`"),
]


def run_server(name: str, *words: str, **more: Any) -> dict[str, Any]:
    """The entry of one of the servers."""
    program = SERVERS / f"server-{name}" / "dist" / "index.js"
    return {"command": str(TOOLS / "node" / "bin" / "node"), "args": [str(program), *words], **more}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


ADA: dict[str, Any] = {"name": "Ada", "entityType": "person", "observations": ["writes"]}


# Holds: mcp-82
def test_the_command_calls_three_public_servers_in_one_turn(tmp_path: Path) -> None:
    note = str(tmp_path / "note.txt")
    script: list[Any] = [
        [
            call("files__write_file", path=note, content="from a model"),
            call("memory__create_entities", entities=[ADA]),
            call("everything__echo", message="hello"),
        ],
        [
            call("files__read_text_file", path=note),
            call("memory__read_graph"),
            call("everything__get-sum", a=1, b=2),
        ],
        "Done.",
    ]
    servers = {
        "files": run_server("filesystem", str(tmp_path)),
        "memory": run_server("memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}),
        "everything": run_server("everything"),
    }
    config = {"servers": servers, "first_wait": 60}
    plan = {
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": [{"module": "tool-mcp", "config": config}],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, "run", "--json", "--plan", "plan.json", "go"],
        env=os.environ | dict.fromkeys(FOLDERS, str(tmp_path)),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    messages = [each["data"]["message"] for each in lines if each["event"] == "tool:result"]
    results = {each["name"]: each["content"] for each in messages}

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "note.txt").read_text() == "from a model"
    assert results["files__read_text_file"].startswith("from a model")
    assert json.loads(results["memory__read_graph"]) == {"entities": [ADA], "relations": []}
    assert results["everything__echo"] == "Echo: hello"
    assert results["everything__get-sum"] == "The sum of 1 and 2 is 3."


# Holds: mcp-82
@pytest.mark.skipif(sys.platform != "linux", reason="looks at `/proc`")
async def test_a_server_that_is_killed_in_a_conversation_is_there_in_the_next_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    variable = f"MEMORY_FILE_PATH={tmp_path / 'memory.jsonl'}"
    config = {"servers": {"memory": run_server("memory", env=kept)}, "first_wait": 60}
    tools = [{"module": "tool-mcp", "config": config}]
    await Agent(ScriptedProvider(["Hello."]), tools=tools).run("What is there?")
    script = [
        call("memory__create_entities", entities=[ADA]),
        "Kept.",
        call("memory__read_graph"),
        "Found.",
    ]
    model, is_down = ScriptedProvider(script), anyio.Event()

    @hook("mcp:server")
    def note(_event: str, data: dict[str, Any]) -> None:
        if data["state"] == "down":
            is_down.set()

    async with Agent(model, tools=tools, hooks=[note]).session() as session:
        await session.run("Keep it.")
        [server] = find_servers(variable)
        os.kill(server, signal.SIGKILL)
        await is_down.wait()
        await session.run("What is kept?")
        [other] = find_servers(variable)
    said = str(model.requests[-1].messages[-1].content)

    assert other != server
    assert json.loads(said) == {"entities": [ADA], "relations": []}
    names = [[each.name for each in request.tools or ()] for request in model.requests]
    assert names == [names[0]] * len(names)


def find_servers(variable: str) -> list[int]:
    """The processes of the server that have a variable."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            variables = (place / "environ").read_bytes().split(b"\0")
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if variable.encode() in variables and b"server-memory" in words:
            found.append(int(place.name))
    return found
