"""Whatever kills a process on the way from a question about changes to their commit: what was shown
is committed, once, or nothing is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "agent")]

from layered_project import make_project

PROGRAM = Path(__file__).with_name("asked_session.py")
pytestmark = pytest.mark.timeout(1200)

BEFORE = {"old/a.txt": "a\n", "plan.txt": "A plan.\n"}
KILLED = -9


class Place:
    """A project and the sessions on it; each call of `run` is a process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.project = make_project(folder)
        self.environment = os.environ | {
            "XDG_CACHE_HOME": str(folder / "caches"),
            "XDG_STATE_HOME": str(folder / "state"),
        }

    def run(self, mode: str, last: int = 0) -> tuple[int, str]:
        command = [sys.executable, str(PROGRAM), self.project, self.folder, mode, str(last)]
        ended = subprocess.run(
            list(map(str, command)),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode in (0, KILLED), ended.stderr
        return ended.returncode, ended.stdout

    def read_files(self) -> dict[str, str]:
        found = sorted(each for each in self.project.rglob("*") if each.is_file())
        return {str(each.relative_to(self.project)): each.read_text() for each in found}

    def list_asked(self) -> list[list[str]]:
        try:
            lines = (self.folder / "asked").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def list_kept(self) -> list[str]:
        return sorted(each.name for each in self.folder.glob("state/*/changes/chat/0*.json"))

    def check(self, output: str) -> str:
        """Check what there is in the end, and return how it came to that."""
        files, asked = self.read_files(), self.list_asked()
        assert len(set(map(tuple, asked))) <= 1
        (result,) = json.loads(output.splitlines()[0])
        if files == BEFORE:
            assert result["metadata"]["outcome"] == "unknown"
            assert (asked, self.list_kept()) == ([], [])
            return "unknown"
        assert files == {"old/a.txt": "a\nb\n", "random": files["random"]}
        for _, action in asked:
            assert f"+{files['random'].rstrip()}" in action
        assert self.list_kept() == ["000001.json"]
        return "asked again" if len(asked) > 1 else "committed"


# Holds: changes-84
def test_a_kill_at_any_step_after_the_command_loses_and_doubles_nothing(tmp_path: Path) -> None:
    whole = Place(tmp_path / "whole")
    _, output = whole.run("ask")
    assert whole.check(output) == "committed"
    count = int(output.splitlines()[-1])
    ways: list[str] = []
    for last in range(1, count + 1):
        place = Place(tmp_path / str(last))
        assert place.run("ask", last)[0] == KILLED
        if has_open_turn(place):
            ways.append(place.check(place.run("ask")[1]))
        else:
            ways.append("over")
            assert "random" in place.read_files()
    assert {"unknown", "asked again", "committed"} <= set(ways)


def has_open_turn(place: Place) -> bool:
    program = (
        "import asyncio, sys\n"
        "from amplifier_modules.stores.sqlite import SqliteStore\n"
        "from amplifier_modules.stores.stored_history import read_history\n"
        "store = SqliteStore(folder=sys.argv[1])\n"
        "print(read_history(asyncio.run(store.read('chat'))).prompt is not None)\n"
    )
    command = [sys.executable, "-c", program, str(place.folder / "sessions")]
    return subprocess.check_output(command, text=True).strip() == "True"


# Holds: changes-84
def test_a_kill_at_any_step_after_the_answer_commits_what_was_shown(tmp_path: Path) -> None:
    whole = leave_and_answer(tmp_path / "whole")
    _, output = whole.run("wait")
    assert whole.check(output) == "committed"
    count = int(output.splitlines()[-1])
    for last in range(1, count + 1):
        place = leave_and_answer(tmp_path / str(last))
        assert place.run("wait", last)[0] == KILLED
        if has_open_turn(place):
            assert place.check(place.run("wait")[1]) == "committed"
        assert "random" in place.read_files()


def leave_and_answer(folder: Path) -> Place:
    """Have a turn end with its question, and answer it with yes."""
    place = Place(folder)
    assert place.run("leave")[0] == 0
    assert place.run("yes") == (0, "\n0\n")
    return place


# Holds: approval-27
@pytest.mark.parametrize("attempt", range(5))
def test_of_two_processes_that_answer_at_once_one_is_told(tmp_path: Path, attempt: int) -> None:
    place = Place(tmp_path / str(attempt))
    place.run("leave")
    with ThreadPoolExecutor(2) as both:
        answers = dict(zip(("yes", "no"), both.map(place.run, ("yes", "no")), strict=True))
    said = {name: output.splitlines()[0] for name, (_, output) in answers.items()}
    (won,) = (name for name, text in said.items() if not text)
    assert "waits for an answer" in said[other(won)] or "was answered by" in said[other(won)]
    place.run("wait")
    files = place.read_files()
    assert files == (BEFORE if won == "no" else {"old/a.txt": "a\nb\n", "random": files["random"]})


def other(answer: str) -> str:
    return "no" if answer == "yes" else "yes"
