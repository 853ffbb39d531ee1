"""Files of servers that the user names: the servers are the user's own word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mounted_servers import Mount

from amplifier_core.llm_errors import ConfigurationError

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
]


def write_file(path: Path, **servers: Any) -> str:
    path.write_text(json.dumps({"mcpServers": servers, "other": 1}))
    return str(path)


# Holds: mcp-33
async def test_servers_of_files_are_connected_and_later_ones_count(
    mount: Mount, in_process: dict[str, Callable[[], Any]], tmp_path: Path
) -> None:
    first = write_file(tmp_path / "1", a={"command": "a1"}, b={"command": "b1"})
    second = write_file(tmp_path / "2", b={"command": "b2"}, c={"command": "c2"})
    asked: list[str] = []

    def refuse(command: str) -> Callable[[], Any]:
        def open() -> Any:
            asked.append(command)
            raise OSError("not here")

        return open

    for command in ("a1", "b1", "b2", "c2", "c3"):
        in_process[command] = refuse(command)
    m = await mount({"c": {"command": "c3"}}, server_files=[first, second])
    await m.wait_for(lambda: len(set(asked)) == 3)

    assert sorted(set(asked)) == ["a1", "b2", "c3"]
    assert [each.name for each in m.servers.list_states()] == ["a", "b", "c"]


# Holds: mcp-33
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        ("{", "it is no file of servers: "),
        ("{}", "it has no object `mcpServers`"),
        ('{"mcpServers": {"a": {"url": 5}}}', "the server `a`: `url` is 5"),
    ],
)
async def test_a_file_of_the_user_that_cannot_be_used_is_an_error(
    mount: Mount, tmp_path: Path, content: str | None, problem: str
) -> None:
    path = tmp_path / "servers.json"
    if content is not None:
        path.write_text(content)

    with pytest.raises(ConfigurationError) as caught:
        await mount({}, server_files=[str(path)])

    assert str(caught.value).startswith(f"tool-mcp: the file `{path}` cannot be used: {problem}")
