"""`glob` and `grep` in a folder that is too large for one call: they end, and say what is missing."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import PathPolicy
from amplifier_modules.tools.scope import Bound
from amplifier_modules.tools.search import GLOB_BOUND, GREP_BOUND, Glob, Grep

NAMES = st.sampled_from(["a", "b.py", "c.txt", "sub", "deep", "target", "é.py", "new\nline"])
TREES = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=40)
BOUNDS = st.builds(Bound, st.integers(1, 30), st.integers(1, 30))
PATTERNS = st.sampled_from(["**", "*.py", "**/*", "**/*.py", "?.txt", "{a,b.py}", "[ab]*"])
CONTENT = "TODO\nx\n"


def plant(root: Path, paths: set[str]) -> None:
    for path in sorted(paths):
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(CONTENT)
        except OSError:
            continue  # a file where another path has a folder


def large(root: Path, folders: int, files: int) -> None:
    for folder in range(folders):
        place = root / f"folder_{folder:02}"
        place.mkdir()
        for number in range(files):
            (place / f"{number:03}.txt").write_text(CONTENT)


async def found(tool: Any, **arguments: Any) -> dict[str, Any]:
    result = await tool.execute(arguments)
    assert result.success, result.error
    return result.output


@given(TREES, BOUNDS, PATTERNS, st.sampled_from(["path", "size", "modified"]), st.integers(0, 9))
def test_a_bounded_glob_counts_a_part_or_says_the_same_as_a_whole_one(
    tree: set[str], bound: Bound, pattern: str, order: str, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree)
        policy, given_ = PathPolicy(folder), {"pattern": pattern, "sort": order, "limit": limit}
        whole = anyio.run(Glob(policy).execute, given_).output
        part = anyio.run(Glob(policy, bound=bound).execute, given_).output
    if "left_out" not in part:
        assert part == whole
    else:
        assert part["total"] <= min(whole["total"], bound.entries)
        assert sum(part["extensions"].values()) == part["total"]
        assert part["total_bytes"] == part["total"] * len(CONTENT)
        assert len(part["files"]) == min(limit, part["total"])


@given(TREES, BOUNDS, PATTERNS, st.sampled_from(["content", "files", "count"]), st.integers(0, 9))
def test_a_bounded_grep_counts_a_part_or_says_the_same_as_a_whole_one(
    tree: set[str], bound: Bound, pattern: str, mode: str, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree)
        policy = PathPolicy(folder)
        given_ = {"pattern": "TODO", "glob": pattern, "mode": mode, "limit": limit}
        whole = anyio.run(Grep(policy).execute, given_).output
        part = anyio.run(Grep(policy, bound=bound).execute, given_).output
    if "left_out" not in part:
        assert part == whole
    else:
        searched = part["searched_files"]
        assert searched <= min(whole["searched_files"], bound.entries)
        assert part["total_matches"] == part["total_files"] == searched
        assert part["searched_lines"] == 2 * searched
        shown = part["matches" if mode == "content" else "files"]
        assert len(shown) == min(limit, searched)
        assert [each["path"] for each in shown] == sorted(each["path"] for each in shown)


async def test_a_large_folder_is_looked_at_in_part_and_the_result_says_what_was_left_out(
    tmp_path: Path,
) -> None:
    large(tmp_path, folders=20, files=100)
    policy, bound = PathPolicy(tmp_path), Bound(entries=500, parts=100)

    counted = await found(Glob(policy, bound=bound), pattern="**/*")
    searched = await found(Grep(policy, bound=bound), pattern="TODO")

    assert 400 <= counted["total"] == searched["searched_files"] <= 500
    assert counted["left_out"] == searched["left_out"]
    assert counted["left_out"] == (
        f"The folder is too large for one call: this covers {counted['total'] + 20} of its files"
        " and folders. Left out, in whole or in part: `folder_04`, `folder_05`, `folder_06`,"
        " `folder_07`, `folder_08` and 11 more. Set `path` to a folder, or name the files more"
        " exactly, to look there."
    )


async def test_what_was_left_out_can_be_looked_at_by_its_path(tmp_path: Path) -> None:
    large(tmp_path, folders=20, files=100)
    output = await found(
        Grep(PathPolicy(tmp_path), bound=Bound(500, 100)), pattern="TODO", path="folder_19"
    )
    assert output["searched_files"] == 100
    assert "left_out" not in output


async def test_a_folder_with_very_many_files_does_not_hide_the_others(tmp_path: Path) -> None:
    large(tmp_path, folders=1, files=999)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "main.py").write_text("needle\n")
    for where in (tmp_path, tmp_path / "folder_00"):
        output = await found(Grep(PathPolicy(where), bound=Bound(200, 100)), pattern="needle|TODO")
        assert 0 < output["searched_files"] <= 200
        assert "left_out" in output
    output = await found(Grep(PathPolicy(tmp_path), bound=Bound(200, 100)), pattern="needle")
    assert output["total_matches"] == 1


async def test_files_named_exactly_are_all_found_in_a_large_folder(tmp_path: Path) -> None:
    large(tmp_path, folders=3, files=300)
    (tmp_path / "folder_02" / "zz.py").write_text("needle\n")
    policy, bound = PathPolicy(tmp_path), Bound(200, 100)

    counted = await found(Glob(policy, bound=bound), pattern="*.py")
    searched = await found(Grep(policy, bound=bound), pattern="needle", glob="**/zz.*")

    assert counted["total"] == searched["total_matches"] == 1
    assert "left_out" not in counted | searched


async def test_no_more_names_are_read_than_the_bound_allows(tmp_path: Path) -> None:
    large(tmp_path, folders=3, files=300)
    output = await found(Glob(PathPolicy(tmp_path), bound=Bound(5, 5)), pattern="*.py")
    assert output["total"] == 0
    assert "left_out" in output


async def test_a_pattern_over_folders_is_matched_in_the_whole_folder(tmp_path: Path) -> None:
    large(tmp_path, folders=4, files=50)
    output = await found(Glob(PathPolicy(tmp_path), bound=Bound(10, 10)), pattern="folder_03/*")
    assert output["total"] == 50
    assert "left_out" not in output


@pytest.mark.skipif(os.getuid() == 0, reason="the administrator may read everything")
async def test_what_cannot_be_read_in_a_large_folder_is_counted(tmp_path: Path) -> None:
    large(tmp_path, folders=20, files=50)
    (tmp_path / "folder_00").chmod(0)
    try:
        output = await found(Grep(PathPolicy(tmp_path), bound=Bound(500, 100)), pattern="TODO")
    finally:
        (tmp_path / "folder_00").chmod(0o755)
    assert output["unreadable"] == 1


async def test_links_of_a_large_folder_are_not_followed(tmp_path: Path) -> None:
    large(tmp_path, folders=20, files=50)
    outside, inside = tmp_path / "folder_19", tmp_path / "folder_00"
    (inside / "link").symlink_to(outside)
    output = await found(Glob(PathPolicy(inside), bound=Bound(20, 20)), pattern="**")
    assert output["total"] <= 20
    assert all("link" not in file["path"] for file in output["files"])


@pytest.mark.parametrize("tool", [Glob, Grep])
async def test_a_search_of_a_large_folder_stops_when_it_is_told_to(
    tmp_path: Path, tool: Any
) -> None:
    large(tmp_path, folders=5, files=50)
    stop = threading.Event()
    stop.set()
    bounded = tool(PathPolicy(tmp_path), bound=Bound(100, 100))
    arguments = bounded._arguments.model_validate({"pattern": "**" if tool is Glob else "x"})
    with pytest.raises(InterruptedError):
        bounded.run(arguments, stop)


def test_the_bounds_are_named_in_the_descriptions() -> None:
    assert f"{GLOB_BOUND.entries:,} files and folders" in Glob.description
    assert f"{GREP_BOUND.entries:,} files and folders" in Grep.description
