"""`glob` and `grep`, against an oracle of plain Python."""

from __future__ import annotations

import fnmatch
import os
import re
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools import search

SKIPPED = {".git"}


async def tools(root: Path) -> dict[str, Any]:
    coordinator = ModuleCoordinator()
    assert await search.mount(coordinator, {"root": str(root)}) is None
    return coordinator.get("tools")


NAMES = st.sampled_from(
    ["a", "b.py", "B.py", "c.tar.gz", ".hidden", ".git", "target", "node_modules", "sub", "é.py",
     "with space", "new\nline", os.fsdecode(b"caf\xe9.py"), "x[1].py", "TODO"]
)  # fmt: skip
CONTENTS = st.lists(
    st.sampled_from([b"TODO", b"todo", b"\n", b"\r\n", b" ", b"x", b"\xff", b"\0", b"TODO\n"]),
    max_size=12,
).map(b"".join)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map("/".join),
    st.one_of(CONTENTS, CONTENTS, CONTENTS, st.sampled_from(["..", "/etc", "sub", "a", "loop"])),
    max_size=12,
)
"""Files by path; a text is where a link leads."""


def plant(root: Path, tree: dict[str, bytes | str]) -> None:
    inside = root.resolve()
    for path, content in tree.items():
        try:
            if not (root / path).parent.resolve().is_relative_to(inside):
                continue  # a link leads out of the tree
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                (root / path).symlink_to(content)
            else:
                (root / path).write_bytes(content)
        except (OSError, RuntimeError):
            continue  # a link that leads to itself, or a file where another path has a folder


def regular_files(root: Path) -> dict[str, bytes]:
    """Every file that counts, by path, found the slow way."""
    found: dict[str, bytes] = {}
    for folder, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name not in SKIPPED]
        for name in set(files) - SKIPPED:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(root))] = path.read_bytes()
    return dict(sorted(found.items(), key=lambda item: os.fsencode(item[0])))


def text(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@given(
    TREES, st.sampled_from(["**", "*.py", "sub/**", "**/*.py", "?.py", "TODO"]), st.integers(0, 9)
)
def test_glob_counts_what_a_slow_walk_counts(tree: Any, pattern: str, limit: int) -> None:
    meant = {
        "**": lambda path: True,
        "*.py": lambda path: path.endswith(".py"),
        "sub/**": lambda path: path.startswith("sub/"),
        "**/*.py": lambda path: path.endswith(".py"),
        "?.py": lambda path: len(path.rpartition("/")[2]) == 4 and path.endswith(".py"),
        "TODO": lambda path: fnmatch.fnmatchcase(path.rpartition("/")[2], "TODO"),
    }[pattern]
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree)
        tool = search.Glob(PathPolicy(folder))
        result = anyio.run(tool.execute, {"pattern": pattern, "limit": limit, "sort": "size"})
        files = {
            path: len(content)
            for path, content in regular_files(Path(folder)).items()
            if meant(path)
        }
    result.model_dump_json()
    extensions = Counter(text(os.path.splitext(path)[1]) for path in files)
    largest = sorted(files.items(), key=lambda file: -file[1])
    assert result.output == {
        "pattern": pattern,
        "path": ".",
        "total": len(files),
        "total_bytes": sum(files.values()),
        "extensions": dict(extensions),
        "files": [{"path": text(path), "bytes": size} for path, size in largest[:limit]],
        "truncated": len(files) > limit,
    }
    assert list(result.output["extensions"].values()) == sorted(extensions.values(), reverse=True)


@given(
    TREES,
    st.sampled_from(["TODO", "^TODO", "TODO$", "x|T", r"\s", "^$"]),
    st.sampled_from(["content", "files", "count"]),
    st.integers(0, 9),
    st.booleans(),
)
def test_grep_counts_what_a_slow_search_counts(
    tree: Any, pattern: str, mode: str, limit: int, ignore_case: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree)
        tool = search.Grep(PathPolicy(folder))
        given = {"pattern": pattern, "mode": mode, "limit": limit, "ignore_case": ignore_case}
        result = anyio.run(tool.execute, given)
        files = regular_files(Path(folder))
    result.model_dump_json()
    texts = {path: content for path, content in files.items() if b"\0" not in content}
    expression = re.compile(pattern.encode(), re.IGNORECASE if ignore_case else 0)
    matches: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for path, content in texts.items():
        lines = content.split(b"\n")
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            line = line.removesuffix(b"\r")
            if expression.search(line):
                counts[text(path)] += 1
                shown = line.decode("utf-8", "replace")
                matches.append({"path": text(path), "line": number, "text": shown})
    output = {
        "pattern": pattern,
        "path": ".",
        "mode": mode,
        "total_matches": len(matches),
        "total_files": len(counts),
        "searched_files": len(texts),
        "searched_lines": sum(content.count(b"\n") for content in texts.values()),
        "binary_files": len(files) - len(texts),
    }
    if mode == "content":
        output |= {"matches": matches[:limit], "truncated": len(matches) > limit}
    else:
        ranked = counts.most_common() if mode == "count" else list(counts.items())
        shown_files = [{"path": path, "matches": count} for path, count in ranked[:limit]]
        output |= {"files": shown_files, "truncated": len(counts) > limit}
    assert result.output == output


async def test_paths_count_from_the_root_whatever_was_searched(tmp_path: Path) -> None:
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "src/deep/a.py").write_text("TODO\n")
    (tmp_path / "src/b.py").write_text("TODO\n")
    (tmp_path / "c.py").write_text("TODO\n")
    mounted = await tools(tmp_path)

    async def globbed(path: str, pattern: str) -> list[str]:
        output = (await mounted["glob"].execute({"pattern": pattern, "path": path})).output
        return [file["path"] for file in output["files"]]

    assert await globbed("src", "*.py") == ["src/b.py", "src/deep/a.py"]
    assert await globbed("src", "deep/*.py") == ["src/deep/a.py"]
    assert await globbed(str(tmp_path / "src"), "./b.py") == ["src/b.py"]
    result = await mounted["grep"].execute({"pattern": "TODO", "path": "src/b.py"})
    assert result.output["matches"] == [{"path": "src/b.py", "line": 1, "text": "TODO"}]
    result = await mounted["grep"].execute({"pattern": "TODO", "glob": "deep/*", "path": "src"})
    assert result.output["searched_files"] == 1


async def test_the_latest_files_come_first_when_asked(tmp_path: Path) -> None:
    for age, name in enumerate(["new", "older", "oldest"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(0, 10**18 - age))
    result = await (await tools(tmp_path))["glob"].execute({"pattern": "*", "sort": "modified"})
    assert [file["path"] for file in result.output["files"]] == ["new", "older", "oldest"]


async def test_a_root_inside_a_skipped_directory_is_searched(tmp_path: Path) -> None:
    root = tmp_path / "node_modules" / "target"
    root.mkdir(parents=True)
    (root / "a.js").write_text("TODO\n")
    mounted = await tools(root)
    assert (await mounted["glob"].execute({"pattern": "**"})).output["total"] == 1
    assert (await mounted["grep"].execute({"pattern": "TODO"})).output["total_matches"] == 1


async def test_an_empty_folder_has_nothing_in_it(tmp_path: Path) -> None:
    result = await (await tools(tmp_path))["glob"].execute({"pattern": "**/*"})
    assert result == ToolResult(
        output={
            "pattern": "**/*",
            "path": ".",
            "total": 0,
            "total_bytes": 0,
            "extensions": {},
            "files": [],
            "truncated": False,
        }
    )


async def test_special_files_are_neither_counted_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/zero")
    mounted = await tools(tmp_path)
    assert (await mounted["grep"].execute({"pattern": "x"})).output["searched_files"] == 0
    result = await mounted["grep"].execute({"pattern": "x", "path": "pipe"})
    assert "`pipe` is a special file" in result.output


@pytest.mark.parametrize(
    ("tool", "input", "message"),
    [
        ("glob", {}, "`pattern` is missing (must be text)"),
        ("glob", {"pattern": "[a"}, "invalid file pattern `[a`: `[` is not closed by `]`"),
        (
            "glob",
            {"pattern": "/etc/*"},
            (
                "invalid file pattern `/etc/*`: it must be relative to the directory searched,"
                " without `..`"
            ),
        ),
        (
            "glob",
            {"pattern": "*", "sort": "name"},
            "`sort` is 'name' (must be `path`, `size` or `modified`)",
        ),
        ("glob", {"pattern": "*", "path": ".."}, "path `..` leads outside the root `{root}`"),
        ("grep", {"pattern": "("}, "invalid regular expression `(`: unclosed group"),
        (
            "grep",
            {"pattern": "(a{1000}){1000}"},
            "invalid regular expression `(a{{1000}}){{1000}}`: it is too large when compiled",
        ),
        (
            "grep",
            {"pattern": "x", "limit": -1},
            "`limit` is -1 (must be a whole number, at least 0, at most 100,000)",
        ),
        (
            "grep",
            {"pattern": "x", "limit": 2**70},
            f"`limit` is {2**70} (must be a whole number, at least 0, at most 100,000)",
        ),
        ("grep", {"pattern": "x", "path": "none"}, "no file or directory `none` in `{root}`"),
        (
            "grep",
            {"pattern": "x", "glob": "{a"},
            "invalid file pattern `{{a`: `{{` is not closed by `}}`",
        ),
    ],
)
async def test_what_is_wrong_is_told_and_not_raised(
    tmp_path: Path, tool: str, input: dict[str, Any], message: str
) -> None:
    result = await (await tools(tmp_path))[tool].execute(input)
    assert result.success is False
    assert result.error is not None
    assert result.error["message"] == message.format(root=tmp_path)


async def test_a_cancelled_search_returns_at_once_and_stops(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_bytes(b"a" * 60 + b"\n")
    began, ended = threading.Event(), threading.Event()

    class Slow(search.Grep):
        def run(self, arguments: Any, stop: threading.Event) -> dict[str, Any]:
            began.set()
            ended_by_stop = stop.wait(60)
            assert ended_by_stop
            ended.set()
            return {}

    tool = Slow(PathPolicy(tmp_path))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tool.execute, {"pattern": "a"})
        await anyio.to_thread.run_sync(began.wait)
        tasks.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(ended.wait, 60)


async def test_a_hostile_pattern_is_answered_in_linear_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 50_000 + "\n")
    grep = (await tools(tmp_path))["grep"]
    result = await grep.execute({"pattern": "(a|aa)+$b|(a+)+c"})
    assert result.output["total_matches"] == 0
