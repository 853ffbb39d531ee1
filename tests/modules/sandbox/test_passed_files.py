"""A file of a layer that was passed on to a command that runs longer changes nothing that was judged.

Holds: sandbox-98
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Thread

from sandbox_world import PATH, World, run
from test_layers import layered

from amplifier_modules.changes.careful.held_file import is_held
from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import Command
from amplifier_modules.tools.bash.layered_runner import LayeredRunner

__all__ = ["layered"]

RECEIVE = """
import socket
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/server")
server.listen()
_, files, _, _ = socket.recv_fds(server.accept()[0], 1, 2)
open("go").read()
for file in files:
    open(file, "ab").write(b"[core]\\n\\tfsmonitor = x\\n")
"""
PASS = """
import socket
files = [open(path, "ab") for path in (".git/config", "other")]
for file in files:
    file.write(b"[user]\\n\\tname = a\\n")
    file.flush()
client = socket.socket(socket.AF_UNIX)
while client.connect_ex("/tmp/server"):
    pass
socket.send_fds(client, [b"x"], [file.fileno() for file in files])
"""


def run_python(program: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", "-c", program])


def test_settings_that_are_open_elsewhere_do_not_get_into_the_project(layered: World) -> None:
    project, settings = layered.project, layered.project / ".git" / "config"
    settings.parent.mkdir()
    settings.write_text("[core]\n")
    os.mkfifo(project / "go")
    changes = SessionChanges(layered.outside, "session")
    with closing(layered.open()) as sandbox:
        later = Thread(target=lambda: run(sandbox, run_python(RECEIVE), str(project)))
        later.start()
        runner = LayeredRunner(sandbox, str(project), changes, Call("bash"))
        notes = run_and_settle(runner, run_python(PASS), str(project))
        (project / "go").write_text("go")
        later.join()
    assert settings.read_text() == "[core]\n"
    assert (project / "other").read_text().endswith("fsmonitor = x\n")
    reason = "a program that still runs has it open, and could change it afterwards"
    assert notes == (f"`.git/config` was not changed: {reason}",)


def run_and_settle(runner: LayeredRunner, text: str, directory: str) -> Sequence[str]:
    with open(os.devnull, "wb") as nowhere:
        command = Command(text, directory, {"PATH": PATH}, 60)
        ending = runner.start(command, nowhere.fileno()).wait()
    assert runner.settle(ending, "") == ()
    pending = runner.take_pending()
    assert pending is not None
    return pending.commit(())


def test_a_file_that_nobody_writes_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with path.open("rb"):
        assert not is_held(str(path))
    with path.open("ab"):
        assert is_held(str(path))
    assert not is_held(str(tmp_path / "missing"))
