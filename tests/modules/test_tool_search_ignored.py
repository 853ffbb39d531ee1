"""`glob` and `grep` leave out what git ignores, as git itself says."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_guard import PathPolicy
from amplifier_modules.tools.search import Glob, Grep

NAMES = st.sampled_from(
    ["a", "b.py", "x.log", "sub", "build", "é", "two words", "#h", "!n", "[x]", "a*", "end "]
)
TREES = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=12)
WILDCARDS = st.sampled_from(
    ["*", "**", "*.py", "?", "s*", "*u*", "[a-b]*", "[!a]", "[[:alpha:]]", "[^[:punct:]]*", "**d",
     "***", "\\#h", "\\!n", "a\\*", "\\[x]", "[[]x]", "{a,b.py}", "b?py", "[", "x.[k-m]og"]
)  # fmt: skip
PARTS = st.one_of(NAMES, WILDCARDS)
RULES = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "", "", "!", "/", "!/"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "", "/", " ", "\\ ", "\r"]),
)
RULE_FILES = st.lists(RULES, max_size=5).map("\n".join)
PLACES = st.dictionaries(
    st.sampled_from(["", "sub", "a", "sub/a", "build"]), RULE_FILES, max_size=3
)
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def plant(root: Path, tree: set[str], places: dict[str, str], exclude: str) -> None:
    for part in ("objects", "refs", "info"):
        (root / ".git" / part).mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/info/exclude").write_text(exclude)
    rules = {f"{place}/.gitignore".lstrip("/"): text for place, text in places.items()}
    for path in sorted(tree):
        rules.setdefault(path, "x\n")
    for path, text in rules.items():
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode())
        except OSError:
            continue  # a file where another path has a folder


def not_ignored(root: Path) -> list[str]:
    """The files that git does not ignore."""
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard", "--cached"]
    environment = os.environ | ALONE
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)
    return [path.decode() for path in sorted(run.stdout.split(b"\0")[:-1])]


async def shown(tool: Any, **arguments: Any) -> dict[str, Any]:
    result = await tool.execute(arguments)
    assert result.success, result.error
    return result.output


# Holds: sink-63
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(max_examples=settings().max_examples // 2)  # each starts git
@given(TREES, PLACES, RULE_FILES)
def test_the_files_that_are_looked_at_are_those_that_git_does_not_ignore(
    tree: set[str], places: dict[str, str], exclude: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree, places, exclude)
        policy = PathPolicy(folder)
        everything = [
            str(path.relative_to(folder))
            for path in Path(folder).rglob("*")
            if path.is_file() and not path.is_relative_to(Path(folder, ".git"))
        ]
        expected = not_ignored(Path(folder))

        async def look() -> list[dict[str, Any]]:
            return [
                await shown(Glob(policy), pattern="**", limit=999),
                await shown(Grep(policy), pattern="", mode="files", limit=999),
                await shown(Glob(policy), pattern="**", include_ignored=True),
            ]

        found, searched, whole = anyio.run(look)
    assert [file["path"] for file in found["files"]] == expected
    assert searched["searched_files"] == len(expected)
    assert {file["path"] for file in searched["files"]} <= set(expected)
    assert whole["total"] == len(everything)
    assert ("ignored" in found) == (not expected and bool(everything))


# Holds: sink-63
async def test_the_result_says_that_ignored_files_were_left_out_where_nothing_was_found(
    tmp_path: Path,
) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/a.txt").write_text("needle\n")
    (tmp_path / "b.txt").write_text("other\n")
    grep, glob = Grep(PathPolicy(tmp_path)), Glob(PathPolicy(tmp_path))
    said = "What git ignores was left out; with `include_ignored` it is looked at, too."
    assert (await shown(grep, pattern="needle"))["ignored"] == said
    assert (await shown(glob, pattern="a.txt"))["ignored"] == said
    assert "ignored" not in await shown(grep, pattern="other")
    assert "ignored" not in await shown(glob, pattern="b.txt")
    found = await shown(grep, pattern="needle", include_ignored=True)
    assert [match["path"] for match in found["matches"]] == ["build/a.txt"]
    assert "ignored" not in await shown(grep, pattern="nowhere", include_ignored=True)


# Holds: sink-63
async def test_the_folder_of_git_is_never_looked_at_unless_the_path_names_it(
    tmp_path: Path,
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("needle\n")
    grep = Grep(PathPolicy(tmp_path))
    found = await shown(grep, pattern="needle", include_ignored=True)
    assert (found["total_matches"], found["searched_files"]) == (0, 0)
    assert (await shown(grep, pattern="needle", path=".git"))["total_matches"] == 1


# Holds: sink-63
async def test_a_file_that_holds_secrets_is_counted_unless_git_ignores_it(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text("KEY=needle\n")
    grep = Grep(PathPolicy(tmp_path))
    assert (await shown(grep, pattern="needle"))["secret_files"] == 1
    (tmp_path / ".gitignore").write_text(".env\n")
    assert "secret_files" not in await shown(grep, pattern="needle")
    assert (await shown(grep, pattern="needle", include_ignored=True))["secret_files"] == 1
