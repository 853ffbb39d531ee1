"""The mistakes of the guide with MCP servers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mistakes import mistake, model

from amplifier_agent import Agent, mcp
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

PAGE = "mcp"


@contextmanager
def own_caches() -> Iterator[None]:
    """Keep what is known of servers apart from that of the user."""
    before = os.environ.get("XDG_CACHE_HOME")
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before


def run(**entry: Any) -> None:
    mount({"servers": {"files": entry}})


def mount(config: dict[str, Any], folder: str = ".") -> None:
    tools = [{"module": "tool-mcp", "config": config}]
    with own_caches():
        Agent(model(), tools=tools, directory=folder).run_sync("go")


@mistake(PAGE, "a server that cannot be started")
def _() -> None:
    run(command="no-such-program")


@mistake(PAGE, "a variable that is not set")
def _() -> None:
    run(command="x", args=["${NO_SUCH_VARIABLE}"])


@mistake(PAGE, "an entry with neither `command` nor `url`")
def _() -> None:
    run()


@mistake(PAGE, "a key of another host in an entry")
def _() -> None:
    run(command="no-such-program", autoApprove=["x"])


@mistake(PAGE, "a server of a project that nobody has agreed to")
def _() -> None:
    with TemporaryDirectory() as folder:
        content = {"mcpServers": {"files": {"command": "no-such-program"}}}
        Path(folder, ".mcp.json").write_text(json.dumps(content))
        mount({"project_servers": True, "state_folder": f"{folder}/state"}, folder)


@mistake(PAGE, "a file of servers that is not there")
def _() -> None:
    mount({"server_files": ["no-such.json"]})


@mistake(PAGE, "a server that needs a login")
def _() -> None:
    with RecordingServer() as server, own_caches():
        server.respond(Reply(401))
        servers = {"tickets": {"url": f"{server.url}/mcp"}}
        tools = [{"module": "tool-mcp", "config": {"servers": servers}}]
        Agent(model(), tools=tools).run_sync("go")


@mistake(PAGE, "two servers of one name in an agent")
def _() -> None:
    Agent(model(), tools=[mcp("files"), mcp("files")])
