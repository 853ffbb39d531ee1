"""Every result of our tools stays within its bytes, and counts what is left out."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_guard import PathPolicy
from amplifier_modules.tools import filesystem, search
from amplifier_modules.tools.result_bytes import clip_bytes

LIMITS = st.integers(4096, 9000)
ODD = [*'aé€😀\n\x01\x7f "\\', os.fsdecode(b"\xff")]
NAMES = st.lists(st.sampled_from([*ODD, ".", "long" * 9]), min_size=1, max_size=6).map("".join)
FOLDERS = st.lists(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=60, unique=True
).map(lambda paths: paths + [f"{number}{'wide' * 40}.{number}" for number in range(60)])
TEXTS = st.tuples(
    st.lists(st.sampled_from(["x" * 300, "é\x01\n", "\n", "😀" * 90, "\\" * 99]), max_size=80),
    st.integers(1, 4),
).map(lambda drawn: "".join(drawn[0] * drawn[1]).encode() + b"\xff\xff")


def plant(root: str, paths: list[str], content: bytes = b"x\n") -> None:
    for path in paths:
        try:
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_bytes(content)
        except OSError:
            continue  # a name too long, or a file where another path has a folder


def said(tool: Any, arguments: dict[str, Any], limit: int) -> dict[str, Any]:
    """What the tool says, once it is sure that it says no more than it may."""
    result = anyio.run(tool.execute, arguments)
    assert result.success, result.error
    written = result.get_serialized_output()
    assert len(written.encode()) <= limit
    assert len(json.dumps(result.output)) <= limit
    return result.output


# Holds: sink-4
@given(FOLDERS, LIMITS, st.sampled_from(["path", "size", "modified"]), st.integers(0, 200))
def test_a_glob_counts_the_files_and_extensions_that_it_leaves_out(
    paths: list[str], limit: int, sort: str, most: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        plant(root, paths)
        tool = search.Glob(PathPolicy(root), limit)
        arguments = {"pattern": "**", "sort": sort, "limit": most}
        output = said(tool, arguments, limit)
        whole = said(search.Glob(PathPolicy(root), 10**7), arguments, 10**7)
    omitted = output.get("omitted", {})
    assert (output["total"], output["total_bytes"]) == (whole["total"], whole["total_bytes"])
    assert output["files"] == whole["files"][: len(output["files"])]
    assert len(output["files"]) + omitted.get("files", 0) == min(most, output["total"])
    assert output["truncated"] == (len(output["files"]) < output["total"])
    shown = output["extensions"]
    assert list(shown.items()) == list(whole["extensions"].items())[: len(shown)]
    assert sum(shown.values()) + omitted.get("files_by_extension", 0) == output["total"]


@given(FOLDERS, TEXTS, LIMITS, st.sampled_from(["content", "files", "count"]))
def test_a_grep_counts_the_matches_that_it_leaves_out(
    paths: list[str], content: bytes, limit: int, mode: str
) -> None:
    with tempfile.TemporaryDirectory() as root:
        plant(root, paths, content)
        arguments = {"pattern": ".", "mode": mode, "limit": 1000}
        output = said(search.Grep(PathPolicy(root), limit), arguments, limit)
        whole = said(search.Grep(PathPolicy(root), 10**7), arguments, 10**7)
    kind, total = ("matches", "total_matches") if mode == "content" else ("files", "total_files")
    assert output[kind] == whole[kind][: len(output[kind])]
    assert output[total] == whole[total]
    omitted = output.get("omitted", {})
    assert len(output[kind]) + omitted.get(kind, 0) == min(1000, output[total])
    assert output["truncated"] == (len(output[kind]) < output[total])


@given(TEXTS, LIMITS, st.integers(1, 20), st.integers(0, 100))
def test_a_window_counts_the_lines_that_it_leaves_out(
    content: bytes, limit: int, offset: int, most: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root, "file").write_bytes(content)
        tool = filesystem.ReadFile(PathPolicy(root), limit)
        output = said(tool, {"path": "file", "offset": offset, "limit": most}, limit)
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines[:-1] if not lines[-1] else lines
    wanted = b"".join(lines[offset - 1 : offset - 1 + most]).decode("utf-8", "replace")
    shown = output["content"]
    assert wanted.startswith((shown, shown.rstrip("\ufffd")))
    assert output["shown_lines"] == len(shown.split("\n")) - (shown.endswith("\n") or not shown)
    whole = shown.count("\n") + (shown == wanted and not shown.endswith("\n") and bool(shown))
    in_all = len(lines[offset - 1 : offset - 1 + most])
    assert whole + output.get("omitted", {}).get("lines", 0) == in_all


@given(FOLDERS, LIMITS)
def test_a_listing_counts_the_entries_that_it_leaves_out(paths: list[str], limit: int) -> None:
    with tempfile.TemporaryDirectory() as root:
        plant(root, paths)
        output = said(filesystem.ListDirectory(PathPolicy(root), limit), {}, limit)
        names = sorted(os.listdir(os.fsencode(root)))
    shown = [entry["name"] for entry in output["entries"]]
    assert shown == [name.decode("utf-8", "backslashreplace") for name in names[: len(shown)]]
    assert output["total"] == len(names)
    assert len(shown) + output.get("omitted", {}).get("entries", 0) == len(names)


@given(st.text(st.characters(codec="utf-8"), max_size=3000), st.integers(100, 2000))
def test_an_error_is_clipped_and_says_how_much_of_it_is_missing(text: str, limit: int) -> None:
    shown = clip_bytes(text, limit)
    assert len(shown.encode()) <= limit
    if shown != text:
        kept, _, note = shown.rpartition("… [")
        assert text.startswith(kept)
        cut = int(note.removesuffix(" more bytes cut]").replace(",", ""))
        assert cut == len(text.encode()) - len(kept.encode())


@pytest.mark.parametrize(
    "arguments", [{"x" * 10_000: 1}, {"pattern": "(" * 4000}, {"path": "a" * 9999}]
)
async def test_the_error_of_a_call_stays_within_its_bytes(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    result = await search.Grep(PathPolicy(tmp_path), 4096).execute(arguments)
    assert not result.success
    assert len(result.get_serialized_output().encode()) <= 4096


async def test_the_bytes_of_a_result_are_a_setting(tmp_path: Path) -> None:
    plant(str(tmp_path), [f"{number:0100}" for number in range(100)])
    coordinator = ModuleCoordinator()
    config = {"root": str(tmp_path), "max_result_bytes": 4096}
    await search.mount(coordinator, config)
    await filesystem.mount(coordinator, config)
    tools = coordinator.get("tools")
    for name, arguments in [("glob", {"pattern": "*"}), ("list_directory", {})]:
        result = await tools[name].execute(arguments)
        assert result.output["omitted"]
        assert len(result.get_serialized_output()) <= 4096
