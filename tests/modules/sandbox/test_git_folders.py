"""What git runs stays as it is, wherever the repository of a project lies in it.

Holds: sandbox-97
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sandbox_world import World

WORKTREE = """
git init -q --bare .bare; mkdir .bare/worktrees .bare/worktrees/w
echo ../.. > .bare/worktrees/w/commondir; echo gitdir: .bare/worktrees/w > .git
"""
MAKE = {
    "without a folder of hooks": ("git init -q --template= .", ".git"),
    "by a file": ("git init -q --bare .bare; echo gitdir: ./.bare > .git", ".bare"),
    "by a link": ("git init -q . && mv .git .bare && ln -s .bare .git", ".bare"),
    "that is bare": ("git init -q --bare .", "."),
    "of a worktree": (WORKTREE, ".bare"),
}
PLANT = """
cd {folder}; mkdir hooks; echo true > hooks/pre-commit; echo >> config; mv hooks old
echo x > config.worktree; echo done > {marker}; {mv}
"""


@pytest.mark.parametrize("kind", MAKE)
def test_settings_and_hooks_stay(kind: str, inside: World) -> None:
    make, name = MAKE[kind]
    project = inside.project
    subprocess.run(["sh", "-ec", make], cwd=project, check=True)
    folder = project / name
    settings = (folder / "config").read_text()
    hooks = read_hooks(folder)
    mv = "" if name == "." else f"mv {folder} {project}/moved"

    ran = inside.run(PLANT.format(folder=folder, marker=project / "marker", mv=mv))

    assert (project / "marker").read_text() == "done\n", ran
    assert (folder / "config").read_text() == settings
    assert read_hooks(folder) == hooks
    assert not (folder / "config.worktree").exists()


def read_hooks(folder: Path) -> set[str]:
    return {each.name for each in (folder / "hooks").glob("*")}


def test_a_file_that_leads_to_a_repository_stays(inside: World) -> None:
    (inside.project / ".git").write_text("gitdir: /elsewhere\n")
    ran = inside.run("echo gitdir: x > .git; mv .git a; rm .git; true")
    assert (inside.project / ".git").read_text() == "gitdir: /elsewhere\n", ran
