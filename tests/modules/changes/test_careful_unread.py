"""What cannot be judged asks: files in closed folders, and what lies very deep.

Holds: sandbox-95
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from both_versions import Both, list_reasons, write

from amplifier_modules.changes.careful.careful_changes import IS_DEEP
from amplifier_modules.changes.careful.git_files import IS_CLOSED, IS_REPOSITORY, RUNS_LATER


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modes keep us out of folders `closed`, also if we are the superuser."""
    openers = {name: getattr(os, name) for name in ("open", "readlink")}

    def refuse(name: str) -> Any:
        def call(path: Any, *arguments: Any, **more: Any) -> Any:
            if "/after/closed/" in os.fspath(path):
                raise PermissionError(path)
            return openers[name](path, *arguments, **more)

        return call

    for name in openers:
        monkeypatch.setattr(os, name, refuse(name))


def test_what_git_would_run_if_it_could_be_read_asks(both: Both, closed: None) -> None:
    both.begin()
    expected = {
        "closed/HEAD": IS_REPOSITORY,
        "closed/config": IS_CLOSED,
        "closed/.git/config": IS_CLOSED,
        "closed/.git/objects/config": IS_CLOSED,
        "closed/.git/rebase-merge/git-rebase-todo": RUNS_LATER,
    }
    for path in (*expected, "closed/other"):
        (both.after / path).parent.mkdir(parents=True, exist_ok=True)
        os.mknod(both.after / path, 0o644)
    assert list_reasons(both) == expected


@pytest.mark.parametrize(("name", "count", "depth"), [("a", 300, 200), ("n" * 250, 13, 11)])
def test_what_lies_very_deep_asks_as_a_whole(name: str, count: int, depth: int, both: Both) -> None:
    both.begin()
    path = "/".join([name] * count)
    write(both.after, f"{path}/file")
    [(deep, reason)] = list_reasons(both).items()
    assert (path.startswith(deep), deep.count("/"), reason) == (True, depth, IS_DEEP)


def test_what_lies_deep_is_judged(both: Both) -> None:
    both.begin()
    path = "/".join(["a"] * 198) + "/AGENTS.md"
    write(both.after, path)
    assert list(list_reasons(both)) == [path]
