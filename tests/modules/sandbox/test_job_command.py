"""Commands in job objects, with a job of ours in the place of one of Windows."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event

import pytest

from amplifier_modules.sandbox.command import Command, Ending, LaunchError
from amplifier_modules.sandbox.git_bash import GitBash
from amplifier_modules.sandbox.job_command import JobCommand, open_job, start_in_job
from amplifier_modules.sandbox.shell_folder import ShellFolder
from amplifier_modules.sandbox.unconfined import choose_start, start_in_group


class FakeJob:
    """Notes what happens, and ends when it is ended, or at once with a code."""

    def __init__(self, code: int | None = None, failure: Exception | None = None) -> None:
        self.code = code
        self.failure = failure
        self.arguments: Sequence[str] = ()
        self.environment: Mapping[str, str] = {}
        self.calls: list[str] = []
        self.is_ended = Event()

    def start(
        self,
        arguments: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        output: int,
    ) -> None:
        if self.failure is not None:
            raise self.failure
        self.arguments, self.environment = arguments, environment
        self.calls.append(f"start in {directory}")

    def wait(self) -> int:
        if self.code is None:
            self.is_ended.wait()
        return 1 if self.code is None else self.code

    def end(self) -> None:
        self.calls.append("end")
        self.is_ended.set()

    def close(self) -> None:
        self.calls.append("close")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def start() -> Callable[..., JobCommand]:
    bash = GitBash(r"C:\Git\bin\bash.exe", (r"C:\Git\usr\bin",))

    def run(job: FakeJob, timeout: float | None = None) -> JobCommand:
        environment = {"PATH": r"C:\bin", "A": "1"}
        command = Command("echo", r"C:\project", environment, timeout)
        return start_in_job(command, 1, find_bash=lambda: bash, open_job=lambda: job)

    return run


# Holds: sandbox-100
def test_on_windows_commands_run_in_jobs_and_elsewhere_in_process_groups() -> None:
    assert choose_start("win32") is start_in_job
    assert [choose_start(each) for each in ("linux", "darwin")] == [start_in_group] * 2


# Holds: sandbox-101
def test_without_bash_the_error_says_what_to_install() -> None:
    with pytest.raises(LaunchError) as caught:
        start_in_job(Command("echo", "C:\\", {}), 1, find_bash=lambda: None, open_job=FakeJob)
    assert str(caught.value) == (
        "no bash is found: install Git for Windows (`winget install Git.Git`), which has one, or"
        " run this program in WSL 2"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there they are")
def test_elsewhere_there_are_no_jobs() -> None:
    with pytest.raises(LaunchError, match=f"there are no job objects on `{sys.platform}`"):
        open_job()


# Holds: sandbox-102
def test_all_of_a_job_is_ended_with_its_shell(
    start: Callable[..., JobCommand], temporary: Path
) -> None:
    job = FakeJob(code=3)
    running = start(job)
    assert (running.wait(), running.wait()) == (Ending(3), Ending(3))
    running.kill()
    assert job.calls == [r"start in C:\project", "end", "close"]
    assert job.arguments[0] == r"C:\Git\bin\bash.exe"
    assert job.environment == {"PATH": r"C:\Git\usr\bin;C:\bin", "A": "1"}
    assert list(temporary.iterdir()) == []


# Holds: sandbox-102
def test_a_job_that_is_ended_has_no_exit_code(start: Callable[..., JobCommand]) -> None:
    running = start(FakeJob())
    running.kill()
    assert running.wait() == Ending(None)
    assert running.list_ports() == []


# Holds: sandbox-102
def test_a_job_is_ended_at_its_time_limit(start: Callable[..., JobCommand]) -> None:
    assert start(FakeJob(), timeout=0.01).wait() == Ending(None, timed_out=True)


@pytest.mark.parametrize("failure", [OSError("too old"), ValueError("too old")])
def test_a_job_that_cannot_start_is_closed(
    start: Callable[..., JobCommand], temporary: Path, failure: Exception
) -> None:
    job = FakeJob(failure=failure)
    with pytest.raises(LaunchError, match="the command cannot be started: too old"):
        start(job)
    assert (job.calls, list(temporary.iterdir())) == (["close"], [])


def run_in_shell(text: str, place: Path) -> tuple[int, str, str | None]:
    """Run a command as on Windows, by the bash of this machine; it does not know `pwd -W`."""
    folder = ShellFolder(text, show_folder="pwd -P")
    done = subprocess.run(
        folder.build_arguments("bash"),
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath},
    )
    directory = folder.read_directory()
    folder.remove()
    return done.returncode, done.stdout + done.stderr, directory


# Holds: sandbox-104
@pytest.mark.parametrize(
    "text",
    [
        """printf '%s\n' 'a\\\\b' "x\\"y" '*' $# \\\\ 'é\u4e2d'""",
        "cat <<'X'\n%PATH% ^ \"$1\" `\n\n\nX",
        "echo " + "y" * 100_000,
        "trap 'echo end' EXIT; false || (exit 7)",
        "echo 1; # comment",
        "nothing-here",
        "x=1\r\n",
    ],
)
def test_a_shell_reads_its_command_unchanged(text: str, tmp_path: Path) -> None:
    usual = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", f"set --; {text}", "bash"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath},
    )
    assert run_in_shell(text, tmp_path)[:2] == (usual.returncode, usual.stdout + usual.stderr)


# Holds: sandbox-104
@pytest.mark.parametrize("name", ["a b", "o'brien", "$x", "ünï", "\\"])
def test_a_shell_tells_its_folder_from_a_temporary_folder_of_any_name(
    name: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = temporary / name
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    for text in ("cd link", "cd link; exit", "trap : EXIT; cd link"):
        assert run_in_shell(text, tmp_path) == (0, "", str(tmp_path / "sub"))
    assert run_in_shell("exec true", tmp_path)[2] is None
    assert list(place.iterdir()) == []


def test_the_arguments_of_a_shell_hold_nothing_of_its_command(tmp_path: Path) -> None:
    folder = ShellFolder('echo "secret" \\\\')
    line = subprocess.list2cmdline(folder.build_arguments("bash.exe"))
    folder.remove()
    assert "secret" not in line
    # Programs of MSYS2 read two of them as one.
    assert "\\\\" not in line
