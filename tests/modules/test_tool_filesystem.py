"""`read_file` and `list_directory`, against what plain Python reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools import filesystem

Tools = dict[str, Any]


@pytest.fixture
def mounted() -> Callable[..., Awaitable[Tools]]:
    async def mount(root: Path | None, working: Path | None = None) -> Tools:
        coordinator = ModuleCoordinator()
        if working is not None:
            coordinator.register_capability("session.working_dir", str(working))
        config = None if root is None else {"root": str(root)}
        assert await filesystem.mount(coordinator, config) is None
        return coordinator.get("tools")

    return mount


def failure(result: ToolResult) -> str:
    assert (result.success, result.output) == (False, result.error and result.error["message"])
    return str(result.output)


async def test_a_file_is_shown_whole(mounted: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes("één\r\ntwee".encode())
    tools = await mounted(tmp_path)
    assert await tools["read_file"].execute({"path": "./notes.txt"}) == ToolResult(
        output={
            "path": "notes.txt",
            "bytes": 11,
            "total_lines": 2,
            "offset": 1,
            "shown_lines": 2,
            "content": "één\r\ntwee",
            "truncated": False,
        }
    )


@given(
    # Neither binary nor an image or a PDF.
    st.binary(max_size=300).filter(
        lambda content: b"\0" not in content and not content.startswith((b"GIF8", b"%PDF"))
    ),
    st.integers(1, 12),
    st.integers(0, 12),
)
def test_any_part_of_any_file_is_shown(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, offset: int, limit: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "any").write_bytes(content)
    lines = content.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + lines[-1:] * (lines[-1] != b"")
    shown = lines[offset - 1 : offset - 1 + limit]
    tool = filesystem.ReadFile(PathPolicy(folder))
    result = anyio.run(tool.execute, {"path": "any", "offset": offset, "limit": limit})
    assert result.output == {
        "path": "any",
        "bytes": len(content),
        "total_lines": len(lines),
        "offset": offset,
        "shown_lines": len(shown),
        "content": b"".join(shown).decode("utf-8", "replace"),
        "truncated": offset - 1 + limit < len(lines),
    }


@pytest.mark.parametrize(
    ("content", "total"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\nb\n", 2), (b"a\n\n", 2)],
)
async def test_a_last_line_counts_with_and_without_a_line_break(
    mounted: Any, tmp_path: Path, content: bytes, total: int
) -> None:
    (tmp_path / "text").write_bytes(content)
    read = (await mounted(tmp_path))["read_file"]
    whole = (await read.execute({"path": "text"})).output
    assert (whole["total_lines"], whole["shown_lines"], whole["truncated"]) == (total, total, False)
    first = (await read.execute({"path": "text", "limit": 1})).output
    assert (first["total_lines"], first["shown_lines"]) == (total, min(total, 1))
    last = (await read.execute({"path": "text", "offset": max(total, 1)})).output
    assert (last["total_lines"], last["shown_lines"]) == (total, min(total, 1))


async def test_a_long_file_is_cut_at_2000_lines_and_a_quarter_megabyte(
    mounted: Any, tmp_path: Path
) -> None:
    (tmp_path / "lines").write_bytes(b"line\n" * 5000)
    (tmp_path / "wide").write_bytes((b"x" * 999 + b"\n") * 1000)
    (tmp_path / "single").write_bytes("é".encode() * 200_000)
    read = (await mounted(tmp_path))["read_file"]
    lines = (await read.execute({"path": "lines"})).output
    assert (lines["total_lines"], lines["shown_lines"], lines["truncated"]) == (5000, 2000, True)
    wide = (await read.execute({"path": "wide"})).output
    # As JSON each line takes 1,001 bytes, and each `é` six.
    assert (wide["shown_lines"], len(wide["content"])) == (261, 261_000)
    assert (wide["total_lines"], wide["bytes"], wide["truncated"]) == (1000, 1_000_000, True)
    assert wide["omitted"] == {"lines": 739}
    single = (await read.execute({"path": "single"})).output
    assert set(single["content"]) == {"é"}
    assert 43_000 < len(single["content"]) < 256 * 1024 / 6
    assert (single["shown_lines"], single["truncated"]) == (1, True)
    assert single["omitted"] == {"lines": 1}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
async def test_entries_are_listed_as_what_they_are(mounted: Any, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"12345")
    (tmp_path / ".git").mkdir()
    (tmp_path / "two\nlines").write_bytes(b"")
    (tmp_path / "caf\udce9").write_bytes(b"1")
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    tools = await mounted(tmp_path)
    expected = [
        {"name": ".git", "type": "directory", "bytes": 0},
        {"name": "b.txt", "type": "file", "bytes": 5},
        {"name": "caf\\xe9", "type": "file", "bytes": 1},
        {"name": "link", "type": "link", "bytes": 0},
        {"name": "pipe", "type": "other", "bytes": 0},
        {"name": "two\nlines", "type": "file", "bytes": 0},
    ]
    result = await tools["list_directory"].execute({})
    assert result == ToolResult(
        output={"path": ".", "total": 6, "entries": expected, "truncated": False}
    )
    result.model_dump_json()


async def test_a_long_listing_is_cut_and_counted_whole(mounted: Any, tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"{number:04}").touch()
    output = (await (await mounted(tmp_path))["list_directory"].execute({"path": "."})).output
    assert (output["total"], len(output["entries"]), output["truncated"]) == (1001, 1000, True)


@pytest.mark.parametrize(
    ("input", "message"),
    [
        ({}, "`path` is missing (must be text)"),
        ({"path": 3}, "`path` is 3 (must be text)"),
        (
            {"path": "a", "limit": -1},
            "`limit` is -1 (must be a whole number, at least 0, at most 1,000,000)",
        ),
        (
            {"path": "a", "offset": 0},
            "`offset` is 0 (must be a whole number, at least 1, at most 9,007,199,254,740,992)",
        ),
        (
            {"path": "a", "limit": True},
            "`limit` is True (must be a whole number, at least 0, at most 1,000,000)",
        ),
        ({"path": "a", "file": 1}, "`file` is unknown (known: `limit`, `offset`, `path`)"),
        ("a", "the arguments are 'a' (must be an object)"),
        ({"path": "binary"}, "`binary` is a binary file (NUL byte at 0), not text"),
        ({"path": "none"}, "no file or directory `none` in `{root}`"),
        ({"path": "."}, "`.` is a directory, not a regular file"),
        ({"path": "../x"}, "path `../x` leads outside the root `{root}`"),
        ({"path": "out"}, "path `out` leads outside the root `{root}`"),
        ({"path": ""}, "the path is empty (`.` names the root)"),
    ],
)
async def test_what_is_wrong_is_told_and_not_raised(
    mounted: Any,
    tmp_path: Path,
    make_link: Callable[[Path, str], None],
    input: Any,
    message: str,
) -> None:
    (tmp_path / "binary").write_bytes(b"\0")
    if "`out`" in message:
        make_link(tmp_path / "out", "/etc/passwd")
    read = (await mounted(tmp_path))["read_file"]
    assert failure(await read.execute(input)) == message.format(root=tmp_path)


async def test_the_folder_is_the_configured_one_or_the_sessions(
    mounted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("configured", "session", "process"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    monkeypatch.chdir(tmp_path / "process")

    async def listed(*folders: Path | None) -> list[str]:
        output = (await (await mounted(*folders))["list_directory"].execute({})).output
        return [entry["name"] for entry in output["entries"]]

    assert await listed(tmp_path / "configured", tmp_path / "session") == ["configured"]
    assert await listed(Path("../configured"), tmp_path / "session") == ["configured"]
    assert await listed(None, tmp_path / "session") == ["session"]
    assert await listed(None) == ["process"]
    with pytest.raises(FileNotFoundError, match="no file or directory"):
        await mounted(tmp_path / "nothing")
    with pytest.raises(
        TypeError, match=r"tool-filesystem: `root` is 3 \(must be the path of a folder\)"
    ):
        await filesystem.mount(ModuleCoordinator(), {"root": 3})


async def test_a_tool_tells_what_it_is(mounted: Any, tmp_path: Path) -> None:
    read = (await mounted(tmp_path))["read_file"]
    schema = read.input_schema
    assert (read.name, schema["required"]) == ("read_file", ["path"])
    assert schema["properties"]["limit"] == {
        "type": "integer",
        "description": "The most lines to show, or pages of a PDF.",
        "default": 2000,
        "minimum": 0,
        "maximum": 1_000_000,
    }
