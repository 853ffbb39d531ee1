"""What waits for a person stays as it is in the project, whatever else of a command is committed.

Holds: sandbox-91
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from overlay import look, run_on_overlay

from amplifier_modules.changes.careful import choose_paths, find_careful_changes
from amplifier_modules.changes.change import Change


def commit_carefully(project: Path, command: str) -> list[str]:
    """Run a command, commit what asks nobody, and return what is left out."""
    store = project.parent / "store"
    change = Change.begin(str(project), str(store))
    run_on_overlay(change, project, command)
    paths = change.list_paths()
    careful = find_careful_changes(paths, project=str(project))
    left_out = [path for each in careful for path in each.paths]
    change.commit(choose_paths(paths, left_out))
    return left_out


def test_the_rest_of_a_new_folder_is_committed(project: Path) -> None:
    command = (
        "mkdir -p new/.vscode; cd new; echo x > .vscode/tasks.json; echo x > .vscode/b; echo > a"
    )
    assert commit_carefully(project, command) == ["new/.vscode/b", "new/.vscode/tasks.json"]
    assert not (project / "new/.vscode").exists()
    assert (project / "new/a").exists()


def test_a_folder_of_which_all_is_left_out_is_not_made(project: Path) -> None:
    before = set(look(project))
    assert commit_carefully(project, "mkdir .claude; touch .claude/a .claude/b") == [
        ".claude/a",
        ".claude/b",
    ]
    assert set(look(project)) == before


def test_the_repository_stays_whole_when_it_would_be_deleted(project: Path) -> None:
    for name in ("HEAD", "objects/a", "refs/heads/main"):
        path = project / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ref: refs/heads/main\n")
    before = look(project / ".git")
    assert commit_carefully(project, "rm -r .git; touch new") == [".git"]
    assert look(project / ".git") == before
    assert (project / "new").exists()


@pytest.mark.parametrize("other", ["ln -s merged old", "ln -s /etc old", "touch old", ":"])
def test_what_would_take_the_place_of_a_folder_is_left_out_with_it(
    other: str, project: Path
) -> None:
    (project / "old/.git").write_text("gitdir: elsewhere\n")
    (project / "old/c").write_text("c")
    command = f"rm -r old; {other}; touch new"
    assert commit_carefully(project, command) == ["old"] * other.startswith("ln") + ["old/.git"]
    assert (project / "old/.git").read_text() == "gitdir: elsewhere\n"
    assert (project / "new").exists()
    # What is deleted one by one goes, unless something was to stand there.
    assert (project / "old/c").exists() == (other != ":")


def test_a_folder_in_the_place_of_a_file_has_all_but_what_is_left_out(project: Path) -> None:
    command = "rm kept; mkdir -p kept/.idea; touch kept/.idea/a kept/b"
    assert commit_carefully(project, command) == ["kept/.idea/a"]
    assert set(look(project / "kept")) == {".", "b"}


def test_the_mode_of_the_project_does_not_stop_the_rest(project: Path) -> None:
    mode = project.stat().st_mode
    assert commit_carefully(project, "chmod 700 .; touch .bashrc new") == [".bashrc"]
    assert (project / "new").exists()
    assert project.stat().st_mode == mode
