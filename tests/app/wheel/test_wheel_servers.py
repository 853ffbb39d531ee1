"""MCP servers with the command from a wheel: on the demo model, on strict servers, and one that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "processes")]
from terminal import Terminal

CHECKOUT = Path(__file__).resolve().parents[3]
TOOLS = CHECKOUT / ".tools" / "conformance" / "node_modules"
PROGRAMS = TOOLS / "@modelcontextprotocol"

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not PROGRAMS.exists(), reason="needs `make .tools/conformance/.installed`"),
]

NOTES = '''\
import os
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")
KEPT = Path(__file__).with_name("notes.txt")


@server.tool()
def add(text: str) -> str:
    """Keep a note."""
    with KEPT.open("a") as file:
        file.write(f"{text}\\n")
    return f"kept-by-{os.getpid()}"


@server.tool()
def read() -> str:
    """Read all notes."""
    return f"{KEPT.read_text()} read-by-{os.getpid()}"


server.run()
'''


FOREIGN = ("AMPLIFIER_", "ANTHROPIC_", "OPENAI_", "PYTEST_", "PYTHON", "VIRTUAL_", "XDG_")


def environment(**variables: str) -> dict[str, str]:
    """This environment without anything that leads back to the checkout, or to a key."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | variables


class NoWarmOnes:
    """Each command starts an interpreter of its own."""

    def find_warm(self, *_: Any, **__: Any) -> None:
        return None


@dataclass
class Home:
    """The command of a wheel, with a home of its own in which there are servers."""

    python: Path
    folder: Path
    interpreters: NoWarmOnes = field(default_factory=NoWarmOnes)

    @property
    def line(self) -> list[str]:
        return [str(self.python.with_name("amplifier-core"))]

    @property
    def environment(self) -> dict[str, str]:
        return environment(HOME=str(self.folder.parent), TERM="xterm")

    def __call__(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [*self.line, *arguments],
            cwd=self.folder,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that has the wheel and the SDK."""
    place = tmp_path_factory.mktemp("with-mcp") / "venv"
    venv.create(place, with_pip=True, symlinks=True)
    found = place / "bin" / "python"
    line = [found, "-m", "pip", "install", "--quiet", f"{wheel}[mcp]"]
    subprocess.run(line, check=True, env=environment(), cwd=place)
    return found


@pytest.fixture
def home(python: Path, tmp_path: Path) -> Home:
    """Servers of npm and one that is written with the SDK, added as users do."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.py").write_text(NOTES)
    home = Home(python, folder)
    node = str(TOOLS / "node" / "bin" / "node")
    kept = f"MEMORY_FILE_PATH={tmp_path / 'memory.jsonl'}"

    def program(name: str) -> str:
        return str(PROGRAMS / f"server-{name}" / "dist" / "index.js")

    home("mcp", "add", "files", node, program("filesystem"), str(folder))
    home("mcp", "add", "memory", "--env", kept, node, program("memory"))
    home("mcp", "add", "everything", node, program("everything"))
    home("mcp", "add", "notes", str(python), str(folder / "notes.py"))
    return home


# Holds: mcp-87
def test_the_demo_model_drives_servers_that_a_user_has_added(home: Home) -> None:
    listed = json.loads(home("tool", "list", "--json"))["tools"]
    assert {each["from"] for each in listed} >= {
        "server files", "server memory", "server everything", "server notes",
    }  # fmt: skip
    note = home.folder / "note.txt"

    def call(prompt: str) -> str:
        return home("--model", "demo", "--mode", "auto", prompt)

    call(f'call files__write_file with {{"path": "{note}", "content": "from a model"}}')
    assert note.read_text() == "from a model"
    assert "from a model" in call(f"call files__read_text_file with path {note}")
    ada = {"name": "Ada", "entityType": "person", "observations": ["writes"]}
    call(f"call memory__create_entities with {json.dumps({'entities': [ada]})}")
    assert "Ada" in call("call memory__read_graph")
    assert "Echo: hello" in call("call everything__echo with message hello")
    assert "kept-by" in call("call notes__add with text milk")
    assert "milk" in home("tool", "invoke", "notes__read")


# Holds: mcp-87
@pytest.mark.parametrize(
    ("server", "model"),
    [
        (AnthropicServer, "anthropic:claude-sonnet-4-5"),
        (ResponsesServer, "openai:gpt-5.1"),
        (ChatServer, "openai-chat:gpt-4.1"),
        (OllamaServer, "ollama:qwen3:8b"),
    ],
)
def test_strict_servers_of_each_wire_format_take_what_servers_offer_and_answer(
    home: Home, server: Callable[..., ModelServer], model: str
) -> None:
    home("tool", "list")  # from now on the tools are known
    script = [
        Answer(Call("search_tools", {"query": "everything__get-sum"})),
        Answer(Call("call_tool", {"name": "everything__get-sum", "arguments": {"a": 1, "b": 2}})),
        "It is 3.",
    ]
    with server(script) as service:
        name = model.partition(":")[0]
        config = json.dumps({"base_url": service.url, "api_key": "a-key"})
        said = home(
            "--model", model, "--mode", "auto", "--module", f"provider-{name}={config}", "?"
        )
        requests = [json.dumps(each.body) for each in service.requests if each.body]

    assert said.strip() == "It is 3."
    assert len(requests) == 3
    assert "The sum of 1 and 2 is 3." in requests[2]


# Holds: mcp-87
@pytest.mark.skipif(sys.platform != "linux", reason="looks at `/proc`")
def test_a_server_that_is_killed_in_a_conversation_is_started_again(home: Home) -> None:
    home("tool", "list")
    terminal = Terminal(home, "--model", "demo", "--mode", "auto")
    terminal.read_until("auto >")
    terminal.type(b"call notes__add with text milk\r")
    terminal.read_until("kept-by")
    terminal.read_until("tokens in")
    [before] = find_processes("notes.py", home.folder)
    os.kill(before, signal.SIGKILL)
    terminal.read_until("is down")
    terminal.type(b"call notes__read\r")
    terminal.read_until("read-by")
    [after] = find_processes("notes.py", home.folder)
    terminal.type(b"/quit\r")
    terminal.wait()

    assert after != before
    assert f"kept-by-{before}" in terminal.written
    assert f"read-by-{after}" in terminal.written
    assert (home.folder / "notes.txt").read_text() == "milk\n"
    assert find_processes("notes.py", home.folder) == []


def find_processes(name: str, folder: Path) -> list[int]:
    """The processes of a program of a folder."""
    word = os.fsencode(folder / name)
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if word in (place / "cmdline").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:
            continue
    return found
