"""`apply_patch` does to random texts and trees what `difflib` and git say.

Holds: sink-69
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from file_trees import Tree, failure, read_tree, write_tree

from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools.filesystem import ApplyPatch, ReadRecords

LINE = st.sampled_from(["a", "b", "c", "", " ", "+", "-- x", "++ y", "@@", "\\", "é", "\x0c"])
TEXT = st.tuples(st.lists(LINE, max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] and made[0] else "")
)


def apply(folder: Path, before: bytes | None, text: str) -> ToolResult:
    """The result of a patch of the file `f`, which holds this."""
    folder.mkdir(exist_ok=True)
    (folder / "f").unlink(missing_ok=True)
    records = ReadRecords()
    if before is not None:
        (folder / "f").write_bytes(before)
        records.find_record().note("f", before)
    tool = ApplyPatch(PathPolicy(folder), records=records)
    return anyio.run(tool.execute, {"patch": text})


def write_diff(before: str, after: str, context: int) -> str:
    """What `difflib` says, with the lines that say where no newline is."""
    old, new = (re.findall(r"[^\n]*\n|[^\n]+$", text) for text in (before, after))
    lines = unified_diff(old, new, "a/f", "b/f", n=context)
    ended = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return "".join(ended)


@given(TEXT, TEXT, st.integers(1, 4))
def test_a_diff_of_two_texts_makes_the_second_of_the_first(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, context: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "patched"
    text = write_diff(before, after, context)
    result = apply(folder, before.encode(), text)
    if before == after:
        assert failure(result)[0] == "PatchError"
        return
    assert result.success, (text, result)
    assert (folder / "f").read_bytes() == after.encode()


@given(TEXT, TEXT, TEXT)
@settings(max_examples=40)
def test_git_agrees_about_what_a_patch_makes_of_another_text(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, other: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "by-both"
    text = write_diff(before, after, 3)
    result = apply(folder, other.encode(), text)
    ours = (folder / "f").read_bytes()
    (folder / "f").write_bytes(other.encode())
    (folder / "patch").write_text(text)
    command = ["git", "apply", "--whitespace=nowarn", "patch"]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    theirs = (folder / "f").read_bytes() if (folder / "f").exists() else b""
    if other == before and before != after:
        assert (ran.returncode, result.success) == (0, True)
    if result.success and ran.returncode == 0:
        assert ours == theirs


TREE = st.dictionaries(st.sampled_from(["a", "b c", "d/é", 'd/"f', "g`h"]), TEXT, max_size=4)


@given(TREE, TREE)
@settings(max_examples=15)
def test_what_git_prints_of_two_trees_makes_the_second_of_the_first(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("trees")
    old = {name: text.encode() for name, text in before.items()}
    new = {name: text.encode() for name, text in after.items()}
    trees = [
        add_tree(root / "store", folder, root / name) for name, folder in (("1", old), ("2", new))
    ]
    text = run_git(root / "store", "diff", "-M", *trees)
    if old == new:
        return
    records = ReadRecords()
    for name, content in old.items():
        records.find_record().note(name, content)
    tool = ApplyPatch(PathPolicy(root / "1"), records=records)
    result = anyio.run(tool.execute, {"patch": text})
    assert result.success, (text, result)
    assert read_tree(root / "1") == new


def add_tree(store: Path, tree: Tree, folder: Path) -> str:
    """Write a tree to a folder and to a repository, and return its name there."""
    folder.mkdir()
    write_tree(folder, tree)
    if not store.exists():
        run_git(folder, "init", "--quiet", "--bare", str(store))
    inside = (f"--git-dir={store}", f"--work-tree={folder}")
    run_git(folder, *inside, "add", "--all", "--force", ".")
    return run_git(folder, *inside, "write-tree").strip()


def run_git(folder: Path, *arguments: str) -> str:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ran = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **quiet},
        capture_output=True,
        check=True,
    )
    return ran.stdout.decode()
