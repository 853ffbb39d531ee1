"""Which files commands in a sandbox cannot read.

Holds: sandbox-2
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sandbox_world import Ran, World, run

from amplifier_modules.sandbox.command import Ending
from amplifier_modules.sandbox.hidden_files import HiddenFiles
from amplifier_modules.sandbox.sandbox import Sandbox


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret-home")
    monkeypatch.setenv("HOME", str(home))
    return home


def look_in(world: World, *agreed: str) -> HiddenFiles:
    def open_reader(hidden: Sequence[str]) -> closing[Sandbox]:
        return closing(world.open(profile="read-only", find_hidden=lambda: hidden))

    return HiddenFiles(str(world.project), open_reader, lambda: agreed)


def plant(project: Path) -> None:
    (project / "kept").mkdir()
    for name in (".env", ".env.example", "kept/.npmrc"):
        (project / name).write_text(f"secret-{name}")
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    subprocess.run(["git", "add", "kept"], cwd=project, check=True)


def test_secrets_are_hidden_unless_git_tracks_them(
    inside: World, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plant(inside.project)
    files = look_in(inside)
    hidden = files.find()
    said = "commands can read `kept/.npmrc`, which may hold secrets: git tracks it"
    assert (caplog.messages, files.find()) == ([said], hidden)
    assert {str(home / ".ssh"), str(inside.project / ".env")} <= set(hidden)
    assert not [path for path in hidden if path.endswith((".example", ".npmrc"))]
    assert files.tracked == {"kept/.npmrc"}
    with closing(inside.open(find_hidden=files.find)) as sandbox:
        text = "cat .env.example kept/.npmrc; echo; git status --porcelain; cat .env"
        ran = run(sandbox, text, str(inside.project), LC_ALL="C")
    assert ran.output.splitlines() == [
        "secret-.env.examplesecret-kept/.npmrc",
        "A  kept/.npmrc",
        "?? .env",
        "?? .env.example",
        "cat: .env: Permission denied",
    ]


def test_a_file_that_a_person_agreed_to_show_is_not_hidden(inside: World) -> None:
    (inside.project / ".env").write_text("secret")
    files = look_in(inside, str(inside.project / ".env"))
    ran = inside.run("cat .env", find_hidden=files.find)
    assert ran == Ran("secret", Ending(0, directory=str(inside.project)))


def test_of_a_folder_with_secrets_only_the_file_is_shown_that_a_person_agreed_to(
    inside: World,
) -> None:
    folder = inside.project / ".aws"
    (folder / "old").mkdir(parents=True)
    for name in ("config", "credentials", "old/credentials"):
        (folder / name).write_text("secret")
    files = look_in(inside, str(folder / "config"))
    assert {str(folder / "credentials"), str(folder / "old")} <= set(files.find())
    ran = inside.run("cat .aws/config .aws/*/* .aws/credentials", find_hidden=files.find)
    assert ran.output.count("secret") == 1
    assert not look_in(inside, str(folder)).find() or str(folder) not in files.find()


def test_a_project_in_a_folder_of_secrets_is_seen(
    inside: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home / ".ssh" / "project"
    project.mkdir()
    hidden = HiddenFiles(str(project), lambda _hidden: closing(inside.open())).find()
    assert str(home / ".ssh" / "id_rsa") in hidden
    assert not [path for path in hidden if project.is_relative_to(path)]


def test_what_git_is_asked_runs_nothing_of_the_project_outside(inside: World) -> None:
    plant(inside.project)
    ran, config = inside.outside / "ran", inside.project / ".git" / "config"
    config.write_text(config.read_text() + f"[core]\n\tfsmonitor = touch {ran}; false\n")
    assert look_in(inside).find()
    assert not ran.exists()


def test_git_is_asked_again_when_its_index_has_changed(inside: World) -> None:
    plant(inside.project)
    files = look_in(inside)
    assert str(inside.project / ".env") in files.find()
    subprocess.run(["git", "add", "--force", ".env"], cwd=inside.project, check=True)
    assert str(inside.project / ".env") not in files.find()
