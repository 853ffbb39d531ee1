"""Servers are connected in the background, and again whenever they are lost."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mounted_servers import Mount, run_raw

from amplifier_core import world
from amplifier_modules.tools.mcp import State
from amplifier_modules.tools.mcp.known_tools import KnownTools
from amplifier_modules.tools.mcp.server import ServerStatus, choose_wait


def is_running(process: int) -> bool:
    """Whether a process is there that is more than its number."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# Holds: mcp-1
async def test_the_tools_of_a_server_are_called_by_its_name_and_theirs(mount: Mount) -> None:
    mounted = await mount({"raw": run_raw("greet", "tools=echo,other")})
    await mounted.settle()

    assert list(mounted.tools) == ["mcp_resources", "raw__echo", "raw__other"]
    assert mounted.tools["raw__echo"].description == "Does echo."
    assert await mounted.run("raw__echo") == "done"
    assert mounted.servers.describe() == "1 of 1 MCP servers connected"


# Holds: mcp-2
async def test_a_server_that_is_down_at_the_start_is_tried_again(
    mount: Mount, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mounted = await mount({"late": run_raw(f"die-first={tmp_path / 'first'}")})
    await mounted.settle()

    assert await mounted.run("late__echo") == "done"
    states = [
        (data["state"], data["problem"]) for event, data in mounted.events if event == "mcp:server"
    ]
    assert states == [
        ("connecting", None),
        ("down", "it ended with code 1: not yet"),
        ("connecting", None),
        ("connected", None),
    ]
    assert [each.message for each in caplog.records] == [
        "the MCP server `late`: it ended with code 1: not yet"
    ]


# Holds: mcp-3
async def test_a_server_that_dies_in_a_call_is_there_for_the_next_one(
    mount: Mount, tmp_path: Path
) -> None:
    mounted = await mount({"raw": run_raw(f"count={tmp_path / 'count'}", "tools=die,echo")})
    await mounted.settle()

    problem = "the connection was lost: it ended with code 3: it hurts"
    assert await mounted.run("raw__die") == (
        "ConnectionLostError",
        f"the MCP server `raw`: {problem}; it may have done what it was asked for",
    )
    assert await mounted.run("raw__echo") == "done"
    assert (tmp_path / "count").read_text() == "xx"
    assert list(mounted.tools) == ["mcp_resources", "raw__die", "raw__echo"]


# Holds: mcp-4
async def test_a_call_of_a_server_that_cannot_be_had_says_why(mount: Mount, caches: Path) -> None:
    entry = {"command": "/nowhere/server"}
    mounted = await mount({"gone": entry})
    await mounted.settle(State.DOWN)
    status = mounted.servers.list_states()[0]

    assert status.problem == "`/nowhere/server` cannot be started: No such file or directory"
    assert mounted.servers.describe().startswith(
        "0 of 1 MCP servers connected; `gone`: down: `/nowhere/server` cannot be started"
    )
    listed = await mounted.run("mcp_resources")
    assert listed["resources"] == []
    assert listed["problems"][0]["problem"].startswith("the server is not connected: `gone`: down")


async def test_a_variable_that_is_not_set_makes_a_server_unusable(mount: Mount) -> None:
    mounted = await mount({"bad": {"command": "x", "args": ["${NO_SUCH_VARIABLE_HERE}"]}})
    await mounted.settle(State.UNUSABLE)

    assert mounted.servers.list_states() == [
        ServerStatus(
            "bad",
            State.UNUSABLE,
            0,
            "EntryError: the variable `NO_SUCH_VARIABLE_HERE` is not set",
        )
    ]


# Holds: mcp-5
async def test_a_server_that_never_speaks_is_given_up_and_tried_again(mount: Mount) -> None:
    mounted = await mount({"mute": run_raw("mute")}, start_timeout=0.3)
    await mounted.settle(State.DOWN)

    assert mounted.servers.list_states()[0].problem == "it has not started within 0.3 s"


# Holds: mcp-6
async def test_known_tools_are_there_before_the_server_is(mount: Mount, tmp_path: Path) -> None:
    entry = run_raw(f"count={tmp_path / 'count'}", "tools=echo,other")
    first = await mount({"raw": entry})
    await first.settle()
    await first.coordinator.cleanup()
    [kept] = (Path(os.environ["XDG_CACHE_HOME"]) / "amplifier-core" / "mcp").iterdir()
    mounted = await mount({"raw": entry})

    assert list(mounted.tools) == list(first.tools)
    assert mounted.servers.list_states() == [ServerStatus("raw", State.WAITING, 2)]
    assert (tmp_path / "count").read_text() == "x"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert await mounted.run("raw__other") == "done"
    assert mounted.events[-1][1]["state"] == "connected"
    assert "mcp:tools" not in [event for event, _ in mounted.events]


# Holds: mcp-6
async def test_known_servers_are_connected_with_the_first_request(mount: Mount) -> None:
    entry = run_raw()
    first = await mount({"raw": entry})
    await first.settle()
    await first.coordinator.cleanup()
    mounted = await mount({"raw": entry})

    await mounted.coordinator.hooks.emit("provider:request", {"provider": "x"})
    await mounted.settle()


async def test_a_file_of_known_tools_that_is_damaged_is_none(mount: Mount) -> None:
    entry = run_raw()
    first = await mount({"raw": entry})
    await first.settle()
    [kept] = (Path(os.environ["XDG_CACHE_HOME"]) / "amplifier-core" / "mcp").iterdir()
    assert len(KnownTools().find(kept.stem) or ()) == 1
    for damaged in ("{", "[]", '{"version": 1, "tools": [{"name": 1}]}', "[" * 100_000):
        kept.write_text(damaged)
        assert KnownTools().find(kept.stem) is None
    mounted = await mount({"raw": entry})
    await mounted.settle()
    assert await mounted.run("raw__echo") == "done"


# Holds: mcp-7
async def test_tools_that_are_added_are_mounted_last_and_none_is_taken_away(
    mount: Mount, tmp_path: Path
) -> None:
    mounted = await mount({"raw": run_raw("tools=change,echo")})
    await mounted.settle()
    before = list(mounted.tools)
    await mounted.run("raw__change")
    await mounted.wait_for(lambda: "raw__later" in mounted.tools)

    assert list(mounted.tools) == [*before, "raw__later"]
    assert mounted.events[-1] == (
        "mcp:tools",
        {"server": "raw", "added": ["raw__later"], "changed": [], "removed": []},
    )


# Holds: mcp-85
async def test_prompts_that_change_are_an_event(mount: Mount) -> None:
    mounted = await mount({"raw": run_raw("tools=prompt,echo")})
    await mounted.settle()
    assert await mounted.servers.list_prompts() == []
    await mounted.run("raw__prompt")
    await mounted.wait_for(lambda: ("mcp:prompts", {"server": "raw"}) in mounted.events)

    assert [each.name for each in await mounted.servers.list_prompts()] == ["prompt0"]
    assert "mcp:tools" not in [event for event, _ in mounted.events[2:]]


# Holds: mcp-8
@pytest.mark.skipif(sys.platform != "linux", reason="looks at `/proc`")
async def test_a_server_ends_with_its_session(mount: Mount) -> None:
    mounted = await mount({"raw": run_raw("tools=family")})
    await mounted.settle()
    family = [int(each) for each in (await mounted.run("raw__family")).split()]
    assert all(map(is_running, family))
    await mounted.coordinator.cleanup()

    # A signal is on its way when it was sent.
    with anyio.fail_after(30):
        while any(map(is_running, family)):  # noqa: ASYNC110 -- nothing tells
            await anyio.sleep(0.01)
    assert [each.state for each in mounted.servers.list_states()] == [State.CLOSED]
    assert (await mounted.run("raw__family"))[0] == "ServerDownError"


# Holds: mcp-9
async def test_a_server_gets_its_own_variables_and_no_keys_of_ours(
    mount: Mount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-ours")
    monkeypatch.setenv("ITS_SECRET", "named by the entry")
    (tmp_path / "here").mkdir()
    env = {"OWN": "yes", "PASSED": "${ITS_SECRET}", "REST": "${NOT_SET:-default}"}
    entry = run_raw("tools=environment,folder", env=env, cwd=str(tmp_path / "here"))
    mounted = await mount({"raw": entry}, redact="off")
    await mounted.settle()
    variables: dict[str, str] = json.loads(await mounted.run("raw__environment"))

    assert {key: variables.get(key) for key in ("OWN", "PASSED", "REST")} == {
        "OWN": "yes", "PASSED": "named by the entry", "REST": "default",
    }  # fmt: skip
    assert "sk-of-ours" not in json.dumps(variables)
    assert "ITS_SECRET" not in variables
    assert await mounted.run("raw__folder") == str(tmp_path / "here")


# Holds: mcp-10
async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(
    mount: Mount, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    mounted = await mount({"raw": run_raw(f"note={note}", "tools=cancelled,echo")})
    await mounted.settle()
    async with anyio.create_task_group() as group:
        group.start_soon(mounted.run, "raw__cancelled")
        await mounted.wait_for(lambda: "raw__later" in mounted.tools)
        group.cancel_scope.cancel()

    assert await mounted.run("raw__echo") == "done"
    assert json.loads(note.read_text())["requestId"]


def test_waits_grow_and_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Middle(world.World):
        def random(self) -> float:
            return 1.0

    with world.use(Middle()):
        waits = [choose_wait(failures) for failures in (0, 1, 2, 6, 7, 10_000)]

    assert waits == [0.5, 1, 2, 32, 60, 60]


async def test_keys_of_other_hosts_are_a_warning(
    mount: Mount, caplog: pytest.LogCaptureFixture
) -> None:
    await mount({"raw": run_raw(autoApprove=["x"], disabled=False)})

    assert [each.message for each in caplog.records] == [
        "tool-mcp ignores the unknown key `autoApprove` of the server `raw`"
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "either a `command` or a `url`"),
        ({"command": "a", "url": "http://b"}, "either a `command` or a `url`"),
        ({"type": "http", "command": "a"}, "`type` is `http`"),
        ({"type": "sse", "url": "http://b"}, "streamable-http"),
        ({"command": 3}, "command"),
    ],
)
async def test_an_entry_that_is_none_is_refused(mount: Mount, entry: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"tool-mcp: .*servers") as caught:
        await mount({"bad": entry})

    assert said in str(caught.value)


async def test_a_server_that_is_disabled_is_left_out(mount: Mount) -> None:
    mounted = await mount({"off": {"command": sys.executable, "disabled": True}})

    assert mounted.tools == {}
