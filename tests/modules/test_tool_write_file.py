"""`write_file`: whole files, in the form that they have, and none that nobody has read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools import filesystem
from amplifier_modules.tools.filesystem import ReadFile, ReadRecords, WriteFile

Tools = dict[str, Any]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def tools(tmp_path: Path) -> Tools:
    coordinator = ModuleCoordinator()
    await filesystem.mount(coordinator, {"root": str(tmp_path)})
    return coordinator.get("tools")


def failure(result: ToolResult) -> tuple[str, str]:
    assert not result.success
    assert result.error is not None
    return result.error["type"], result.error["message"]


def list_tree(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_a_module_that_is_read_only_has_no_tool_that_writes(tmp_path: Path) -> None:
    coordinator = ModuleCoordinator()
    await filesystem.mount(coordinator, {"root": str(tmp_path), "read_only": True})
    assert list(coordinator.get("tools")) == ["read_file", "list_directory"]


async def test_a_new_file_needs_no_read_and_its_folders_are_made(
    tools: Tools, tmp_path: Path
) -> None:
    result = await tools["write_file"].execute({"path": "docs/a.md", "content": "één\ntwee"})
    assert result == ToolResult(
        output={
            "path": "docs/a.md",
            "kind": "created",
            "bytes": 10,
            "lines_added": 2,
            "lines_removed": 0,
        }
    )
    assert (tmp_path / "docs/a.md").read_bytes() == "één\ntwee".encode()
    assert os.listdir(tmp_path / "docs") == ["a.md"]


async def test_a_file_that_was_read_is_replaced_and_the_change_is_shown(
    tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    (tmp_path / "a.txt").chmod(0o640)
    mode = (tmp_path / "a.txt").stat().st_mode
    await tools["read_file"].execute({"path": "a.txt", "limit": 1})
    result = await tools["write_file"].execute({"path": "a.txt", "content": "one\n2\nthree"})
    assert result == ToolResult(
        output={
            "path": "a.txt",
            "kind": "modified",
            "bytes": 11,
            "lines_added": 2,
            "lines_removed": 2,
            "diff": (
                "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n"
                "\\ No newline at end of file\n"
            ),
        }
    )
    assert (tmp_path / "a.txt").read_bytes() == b"one\n2\nthree"
    assert (tmp_path / "a.txt").stat().st_mode == mode


# Holds: sink-61
async def test_a_file_that_nobody_has_read_stays(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"theirs")
    for path in ("a.txt", "./a.txt", str(tmp_path / "a.txt")):
        result = await tools["write_file"].execute({"path": path, "content": "ours"})
        assert failure(result) == (
            "FileNotReadError",
            "`a.txt` was not read in this session (call `read_file` first)",
        )
    assert (tmp_path / "a.txt").read_bytes() == b"theirs"


# Holds: sink-61
async def test_a_file_that_has_changed_stays_and_the_change_is_told(
    tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n")
    await tools["read_file"].execute({"path": "a.txt"})
    (tmp_path / "a.txt").write_bytes(b"one\n2\n")
    result = await tools["write_file"].execute({"path": "a.txt", "content": "ours"})
    assert failure(result) == (
        "FileChangedError",
        (
            "`a.txt` has changed since it was read (call `read_file` again):\n"
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        ),
    )
    assert (tmp_path / "a.txt").read_bytes() == b"one\n2\n"
    await tools["read_file"].execute({"path": "a.txt"})
    assert (await tools["write_file"].execute({"path": "a.txt", "content": "ours"})).success


# Holds: sink-61
async def test_a_file_that_appears_or_changes_while_it_is_written_stays(tmp_path: Path) -> None:
    records = ReadRecords()
    policy = PathPolicy(tmp_path)

    class Meddling(Event):
        """Somebody writes the file between the check and the write."""

        def is_set(self) -> bool:
            (tmp_path / "a.txt").write_bytes(b"theirs")
            return False

    tool = WriteFile(policy, records=records)
    arguments = tool._arguments.model_validate({"path": "a.txt", "content": "ours"})  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OSError, match=r"`a\.txt` exists already, so it was not changed"):
        tool.run(arguments, Meddling())
    (tmp_path / "a.txt").write_bytes(b"mine")
    records.find_record().note("a.txt", b"mine")
    with pytest.raises(OSError, match=r"`a\.txt` has another content, so it was not changed"):
        tool.run(arguments, Meddling())
    assert (tmp_path / "a.txt").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["a.txt"]


async def test_what_the_tools_wrote_may_be_written_again(tools: Tools, tmp_path: Path) -> None:
    for content in ("1", "2", "3"):
        assert (await tools["write_file"].execute({"path": "a", "content": content})).success
    again = await tools["write_file"].execute({"path": "a", "content": "3"})
    assert again.output["kind"] == "unchanged"
    assert (tmp_path / "a").read_bytes() == b"3"


async def test_a_stopped_call_writes_nothing(tmp_path: Path) -> None:
    tool = WriteFile(PathPolicy(tmp_path))
    arguments = tool._arguments.model_validate({"path": "a.txt", "content": "x"})  # pyright: ignore[reportPrivateUsage]
    stop = Event()
    stop.set()
    with pytest.raises(InterruptedError, match=r"writing `a\.txt` was stopped before it began"):
        tool.run(arguments, stop)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny", b"x\r\ny"),
        (b"a\nb\n", "x\r\ny\n", b"x\ny\n"),
        (b"a\r\nb\r\nc\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a", "x\r\ny\n", b"x\r\ny\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        (b"a\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
    ],
)
async def test_line_ends_and_the_mark_of_the_encoding_are_kept(
    tools: Tools, tmp_path: Path, before: bytes, content: str, after: bytes
) -> None:
    (tmp_path / "a.txt").write_bytes(before)
    await tools["read_file"].execute({"path": "a.txt"})
    assert (await tools["write_file"].execute({"path": "a.txt", "content": content})).success
    assert (tmp_path / "a.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("input", "type", "message"),
    [
        ({"path": "a"}, "invalid_arguments", "`content` is missing (must be text)"),
        ({"path": "../a"}, "PathDenied", "path `../a` leads outside the root `{root}`"),
        ({"path": "out"}, "PathDenied", "path `out` leads outside the root `{root}`"),
        ({"path": "."}, "IsADirectoryError", "`.` is a directory, not a regular file"),
        (
            {"path": ".env"},
            "PathProtected",
            "`.env` may not be written without approval: `.env` holds secrets",
        ),
        (
            {"path": ".git/hooks/pre-commit"},
            "PathProtected",
            "`.git/hooks/pre-commit` may not be written without approval: `.git` *",
        ),
        ({"path": "latin"}, "NotUtf8Error", "`latin` is not UTF-8 (byte 0xe9 at 3)"),
        (
            {"path": "new", "content": "a\0"},
            "NotUtf8Error",
            "`content` has U+0000 at character 1, which no text file may have",
        ),
        (
            {"path": "new", "content": "\ud800"},
            "NotUtf8Error",
            "`content` has U+D800 at character 0, which no text file may have",
        ),
        (
            {"path": "large"},
            "FileTooLargeError",
            "`large` is larger than 8 MiB, the most that is changed",
        ),
    ],
)
async def test_what_is_refused_is_told_and_changes_nothing(
    tools: Tools,
    tmp_path: Path,
    make_link: Callable[[Path, str], None],
    input: dict[str, Any],
    type: str,
    message: str,
) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(8 * 1024 * 1024 + 1)
    if "out" in message:
        make_link(tmp_path / "out", "../elsewhere")
    before = list_tree(tmp_path)
    await tools["read_file"].execute({"path": "latin"})
    arguments = input if type == "invalid_arguments" else {"content": "x", **input}
    found = failure(await tools["write_file"].execute(arguments))
    head, star, _ = message.format(root=tmp_path).partition("*")
    assert (found[0], found[1][: len(head)] if star else found[1]) == (type, head)
    assert list_tree(tmp_path) == before


async def test_a_long_diff_is_cut_and_counted(tmp_path: Path) -> None:
    records = ReadRecords()
    policy = PathPolicy(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"old line\n" * 2000)
    await ReadFile(policy, records=records).execute({"path": "a.txt"})
    tool = WriteFile(policy, 8192, records)
    output = (await tool.execute({"path": "a.txt", "content": "new line\n" * 2000})).output
    assert (output["lines_added"], output["lines_removed"]) == (2000, 2000)
    assert output["diff"].count("\n") + output["omitted"]["diff_lines"] == 4003
    assert len(ToolResult(output=output).model_dump_json()) < 8192


@given(st.text(st.sampled_from("ab\n\r\ufeff"), max_size=12), st.text(max_size=12))
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, before: str, content: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "written"
    folder.mkdir(exist_ok=True)
    (folder / "a").write_bytes(before.encode())
    policy, records = PathPolicy(folder), ReadRecords()
    records.find_record().note("a", before.encode())
    result = anyio.run(
        WriteFile(policy, records=records).execute, {"path": "a", "content": content}
    )
    found = (folder / "a").read_bytes().decode()
    if not result.success:
        assert found == before
        return
    assert found.startswith("\ufeff") or not before.startswith("\ufeff")
    assert join_ends(found) == join_ends(content)


def join_ends(text: str) -> str:
    """A text without the mark of its encoding and without what may be part of a line end."""
    return re.sub("\r+\n", "\n", text.removeprefix("\ufeff"))
