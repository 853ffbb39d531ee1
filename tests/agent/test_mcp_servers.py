"""MCP servers of an agent: named in one call, waited for by a single turn, and never in the way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from amplifier_agent import Agent, ScriptedProvider, hook, mcp
from amplifier_agent.mcp_module import SETTINGS
from amplifier_modules.tools.mcp import McpSettings

RAW = Path(__file__).parents[1] / "modules" / "tool_mcp" / "raw_server.py"


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


def raw(*words: str) -> dict[str, Any]:
    return mcp(f"{sys.executable} -S -E {RAW}", name="raw", args=words)


def tools_of(request: Any) -> list[str]:
    return [each.name for each in request.tools]


# Holds: mcp-25
async def test_a_single_turn_waits_for_servers_whose_tools_are_not_known() -> None:
    model = ScriptedProvider([{"tool": "raw__echo", "arguments": {}}, "Done."])
    result = await Agent(model, tools=[raw()]).run("go")

    assert tools_of(model.requests[0]) == ["mcp_resources", "raw__echo"]
    assert [each["content"] for each in result.messages if each["role"] == "tool"] == ["done"]


# Holds: mcp-25
async def test_a_conversation_waits_for_no_server() -> None:
    entry = raw("mute")
    entry["config"]["first_wait"] = 600
    model = ScriptedProvider(["Hello."])
    async with Agent(model, tools=[entry]).session() as session:
        await session.run("go")

    # What comes later is called through `call_tool`: what requests say of tools never changes.
    assert tools_of(model.requests[0]) == ["mcp_resources", "search_tools", "call_tool"]


# Holds: mcp-25
async def test_a_single_turn_waits_no_longer_than_it_may() -> None:
    entry = raw("mute")
    entry["config"]["first_wait"] = 0.05
    model = ScriptedProvider(["Hello."])
    await Agent(model, tools=[entry]).run("go")

    assert tools_of(model.requests[0]) == ["mcp_resources", "search_tools", "call_tool"]


# Holds: mcp-6
async def test_known_servers_are_not_started_before_the_first_request(tmp_path: Path) -> None:
    count = tmp_path / "count"
    await Agent(ScriptedProvider(["Hello."]), tools=[raw(f"count={count}")]).run("go")
    starts: list[str] = []

    @hook("prompt:submit")
    def look(_event: str, _data: dict[str, Any]) -> None:
        starts.append(count.read_text())

    model = ScriptedProvider([{"tool": "raw__echo", "arguments": {}}, "Done."])
    await Agent(model, tools=[raw(f"count={count}")], hooks=[look]).run("go")

    assert tools_of(model.requests[0]) == ["mcp_resources", "raw__echo"]
    assert (starts, count.read_text()) == (["x"], "xx")


# Holds: mcp-7
async def test_tools_that_come_late_are_there_in_the_next_turn_and_last() -> None:
    model = ScriptedProvider([{"tool": "raw__change", "arguments": {}}, "One.", "Two."])
    seen: list[str] = []

    @hook("mcp:tools")
    def note(_event: str, data: dict[str, Any]) -> None:
        seen.extend(data["added"])

    agent = Agent(model, tools=[raw("tools=change,echo")], hooks=[note])
    await agent.run("learn what it has")
    async with agent.replace(model=model).session() as session:
        await session.run("nothing changes here")

    assert tools_of(model.requests[0]) == tools_of(model.requests[1])
    assert tools_of(model.requests[2])[:3] == ["mcp_resources", "raw__change", "raw__echo"]


# Holds: deferred-3
async def test_tools_of_a_server_that_connects_later_are_announced_in_a_message() -> None:
    made = {"name": "raw__echo", "arguments": {}}
    model = ScriptedProvider(["One.", {"tool": "call_tool", "arguments": made}, "Two."])
    connected = anyio.Event()

    @hook("mcp:tools")
    def note(_event: str, _data: dict[str, Any]) -> None:
        connected.set()

    async with Agent(model, tools=[raw()], hooks=[note]).session() as session:
        await session.run("go")
        with anyio.fail_after(30):
            await connected.wait()
        result = await session.run("go on")

    first, *_, last = model.requests
    assert first.tools == last.tools
    [said] = [str(each.content) for each in last.messages if "further tools" in str(each.content)]
    assert '"name": "raw__echo"' in said
    assert [each["content"] for each in result.messages if each["role"] == "tool"] == ["done"]


async def test_a_rule_of_a_server_is_about_its_tools() -> None:
    approval = {"module": "hooks-approval", "config": {"deny": ["mcp__raw__echo"]}}
    model = ScriptedProvider([{"tool": "raw__echo", "arguments": {}}, "Denied."])
    agent = Agent(model, tools=[raw()], hooks=[approval], approvals=lambda _question: True)
    result = await agent.run("go")
    [said] = [each["content"] for each in result.messages if each["role"] == "tool"]

    assert "mcp__raw__echo" in said


async def test_a_sub_agent_uses_the_servers_of_its_session(tmp_path: Path) -> None:
    count = tmp_path / "count"
    model = ScriptedProvider(
        [
            {"tool": "task", "arguments": {"prompt": "echo"}},
            {"tool": "raw__echo", "arguments": {}},
            "Echoed.",
            "Done.",
        ]
    )
    await Agent(model, tools=[raw(f"count={count}"), "tool-task"]).run("go")

    assert count.read_text() == "x"
    assert model.requests[2].messages[-1].content == "done"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"),
        ("npx -y some-mcp@1.2.3", "some"),
        ("uvx mcp-server-git --repository .", "git"),
        ("python -m weather_mcp", "weather"),
        ("/usr/bin/python3.11 server.py", "server"),
        ("/opt/tools/files.py", "files"),
        ("https://mcp.linear.app/mcp", "linear"),
        ("http://127.0.0.1:8000/mcp", "local"),
    ],
)
def test_a_server_is_called_by_what_it_is(command: str, name: str) -> None:
    assert list(mcp(command)["config"]["servers"]) == [name]


def test_a_command_is_split_as_a_shell_does() -> None:
    assert mcp("run 'my server' -x", name="n", args=["y"], env={"A": "b"}) == {
        "module": "tool-mcp",
        "config": {
            "servers": {
                "n": {"command": "run", "args": ["my server", "-x", "y"], "env": {"A": "b"}}
            }
        },
    }


def test_settings_of_the_module_are_told_apart_from_those_of_the_server() -> None:
    assert mcp("x", first_wait=1, cwd="y")["config"] == {
        "servers": {"x": {"command": "x", "args": [], "cwd": "y"}},
        "first_wait": 1,
    }
    of_projects = {"network", "project_servers", "server_files", "state_folder"}
    assert McpSettings.model_fields.keys() - {"servers", *of_projects} == SETTINGS


def test_several_servers_are_one_module() -> None:
    agent = Agent("demo", tools=[mcp("a"), "tool-search", mcp("https://b.example/mcp", name="b")])

    assert agent.plan["tools"] == [
        {
            "module": "tool-mcp",
            "config": {
                "servers": {
                    "a": {"command": "a", "args": []},
                    "b": {"url": "https://b.example/mcp"},
                }
            },
        },
        {"module": "tool-search"},
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: mcp(""), "the command of a server is empty"),
        (lambda: mcp(3), "the server is a `int`"),  # pyright: ignore[reportArgumentType]
        (lambda: mcp("x", environment={}), "a server has no `environment`"),
        (lambda: Agent("demo", tools=[mcp("x"), mcp("x")]), "two servers are called `x`"),
    ],
)
def test_what_is_no_server_is_refused(make: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_no_secret_of_a_server_is_shown_with_the_plan() -> None:
    server = mcp("x", env={"API_TOKEN": "7f3a99c1d0"}, headers={})
    agent = Agent("demo", tools=[server])

    assert "7f3a99c1d0" not in str(agent.plan)
    assert json.dumps(agent.plan["tools"])


# Holds: mcp-25
def test_the_library_is_imported_at_first_need() -> None:
    program = (
        "import sys; from amplifier_agent import Agent, mcp; Agent('demo', tools=[mcp('x')]).plan;"
        " import amplifier_modules.tools.mcp; sys.exit('mcp' in sys.modules)"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parents[2] / "python")}

    assert (
        subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode
        == 0
    )
