"""`UnconfinedRunner`: how a command ends, seen from several threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from amplifier_modules.sandbox import shell
from amplifier_modules.sandbox.command import Command, Ending, LaunchError
from amplifier_modules.sandbox.unconfined import UnconfinedRunner


def run(text: str, folder: Path, timeout: float | None = None) -> tuple[Ending, bytes]:
    reading, writing = os.pipe()
    command = Command(text, str(folder), {"PATH": os.defpath}, timeout)
    running = UnconfinedRunner().start(command, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        written = output.read()
    ending = running.wait()
    running.kill()
    assert running.wait() == ending
    return ending, written


@pytest.mark.parametrize("name", ["plain", "a b", "'\"$x`", "line\nbreak", "\\", "ünï"])
def test_the_folder_at_the_end_has_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    ending, _ = run("cd */", tmp_path)
    assert ending == Ending(0, directory=str(tmp_path / name))


def test_a_shell_that_does_not_say_where_it_is_has_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert run("exec true", tmp_path)[0] == Ending(0)
    assert run("kill -9 $$", tmp_path)[0] == Ending(None, 9)
    assert run("cd a; rmdir ../a", tmp_path)[0] == Ending(0)


def test_without_bash_it_is_sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    (tmp_path / "a").mkdir()
    ending, written = run('cd a; echo "[$BASH_VERSION] $#"; exit 3', tmp_path)
    assert (ending, written) == (Ending(3, directory=str(tmp_path / "a")), b"[] 0\n")


def test_many_threads_may_wait_and_kill(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    running = UnconfinedRunner().start(
        Command("sleep 1000", str(tmp_path), {"PATH": os.defpath}), writing
    )
    os.close(writing)
    os.close(reading)
    endings: list[Ending] = []
    waiting = [Thread(target=lambda: endings.append(running.wait())) for _ in range(4)]
    killing = [Thread(target=running.kill) for _ in range(4)]
    for thread in (*waiting, *killing):
        thread.start()
    for thread in (*waiting, *killing):
        thread.join()
    assert endings == [Ending(None, 9)] * 4


def test_a_time_limit_that_is_not_reached_changes_nothing(tmp_path: Path) -> None:
    assert run("exit 3", tmp_path, 100)[0] == Ending(3, directory=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "folder"), [("true", "none"), ("a\0b", "."), ("x" * 2_000_000, ".")]
)
def test_what_cannot_be_started_says_so_and_leaves_nothing_open(
    text: str, folder: str, tmp_path: Path
) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(LaunchError, match="the command cannot be started: "):
        UnconfinedRunner().start(Command(text, str(tmp_path / folder), {}), 1)
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_command_has_no_files_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        _, written = run("ls -l /proc/$$/fd | grep -c ours", tmp_path)
    assert written == b"0\n"


def test_the_script_of_the_shell_is_no_argument_of_the_command(tmp_path: Path) -> None:
    assert shell.build_arguments("echo", 7)[-1] == "echo"
    assert run('echo "$0 $# $*"', tmp_path)[1] == b"bash 0 \n"


# Holds: sandbox-100
def test_nothing_of_posix_is_needed_to_import_it() -> None:
    program = (
        "import sys\n"
        "for name in ('fcntl', 'pwd', 'grp', 'resource', 'termios'): sys.modules[name] = None\n"
        "import os, select; del select.poll, os.killpg, os.waitid, os.geteuid, os.set_blocking\n"
        "for name in ('DIRECTORY', 'NOFOLLOW', 'NONBLOCK', 'CLOEXEC'): delattr(os, f'O_{name}')\n"
        "import amplifier_modules.sandbox.unconfined, amplifier_modules.tools.bash\n"
        "import amplifier_modules.tools.filesystem, amplifier_agent, amplifier_app.cli\n"
        "import amplifier_app.approval, amplifier_app.commands.chat.chat\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
