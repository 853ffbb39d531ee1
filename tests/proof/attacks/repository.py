"""The git project of a world: a repository with a submodule and a linked worktree, and its user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
}

ALIAS = "frequent"
"""A command that the user has the habit of typing."""

LATER = (
    ("git", "status"),
    ("git", "diff"),
    ("git", "add", "--all"),
    ("git", "commit", "--quiet", "--allow-empty", "--message", "later"),
    ("git", "log", "-1", "-p"),
    ("git", "checkout", "--quiet", "-b", "later"),
    ("git", "merge", "--quiet", "side"),
    ("git", "stash"),
    ("git", "fetch", "--quiet", "origin"),
    ("git", "push", "--quiet", "origin", "later"),
    ("git", ALIAS),
    ("git", "-C", "sub", "status"),
    ("git", "-C", "sub", "checkout", "--quiet", "-b", "later"),
    ("git", "-C", "linked", "status"),
    ("git", "-C", "linked", "checkout", "--quiet", "-b", "elsewhere"),
    ("git", "-C", "inner", "status"),
    ("git", "-C", "inner", "commit", "--quiet", "--allow-empty", "--message", "inner"),
    ("git", "-C", "inner", "checkout", "--quiet", "-b", "inner"),
    ("git", "rebase", "--continue"),
)
"""What the user does with the project after an attack, outside of any sandbox."""


@cache
def make_template() -> Path:
    """Make the repository once; `copy_repository` copies it."""
    base = Path(tempfile.mkdtemp(prefix="attacked-repository-"))
    project, other, origin = base / "project", base / "other", base / "origin.git"
    environment = os.environ | IDENTITY | {"HOME": str(base), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str, folder: Path) -> None:
        subprocess.run(
            ("git", "-c", "protocol.file.allow=always", "-C", folder, *arguments),
            check=True,
            env=environment,
            capture_output=True,
        )

    for folder in (other, project):
        folder.mkdir()
        git("init", "--quiet", "--initial-branch=main", "--template=", folder=folder)
        (folder / "source.txt").write_text("a line\n")
        git("add", "source.txt", folder=folder)
        git("commit", "--quiet", "--message", "one", folder=folder)
    git("submodule", "add", "--quiet", "../other", "sub", folder=project)
    git("commit", "--quiet", "--message", "two", folder=project)
    git("worktree", "add", "--quiet", "-b", "linked", "linked", folder=project)
    git("branch", "side", folder=project)
    git("clone", "--quiet", "--bare", "project", "origin.git", folder=base)
    git("remote", "add", "origin", "../origin.git", folder=project)
    git("config", "include.path", "../swapped/settings", folder=project)
    (project / ".git/hooks").mkdir()
    (project / ".git/hooks/post-commit.sample").write_text("#!/bin/sh\n")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/exclude").write_text("attack*\nlinked\nserver.sock\n.env\ninner*\n")
    assert origin.is_dir()
    return base


def remove_template() -> None:
    """Remove what `make_template` has made, if it has."""
    if make_template.cache_info().currsize:
        shutil.rmtree(make_template())
        make_template.cache_clear()


def copy_repository(project: Path) -> None:
    """Put the repository where the project of a world is, and its origin beside it."""
    template = make_template()
    shutil.copytree(template / "project", project, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(template / "origin.git", project.parent / "origin.git", symlinks=True)
    for path in (project / "linked/.git", project / ".git/worktrees/linked/gitdir"):
        path.write_text(path.read_text().replace(str(template / "project"), str(project)))


def use_repository(
    project: Path, environment: Mapping[str, str], user: Mapping[str, object]
) -> None:
    """Do what a user does, whatever each command says."""
    for command in LATER:
        if (project / command[2] if command[1] == "-C" else project).is_dir():
            subprocess.run(
                command,
                check=False,
                cwd=project,
                env=IDENTITY | environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=10,
                **user,  # type: ignore[call-overload]
            )
