"""Keeping states runs nothing that a project, a user or the environment has configured for git."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from subprocess import CalledProcessError

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tracked_project import TrackedProject, open_project, run_git

from amplifier_modules.changes.tracked import TrackedTree, find_git, private_git
from amplifier_modules.changes.tracked.private_git import GitTimeoutError

pytestmark = pytest.mark.skipif(find_git() is None, reason="git is not installed")

HOOKS = ("post-index-change", "pre-commit", "reference-transaction", "post-checkout", "pre-auto-gc")
ATTRIBUTES = (
    "* filter=x diff=x merge=x text eol=crlf ident\n"
    "*.utf working-tree-encoding=UTF-16\n*.bad working-tree-encoding=none-such\n"
)
CONTENTS = {
    "lines.txt": b"one\ntwo\r\nthree\n$Id$\n",
    "binary": bytes(range(256)),
    "text.utf": "\ufeffwide".encode("utf-16"),
    "text.bad": b"plain",
}


def arm(project: TrackedProject, trap: Path) -> None:
    """Have every use of the project's own settings leave a trace."""
    program = f"touch {trap} && cat"
    settings = f"""\
[core]
    fsmonitor = {trap}.sh
    hooksPath = hooks
    attributesFile = .gitattributes
    autocrlf = true
    safecrlf = true
    editor = {program}
    pager = {program}
    untrackedCache = true
[filter "x"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[diff "x"]
    textconv = {program}
    command = {program}
[merge "x"]
    driver = {program}
[alias]
    ls-files = !{program}
    update-index = !{program}
[pager]
    ls-files = {program}
"""
    script = Path(f"{trap}.sh")
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    for folder in ("", "nested/"):
        (project.root / folder).mkdir(exist_ok=True)
        run_git(project.root / folder, "init", "--quiet")
        with (project.root / folder / ".git/config").open("a") as file:
            file.write(settings)
        project.write_at(f"{folder}.gitattributes", ATTRIBUTES)
        project.write_at(f"{folder}.git/info/attributes", ATTRIBUTES)
        for hook in HOOKS:
            for place in (".git/hooks", "hooks"):
                project.write_at(f"{folder}{place}/{hook}", script.read_text())
                (project.root / folder / place / hook).chmod(0o755)
    modules = f'[submodule "nested"]\n\tpath = nested\n\turl = ./nested\n\tupdate = !{program}\n'
    project.write_at(".gitmodules", modules)
    Path(f"{trap}.config").write_text(settings)


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    return tmp_path / "trap"


@pytest.fixture
def project(tmp_path: Path, trap: Path, monkeypatch: pytest.MonkeyPatch) -> TrackedProject:
    project = open_project(tmp_path)
    arm(project, trap)
    settings = {
        "HOME": str(tmp_path / "home"),
        "GIT_CONFIG_GLOBAL": f"{trap}.config",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"{trap}.sh",
        "GIT_DIR": str(project.root / ".git"),
        "GIT_INDEX_FILE": str(project.root / ".git/index"),
        "GIT_EXEC_PATH": str(tmp_path),
        "GIT_TEMPLATE_DIR": str(project.root / ".git"),
        "GIT_TRACE": f"{trap}",
        "GIT_EXTERNAL_DIFF": f"{trap}.sh",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    project.tree = TrackedTree(str(project.root), str(project.store))
    return project


# Holds: changes-38
def test_nothing_that_is_configured_runs_and_bytes_are_exact(
    project: TrackedProject, trap: Path
) -> None:
    places = [f"{folder}{name}" for folder in ("", "nested/") for name in CONTENTS]
    for place in places:
        project.write_at(place, CONTENTS[Path(place).name])
    before, state = project.tree.take(), project.read()
    for place in places:
        project.write_at(place, b"other\r\n" + CONTENTS[Path(place).name])
    (project.root / ".gitmodules").unlink()
    after, other = project.tree.take(), project.read()
    shown = project.tree.compare(before, after)
    assert [each.path for each in shown] == sorted([*places, ".gitmodules"])
    for wanted, current, expected in ((before, after, state), (after, before, other)):
        outcome = project.tree.restore(wanted, current)
        assert (outcome.conflicts, project.read()) == ([], expected)
    assert not trap.exists()


# Holds: changes-38
def test_the_traps_are_real(project: TrackedProject, trap: Path) -> None:
    project.write(a="a")
    with pytest.raises(CalledProcessError):
        run_git(project.root, "add", "a")
    assert trap.exists()


# Holds: changes-38
def test_the_repository_of_the_project_is_only_read(project: TrackedProject) -> None:
    def read_repository() -> dict[Path, tuple[int, int]]:
        found = sorted((project.root / ".git").rglob("*"))
        return {each: (each.stat().st_mtime_ns, each.stat().st_size) for each in found}

    project.write(a="a")
    repository = read_repository()
    before = project.tree.take()
    project.write(a="b")
    project.tree.restore(before, project.tree.take())
    assert read_repository() == repository


# Holds: changes-38
@pytest.mark.parametrize("index", [b"", b"DIRC\0\0\0\2\xff\xff\xff\xff", b"junk" * 100])
def test_a_damaged_repository_does_not_hinder(index: bytes, project: TrackedProject) -> None:
    project.write_at(".git/index", index)
    for name in ("HEAD", "config"):
        (project.root / ".git" / name).write_text("[broken")
    project.write_at("leading/.git", "gitdir: /nonexistent\0")
    project.write(leading__a="a")
    before = project.tree.take()
    project.write(leading__a="b")
    outcome = project.tree.restore(before, project.tree.take())
    assert ([each.path for each in outcome.done], outcome.conflicts) == (["leading/a"], [])


# Holds: changes-38
def test_a_pipe_in_the_place_of_rules_ends_in_an_error(
    project: TrackedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.tree.take()
    os.mkfifo(project.root / "nested/.gitignore")
    monkeypatch.setattr(private_git, "_SECONDS", 0.3)
    with pytest.raises(GitTimeoutError, match="took more than"):
        project.tree.take()
