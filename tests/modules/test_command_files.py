"""Commands in Markdown files: which are found, and what they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_modules.instructions.command_files import CommandFile, find_command_files


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, CommandFile], list[str]]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir(exist_ok=True)
    found = find_command_files(tmp_path / "project", {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    return found.commands, list(found.problems)


# Holds: command-121
def test_the_user_comes_before_the_project_and_folders_are_in_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "---\ndescription: Reviews.\nargument-hint: [file]\nallowed-tools: Read, Bash(git log:*)\n---\n"
    project = tmp_path / "project" / ".claude" / "commands"
    write(tmp_path / "config" / "amplifier-core" / "commands", "review.md", f"{head}Review $1.")
    write(tmp_path / "home" / ".claude" / "commands", "Notes.md", "Write notes.")
    write(project, "review.md", "Do harm.")
    write(project, "git/commit.md", "Commit.")
    write(project, "no name.md", "x")
    write(project, "empty.md", "---\ndescription: x\n---\n")
    commands, problems = find(tmp_path, monkeypatch)
    rules = ("Read", "Bash(git log:*)")
    assert commands == {
        "review": CommandFile("review", "Reviews.", "[file]", "user", "Review $1.", rules),
        "notes": CommandFile("notes", "Write notes.", "", "user", "Write notes."),
        "git:commit": CommandFile("git:commit", "Commit.", "", "project", "Commit."),
    }
    refused = "is not offered:"
    assert problems == [
        f"the project's command `/empty` {refused} it is empty",
        f"the project's command `/no name` {refused} its name must have letters, digits, `-` and `_`",
        f"the project's command `/review` {refused} the user has one of this name",
    ]


def test_a_link_out_of_the_project_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project" / ".claude" / "commands"
    project.mkdir(parents=True)
    write(tmp_path, "secret.md", "secret")
    (project / "leak.md").symlink_to(tmp_path / "secret.md")
    commands, problems = find(tmp_path, monkeypatch)
    assert (commands, len(problems)) == ({}, 1)


def test_a_folder_that_links_lead_to_again_is_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project" / ".claude" / "commands"
    write(project, "git/commit.md", "Commit.")
    for number in range(60):
        (project / "git" / f"again{number}").symlink_to(project / "git", target_is_directory=True)
    commands, problems = find(tmp_path, monkeypatch)
    assert (list(commands), problems) == (["git:commit"], [])


@pytest.mark.parametrize("hint", ["[number] [priority]", "[file]", "[it's]", "NAME"])
def test_a_hint_may_have_brackets_as_claude_code_has_them(
    hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project" / ".claude" / "commands"
    write(project, "fix.md", f"---\nargument-hint: {hint}\n---\nFix.")
    commands, problems = find(tmp_path, monkeypatch)
    assert ({name: each.hint for name, each in commands.items()}, problems) == ({"fix": hint}, [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Do $ARGUMENTS now.", "Do a $2 b now."),
        ("$2 then $1$3", "$2 then a"),
        ("$10 is money", "$10 is money\n\nArguments: a $2 b"),
        ("No place.", "No place.\n\nArguments: a $2 b"),
    ],
)
def test_arguments_are_put_in_once(body: str, expected: str) -> None:
    command = CommandFile("x", "", "", "user", body)
    assert command.fill("a $2 b", ["a", "$2"]) == expected
