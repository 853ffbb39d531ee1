"""Job objects of Windows: what they run, and that it ends. On other systems there are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from amplifier_modules.sandbox.command import Command, Ending, LaunchError
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="job objects are of Windows")

PYTHON = Path(sys.executable).as_posix()
RUNS_ON = """
import time
print("begun", flush=True)
for number in range(1200):
    with open("alive", "w") as file:
        file.write(str(number))
    time.sleep(0.05)
"""
BEGINS = """
import subprocess, sys, time
# DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW
for flags in (0x8, 0x200, 0x8000000):
    with open("error", "w") as nowhere:
        subprocess.Popen([sys.executable, "runs_on.py"], creationflags=flags, stdout=nowhere)
try:
    subprocess.Popen([sys.executable, "-c", "pass"], creationflags=0x1000000)
except OSError:
    print("nothing breaks away")
while True:
    try:
        open("alive").close()
        break
    except OSError:
        time.sleep(0.05)
"""
AGENT = """
import os, sys
from amplifier_modules.sandbox.command import Command
from amplifier_modules.sandbox.unconfined import UnconfinedRunner
command = Command(sys.argv[1], os.getcwd(), dict(os.environ))
UnconfinedRunner().start(command, 1).wait()
"""


def run(text: str, folder: Path, timeout: float | None = None, **more: str) -> tuple[Ending, str]:
    reading, writing = os.pipe()
    command = Command(text, str(folder), {**os.environ, **more}, timeout)
    running = UnconfinedRunner().start(command, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        written = output.read()
    ending = running.wait()
    running.kill()
    assert running.wait() == ending
    return ending, written.decode().replace("\r\n", "\n")


def runs_on(folder: Path) -> bool:
    """Whether what writes the file does so in the next moments."""
    program = "import time; time.sleep(0.5)"
    seen = (folder / "alive").read_text()
    subprocess.run([sys.executable, "-c", program], check=True)
    return (folder / "alive").read_text() != seen


# Holds: sandbox-100, sandbox-104
def test_a_command_runs_where_it_should_and_tells_where_it_ends(tmp_path: Path) -> None:
    folder = (tmp_path / "a ü'b").resolve()
    (folder / "sub").mkdir(parents=True)
    assert run("echo hello é; exit 3", folder) == (Ending(3, directory=str(folder)), "hello é\n")
    assert run("cd sub", folder) == (Ending(0, directory=str(folder / "sub")), "")


# Holds: sandbox-104
def test_a_command_has_no_input_its_variables_and_any_length(tmp_path: Path) -> None:
    program = "import os, sys; print(ascii(os.environ['Ä']), repr(sys.stdin.read()))"
    text = f'{PYTHON} -c "{program}"'
    assert run(text, tmp_path, Ä="é\u4e2d")[1] == "'\\xe9\\u4e2d' ''\n"
    assert run(f"x={'y' * 100_000}; echo ${{#x}}", tmp_path)[1] == "100000\n"


# Holds: sandbox-102
def test_all_that_a_command_began_ends_with_its_shell(tmp_path: Path) -> None:
    (tmp_path / "runs_on.py").write_text(RUNS_ON)
    (tmp_path / "begins.py").write_text(BEGINS)
    ending, written = run(f"{PYTHON} begins.py", tmp_path)
    assert (ending.exit_code, written) == (0, "nothing breaks away\n")
    assert not runs_on(tmp_path)


# Holds: sandbox-102
def test_a_command_ends_at_its_time_limit(tmp_path: Path) -> None:
    (tmp_path / "runs_on.py").write_text(RUNS_ON)
    ending, written = run(f"{PYTHON} runs_on.py", tmp_path, timeout=5)
    assert (ending, written) == (Ending(None, timed_out=True), "begun\n")
    assert not runs_on(tmp_path)


# Holds: sandbox-102
def test_a_command_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "runs_on.py").write_text(RUNS_ON)
    agent = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", AGENT, f"{PYTHON} runs_on.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
    )
    assert agent.stdout is not None
    assert agent.stdout.readline().strip() == b"begun"
    agent.kill()
    agent.wait()
    assert agent.stdout.read() == b""
    agent.stdout.close()
    assert not runs_on(tmp_path)


def test_commands_side_by_side_have_outputs_of_their_own(tmp_path: Path) -> None:
    written: dict[int, str] = {}

    def note(number: int) -> None:
        written[number] = run(f'{PYTHON} -c "print({number})"', tmp_path)[1]

    threads = [Thread(target=note, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == {number: f"{number}\n" for number in range(6)}


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"the command cannot be started: .*gone"):
        run("echo", tmp_path / "gone")
