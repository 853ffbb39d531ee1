"""The servers of a project: none is connected before a yes to exactly it, and then in the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mounted_servers import RAW, Mount, Mounted

from amplifier_modules.hooks.project_answers import remember_answers
from amplifier_modules.sandbox import tiers
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import FoundTier, find_tier
from amplifier_modules.tools.mcp import State
from amplifier_modules.tools.mcp.project.project_servers import (
    ProjectServers,
    find_answers,
    read_project_servers,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("mcp-project-servers")]

needs_sandbox = pytest.mark.skipif(
    find_tier().tier is Tier.NONE, reason="nothing keeps commands to the project here"
)

on_one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def write_entry(*words: str, **more: Any) -> dict[str, Any]:
    """The entry of a server that is a file of the project."""
    return {"command": sys.executable, "args": ["-S", "-E", "server.py", *words], **more}


class Project:
    """A folder as somebody has cloned it, with a server that it names."""

    def __init__(self, mount: Mount, root: Path, state: Path) -> None:
        self.root = root.resolve()
        self.state = state
        self._mount = mount
        shutil.copy(RAW, self.root / "server.py")

    def write(self, *words: str, **more: Any) -> Project:
        return self.write_servers(one=write_entry(*words, **more))

    def write_servers(self, **servers: Any) -> Project:
        (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        return self

    def read(self) -> ProjectServers:
        return read_project_servers(self.root)

    def answer(self, *, agreed: bool) -> None:
        digests = [each.digest for each in self.read().entries]
        remember_answers(digests, self.root, find_answers(self.state), agreed=agreed)

    async def mount(self, servers: dict[str, Any] | None = None, **settings: Any) -> Mounted:
        given = {"project_servers": True, "state_folder": str(self.state), **settings}
        return await self._mount(servers or {}, folder=self.root, **given)


@pytest.fixture
def project(mount: Mount, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(mount, tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("state"))


def list_files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


# Holds: mcp-26
@pytest.mark.parametrize("agreed", [None, False])
@on_one_loop
async def test_a_cloned_folder_does_nothing_before_a_yes(
    project: Project, caplog: pytest.LogCaptureFixture, agreed: bool | None
) -> None:
    project.write(f"count={project.root / 'starts'}")
    if agreed is not None:
        project.answer(agreed=agreed)
    before = list_files(project.root), list_files(project.state)

    m = await project.mount()

    assert (m.tools, m.events, m.coordinator.get_capability("mcp.servers")) == ({}, [], None)
    assert (list_files(project.root), list_files(project.state)) == before
    told = (
        "tool-mcp: the MCP server `one` of `.mcp.json` is not connected until you agree: run"
        " `amplifier-core mcp ask` in its folder"
    )
    warnings = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert warnings == ([told] if agreed is None else [])


# Holds: mcp-26
@on_one_loop
async def test_a_yes_counts_only_with_the_setting(project: Project) -> None:
    project.write().answer(agreed=True)

    assert (await project.mount(state_folder=None)).tools == {}
    assert list((await project.mount(project_servers=False)).tools) == ["mcp_resources"]


# Holds: mcp-27
@needs_sandbox
async def test_a_server_with_a_yes_runs_in_the_sandbox(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "starts"
    monkeypatch.setenv("OTHER_TOKEN", "other")
    monkeypatch.setenv("MY_TOKEN", "mine-and-long")
    server = project.root / "server.py"
    server.write_text(
        f"try: open({str(outside)!r}, 'w')\nexcept OSError: pass\nopen('made', 'w')\n"
        + server.read_text()
    )
    project.write("tools=environment,folder", env={"GIVEN": "${MY_TOKEN}"}).answer(agreed=True)

    m = await project.mount()
    await m.settle()

    given = json.loads(await m.run("one__environment"))
    assert given["GIVEN"] == "[REDACTED:secret]"
    assert given["CLAUDE_PROJECT_DIR"] == str(project.root)
    assert not {"OTHER_TOKEN", "MY_TOKEN"} & given.keys()
    assert await m.run("one__folder") == str(project.root)
    assert (project.root / "made").exists()
    assert not outside.exists()


# Holds: mcp-27
@needs_sandbox
async def test_a_server_in_the_sandbox_dies_floods_and_comes_again(project: Project) -> None:
    project.write("tools=echo,die,flood").answer(agreed=True)
    m = await project.mount()
    await m.settle()

    lost = "the connection was lost"
    assert (
        lost + ": it ended with code 3: it hurts; it may have done" in (await m.run("one__die"))[1]
    )
    assert await m.run("one__echo") == "done"
    assert "a message of more than" in (await m.run("one__flood"))[1]
    assert await m.run("one__echo") == "done"


# Holds: mcp-27
@needs_sandbox
@on_one_loop
async def test_a_server_in_the_sandbox_that_cannot_be_started_says_why(project: Project) -> None:
    project.write_servers(one={"command": "no-such-program"}, two={"command": "-c"})
    project.answer(agreed=True)

    m = await project.mount()
    await m.settle(State.DOWN, State.UNUSABLE)

    problems = [each.problem for each in m.servers.list_states()]
    assert "exec: no-such-program: not found" in problems[0]
    assert problems[1] == "EntryError: `-c` is no command"


# Holds: mcp-28
@needs_sandbox
@on_one_loop
async def test_a_server_whose_file_has_changed_is_not_started_again(project: Project) -> None:
    project.write("tools=echo,die").answer(agreed=True)
    m = await project.mount()
    await m.settle()
    (project.root / "server.py").write_text("open('changed', 'w')")

    await m.run("one__die")
    await m.settle(State.UNUSABLE)

    assert "has changed since the user agreed to it" in m.servers.list_states()[0].problem
    assert not (project.root / "changed").exists()
    assert (await project.mount()).tools == {}


# Holds: mcp-28
@needs_sandbox
@on_one_loop
async def test_the_entry_that_was_read_is_the_one_that_is_started(project: Project) -> None:
    project.write("tools=echo,die").answer(agreed=True)
    m = await project.mount()
    await m.settle()
    project.write("tools=other")

    await m.run("one__die")

    assert await m.run("one__echo") == "done"


# Holds: mcp-28
@on_one_loop
async def test_any_change_is_another_hash(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()

    def expect_another(change: Callable[[], object]) -> None:
        change()
        [entry] = project.read().entries
        assert entry.digest not in seen
        seen.add(entry.digest)

    expect_another(lambda: project.write(env={"A": "${TOKEN}"}))
    expect_another(lambda: project.write("x", env={"A": "${TOKEN}"}))
    expect_another(lambda: project.write(env={"A": "${OTHER}"}))
    expect_another(lambda: project.write(env={"B": "${OTHER}"}))
    expect_another(lambda: project.write(cwd="sub"))
    expect_another(lambda: project.write(alwaysAllow=["echo"]))
    expect_another(lambda: project.write_servers(two=write_entry()))
    expect_another(lambda: (project.root / "server.py").write_text("changed"))
    expect_another(lambda: project.write_servers(two={"command": "sh", "cwd": "sub"}))
    expect_another(lambda: project.write_servers(two={"command": "./run", "cwd": "sub"}))
    (project.root / "sub").mkdir()
    expect_another(lambda: (project.root / "sub" / "run").write_text("1"))
    expect_another(lambda: project.write(env={"NODE_OPTIONS": "--require ./sub/hook.js"}))
    expect_another(lambda: (project.root / "sub" / "hook.js").write_text("1"))
    monkeypatch.setenv("PART", "sub")
    expect_another(lambda: project.write(env={"X": "${PART}/run"}))
    expect_another(lambda: (project.root / "sub" / "run").write_text("2"))
    address: dict[str, Any] = {"url": "https://a.example/mcp", "headers": {"A": "1"}}
    expect_another(lambda: project.write_servers(one=address))
    expect_another(lambda: project.write_servers(one={**address, "url": "https://b.example/mcp"}))
    expect_another(lambda: project.write_servers(one={**address, "headers": {"A": "2"}}))


# Holds: mcp-28
@on_one_loop
async def test_the_value_of_a_variable_is_no_part_of_the_hash(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(env={"A": "${TOKEN}"})
    found: set[str] = set()
    for value in ("one", "two"):
        monkeypatch.setenv("TOKEN", value)
        found.add(project.read().entries[0].digest)

    assert len(found) == 1


# Holds: mcp-29
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not used: "),
        ("[]", "is not used: it is no object"),
        ("{}", "is not used: it has no object `mcpServers`"),
        ("[" * 100_000, "is not used: "),
        (" " * 1_100_000, "is not used: it has more than 1,048,576 bytes"),
        ('{"mcpServers": {"a": 5}}', "the server `a` of `.mcp.json` is never connected: it is no"),
        ('{"mcpServers": {"a": {}}}', "a server has either a `command` or a `url`"),
        ('{"mcpServers": {"a`\\u001b[2J": {"command": "b"}}}', "a name is plain text"),
        (
            json.dumps({"mcpServers": {"a": {"command": "b", "args": ["c" * 20_000]}}}),
            "it has more than 16,384 characters",
        ),
    ],
)
@on_one_loop
async def test_what_cannot_be_used_is_one_warning(
    project: Project, caplog: pytest.LogCaptureFixture, content: str, problem: str
) -> None:
    (project.root / ".mcp.json").write_text(content)

    m = await project.mount()

    assert m.tools == {}
    [warning] = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert problem in warning
    assert warning.isprintable()


# Holds: mcp-29
@on_one_loop
async def test_the_file_is_a_plain_one_of_the_project(project: Project) -> None:
    path = project.root / ".mcp.json"
    path.symlink_to(RAW)
    assert "leads outside the root" in project.read().problems[0]
    path.unlink()
    os.mkfifo(path)
    assert "not a regular file" in project.read().problems[0]
    path.unlink()
    assert project.read() == ProjectServers()


# Holds: mcp-30
@on_one_loop
async def test_without_a_sandbox_a_server_runs_as_the_user_after_another_yes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("tools=folder").answer(agreed=True)
    confined = [each.is_confined for each in project.read().entries]
    monkeypatch.setattr(tiers, "find_tier", lambda: FoundTier(Tier.NONE))

    if confined == [True]:
        assert (await project.mount()).tools == {}
    project.answer(agreed=True)
    m = await project.mount()
    await m.settle()

    assert await m.run("one__folder") == str(project.root)


# Holds: mcp-31
@on_one_loop
async def test_a_server_of_the_user_goes_before_one_of_the_project(
    project: Project, in_process: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    project.write().answer(agreed=True)

    m = await project.mount({"one": {"command": "mine", "disabled": True}})

    assert m.tools == {}
    assert caplog.messages == [
        "tool-mcp: the server `one` of `.mcp.json` is left out, as you have one of this name"
    ]


# Holds: mcp-32
@needs_sandbox
@on_one_loop
async def test_what_is_known_of_a_server_is_of_one_project(
    project: Project, mount: Mount, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Project(mount, tmp_path_factory.mktemp("project"), project.state)
    for each in (project, other):
        each.write("tools=echo").answer(agreed=True)
    m = await project.mount()
    await m.settle()
    await m.wait_for(lambda: "one__echo" in m.tools)

    assert "one__echo" in (await project.mount()).tools
    assert "one__echo" not in (await other.mount()).tools


# Holds: mcp-26
@on_one_loop
async def test_the_address_of_a_project_is_not_reached_before_a_yes(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        project.write_servers(far={"url": f"http://127.0.0.1:{port}/mcp"})
        await project.mount()
        with pytest.raises(BlockingIOError):
            listener.accept()

        project.answer(agreed=True)
        await project.mount()
        with anyio.fail_after(20):
            await anyio.wait_readable(listener)
        listener.accept()[0].close()
