"""A folder of `--directory` that is missing is made, where nothing stands in the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.command_line import run_command

NO_KEY = (
    "neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set: using the demo model, a program, not a"
    " language model\n"
)
USE = "pass a folder to `--directory`"
CHECK = "check the path given to `--directory`"


# Holds: command-13
def test_a_missing_folder_is_made_with_those_above_it_and_a_line_says_so(command: Any) -> None:
    folder = command.folder / "new" / "deep"
    arguments = ("-C", "new/deep", "call write_file with path a.txt and content here")

    first, second = command(*arguments), command(*arguments)

    notice = f"made the folder `{folder}`, which was not there\n"
    assert (first.returncode, first.stderr) == (0, notice + NO_KEY)
    assert (second.returncode, second.stderr) == (0, NO_KEY)
    assert {path: path.read_text() for path in folder.iterdir()} == {folder / "a.txt": "here"}


# Holds: command-13
@pytest.mark.parametrize(
    ("directory", "line"),
    [
        ("file", f"`file` is a file; {USE}"),
        ("file/below", f"the folder `file/below` does not exist; {CHECK}"),
        ("gone", f"`gone` is a link to nothing; {USE}"),
        ("gone/below", f"`gone` is a link to nothing; {USE}"),
        ("here/../gone/below", f"`here/../gone` is a link to nothing; {USE}"),
        ("n" * 300, f"the folder `{'n' * 300}` cannot be read: File name too long; choose another"),
    ],
)
def test_nothing_is_made_over_a_file_or_at_the_end_of_a_link(
    capfd: Any, tmp_path: Path, monkeypatch: Any, directory: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("here").mkdir()
    Path("gone").symlink_to("elsewhere")
    assert run_command(["run", "-C", directory, "x"]) == 2
    assert capfd.readouterr() == ("", f"error: {line}\n")
    assert sorted(os.listdir()) == ["file", "gone", "here"]


# Holds: command-13
@pytest.mark.parametrize("wrong", [["--model", "nope", "x"], [" "], ["-c", "x"]])
def test_nothing_is_made_where_no_turn_can_start(command: Any, wrong: list[str]) -> None:
    assert command("run", "-C", "new", *wrong).returncode == 2
    assert list(command.folder.iterdir()) == []


def test_a_command_that_runs_no_turn_makes_no_folder(command: Any) -> None:
    done = command("session", "list", "-C", "new")
    line = f"error: the folder `new` does not exist; {CHECK}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert list(command.folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(command: Any) -> None:
    name = "n" * 300
    done = command("run", "-C", f"new/{name}", "x")
    path = command.folder / "new" / name
    line = f"error: the folder `{path}` cannot be made: File name too long; choose another\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write to every folder")
def test_a_folder_that_may_not_be_made_is_one_line(command: Any) -> None:
    command.folder.chmod(0o500)
    try:
        done = command("run", "-C", "new", "x")
    finally:
        command.folder.chmod(0o700)
    path = command.folder / "new"
    line = f"error: the folder `{path}` cannot be made: Permission denied; choose another\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
