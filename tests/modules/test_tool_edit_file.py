"""`edit_file`: exact edits, all or none, that change nothing else."""

from __future__ import annotations

import os
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
from amplifier_modules.tools.filesystem import EditFile, ReadRecords

Tools = dict[str, Any]


@pytest.fixture
async def tools(tmp_path: Path) -> Tools:
    coordinator = ModuleCoordinator()
    await filesystem.mount(coordinator, {"root": str(tmp_path)})
    return coordinator.get("tools")


async def edit(tools: Tools, *edits: dict[str, Any], path: str = "a.py") -> ToolResult:
    return await tools["edit_file"].execute({"path": path, "edits": list(edits)})


def failure(result: ToolResult) -> tuple[str, str]:
    assert not result.success
    assert result.error is not None
    return result.error["type"], result.error["message"]


async def test_edits_are_made_in_order_and_shown(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"a = 1\nb = 2\n")
    await tools["read_file"].execute({"path": "a.py"})
    result = await edit(
        tools, {"old": "a = 1", "new": "a = 2"}, {"old": "= 2", "new": "= 3", "replace_all": True}
    )
    assert result == ToolResult(
        output={
            "path": "a.py",
            "kind": "modified",
            "bytes": 12,
            "lines_added": 2,
            "lines_removed": 2,
            "diff": "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-a = 1\n-b = 2\n+a = 3\n+b = 3\n",
        }
    )
    assert (tmp_path / "a.py").read_bytes() == b"a = 3\nb = 3\n"
    assert (await edit(tools, {"old": "b = 3\n", "new": ""})).success, "its own write is known"
    assert (tmp_path / "a.py").read_bytes() == b"a = 3\n"


@pytest.mark.parametrize(
    ("edits", "type", "message"),
    [
        (
            [{"old": "nothing like it", "new": "x"}],
            "NoMatchError",
            "`old` is not in `a.py` (no line is like it; read the file again)",
        ),
        (
            [{"old": "def run():\n  return 1", "new": "x"}],
            "NoMatchError",
            "`old` is not in `a.py` (lines 1 to 2 differ from it only in blanks)",
        ),
        (
            [{"old": "    return  1", "new": "x"}],
            "NoMatchError",
            "`old` is not in `a.py` (parts of line 2 differ from it only in blanks)",
        ),
        (
            [{"old": "def walk() -> None:", "new": "x"}],
            "NoMatchError",
            "`old` is not in `a.py` (most like it: line 4)",
        ),
        (
            [{"old": "    return", "new": "x"}],
            "SeveralMatchesError",
            "`old` is in `a.py` 2 times, at lines 2, 5*",
        ),
        (
            [{"old": "aa", "new": "x"}],
            "SeveralMatchesError",
            "`old` is in `a.py` 2 times, at line 7*",
        ),
        (
            [{"old": "return 1", "new": "return 3"}, {"old": "return 1", "new": "x"}],
            "NoMatchError",
            "`old` of edit 2 is not in `a.py` (most like it: lines 2, 5)",
        ),
        ([{"old": "aaa", "new": "aaa"}], "NoChangeError", "`old` and `new` are the same text"),
        (
            [{"old": "aaa", "new": "a\0"}],
            "NotUtf8Error",
            "`new` has U+0000 at character 1, which no text file may have",
        ),
    ],
)
async def test_an_edit_that_cannot_be_made_says_where_to_look_and_changes_nothing(
    tools: Tools, tmp_path: Path, edits: list[dict[str, Any]], type: str, message: str
) -> None:
    before = "def run():\n    return 1\n\ndef walk():\n    return 2\n\naaa\n"
    (tmp_path / "a.py").write_bytes(before.encode())
    await tools["read_file"].execute({"path": "a.py"})
    further = " (add lines around it until it is there once, or set `replace_all`)"
    expected = message.replace("*", further)
    assert failure(await edit(tools, *edits)) == (type, expected)
    assert (tmp_path / "a.py").read_bytes() == before.encode()


async def test_many_places_are_counted_and_the_first_ones_named(
    tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n" * 30)
    await tools["read_file"].execute({"path": "a.py"})
    _, message = failure(await edit(tools, {"old": "x", "new": "y"}))
    assert message.startswith(
        "`old` is in `a.py` 30 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more places"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "a.py"}, "`edits` is missing (must be a list)"),
        ({"path": "a.py", "edits": []}, "`edits`*"),
        ({"path": "a.py", "edits": [{"old": "", "new": "x"}]}, "`edits*old`*"),
        ({"path": "a.py", "edits": [{"old": "x"}]}, "`edits*new`*"),
    ],
)
async def test_wrong_arguments_are_told(
    tools: Tools, arguments: dict[str, Any], message: str
) -> None:
    type, found = failure(await tools["edit_file"].execute(arguments))
    assert type == "invalid_arguments"
    head, _, tail = message.partition("*")
    assert found.startswith(head)
    assert tail.strip("*") in found


async def test_a_missing_file_is_not_made(tools: Tools, tmp_path: Path) -> None:
    assert failure(await edit(tools, {"old": "x", "new": "y"})) == (
        "FileNotFoundError",
        f"no file `a.py` in `{tmp_path}` (`write_file` makes one)",
    )
    assert os.listdir(tmp_path) == []


# Holds: sink-61
async def test_a_file_that_was_not_read_or_has_changed_stays(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    change = {"old": "x", "new": "y"}
    assert failure(await edit(tools, change))[0] == "FileNotReadError"
    await tools["read_file"].execute({"path": "a.py"})
    times = os.stat(tmp_path / "a.py")
    (tmp_path / "a.py").write_bytes(b"x = 2\n")
    os.utime(tmp_path / "a.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    type, message = failure(await edit(tools, change))
    assert (type, message.splitlines()[-2:]) == ("FileChangedError", ["-x = 1", "+x = 2"])
    assert (tmp_path / "a.py").read_bytes() == b"x = 2\n"


# Holds: sink-61
@given(st.binary(max_size=6), st.binary(max_size=6), st.booleans())
def test_a_file_changed_between_read_and_edit_is_never_overwritten(
    tmp_path_factory: pytest.TempPathFactory, known: bytes, found: bytes, everywhere: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "changed"
    folder.mkdir(exist_ok=True)
    (folder / "a").write_bytes(found)
    records = ReadRecords()
    records.find_record().note("a", known)
    change = {"old": "a", "new": "b", "replace_all": everywhere}
    tool = EditFile(PathPolicy(folder), records=records)
    result = anyio.run(tool.execute, {"path": "a", "edits": [change]})
    if known != found:
        assert failure(result)[0] == "FileChangedError"
    if known != found or not result.success:
        assert (folder / "a").read_bytes() == found
    assert os.listdir(folder) == ["a"]


TEXTS = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n"]), max_size=30).map("".join)
CHANGES = st.builds(
    dict,
    old=st.text(st.sampled_from("ab\n"), min_size=1, max_size=3),
    new=st.text(st.sampled_from("abc\n"), max_size=3),
    replace_all=st.booleans(),
)


def edit_plainly(text: str, changes: list[dict[str, Any]]) -> str | None:
    """The text after all edits, or None if one cannot be made."""
    for change in changes:
        old, new = change["old"], change["new"]
        text = text.replace("\r\n", "\n")
        places = [place for place in range(len(text)) if text.startswith(old, place)]
        if not places or old == new or (len(places) > 1 and not change["replace_all"]):
            return None
        text = text.replace(old, new)
    return text.replace("\r\n", "\n")


@given(TEXTS, st.lists(CHANGES, min_size=1, max_size=3), st.sampled_from(["", "\ufeff"]))
def test_edits_do_what_plain_replacing_does(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    changes: list[dict[str, Any]],
    mark: str,
) -> None:
    folder = tmp_path_factory.getbasetemp() / "edited"
    folder.mkdir(exist_ok=True)
    before = (mark + text).encode()
    (folder / "a").write_bytes(before)
    records = ReadRecords()
    records.find_record().note("a", before)
    tool = EditFile(PathPolicy(folder), records=records)
    result = anyio.run(tool.execute, {"path": "a", "edits": changes})
    after = (folder / "a").read_bytes()
    expected = edit_plainly(text, changes)
    if expected is None:
        assert (result.success, after) == (False, before)
        return
    found = after.decode()
    assert found.startswith(mark)
    assert found.removeprefix(mark).replace("\r\n", "\n") == expected
    if "\r" not in text:
        assert "\r" not in found


@given(st.lists(st.sampled_from(["a", "b", "cd", ""]), min_size=1, max_size=8), CHANGES)
def test_a_file_of_one_kind_of_line_ends_stays_one(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], change: dict[str, Any]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "wide"
    folder.mkdir(exist_ok=True)
    before = "\r\n".join([*lines, ""]).encode()
    (folder / "a").write_bytes(before)
    records = ReadRecords()
    records.find_record().note("a", before)
    anyio.run(
        EditFile(PathPolicy(folder), records=records).execute, {"path": "a", "edits": [change]}
    )
    after = (folder / "a").read_bytes()
    assert after.count(b"\r\n") == after.count(b"\n") == after.count(b"\r")


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (b"a\r\nb\nc\r\n", ("b", "B"), b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", ("a\nb\n", "a\nx\nb\n"), b"a\r\nx\nb\nc\r\n"),
        (b"a\r\nb\nc\r\n", ("b\nc", "x\ny\nz"), b"a\r\nx\ny\nz\r\n"),
        (b"a\r\nb\r\n", ("a\r\nb", "x\r\ny"), b"x\r\ny\r\n"),
        (b"a\nb\n", ("a\r\nb", "x\r\ny"), b"x\ny\n"),
        (b"\xef\xbb\xbfa\r\n", ("\ufeffa", "\ufeffb"), b"\xef\xbb\xbfb\r\n"),
        (b"\xef\xbb\xbfa", ("a", "b"), b"\xef\xbb\xbfb"),
        ("één".encode(), ("é", "e"), b"een"),
        (b"a\rb\r\n", ("b\n", "c\nd\n"), b"a\rc\r\nd\r\n"),
    ],
)
async def test_what_an_edit_does_not_name_stays_to_the_byte(
    tools: Tools, tmp_path: Path, before: bytes, change: tuple[str, str], after: bytes
) -> None:
    (tmp_path / "a.py").write_bytes(before)
    await tools["read_file"].execute({"path": "a.py"})
    result = await edit(tools, {"old": change[0], "new": change[1], "replace_all": True})
    assert result.success, result
    assert (tmp_path / "a.py").read_bytes() == after


async def test_the_schema_says_it_all_in_one_piece(tools: Tools) -> None:
    tool = tools["edit_file"]
    assert (tool.parallel, tool.read_only, tools["read_file"].read_only) == (False, False, True)
    items = tool.input_schema["properties"]["edits"]["items"]
    assert tool.input_schema["required"] == ["path", "edits"]
    assert (items["required"], items["additionalProperties"]) == (["old", "new"], False)
    assert list(items["properties"]) == ["old", "new", "replace_all"]
