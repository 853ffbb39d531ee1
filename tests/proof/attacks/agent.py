"""The agent of a world: it runs commands by a runner and says how they ended.

Reads a command as a line of JSON, and writes its ending and its output as one.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

PACKAGES = str(Path(__file__).parents[3] / "python")
sys.path.insert(0, PACKAGES)

from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, RunningCommand, Tier

SHELL = "/bin/bash"
MAX_OUTPUT = 4_000_000
SESSION = "attacks"
"""Whose changes are kept."""


class UnconfinedCommand:
    """A command that nothing keeps to the project; what it leaves behind stays."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float | None) -> None:
        self._process = process
        self._timeout = timeout

    def wait(self) -> Ending:
        """Wait for the shell alone."""
        timed_out = False
        try:
            code = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            code, timed_out = self._process.wait(), True
        return Ending(max(code, 0), signal=-code if code < 0 else None, timed_out=timed_out)

    def kill(self) -> None:
        """Kill the shell alone."""
        self._process.kill()


class Unconfined:
    """Runs commands without a sandbox, and hands them every file that may be inherited."""

    tier = Tier.NONE
    reaches_hosts = True

    def close(self) -> None:
        """Do nothing: nothing is kept."""

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start bash with the command."""
        process = subprocess.Popen(
            [SHELL, "-c", command.text],
            cwd=command.directory,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            close_fds=False,
        )
        return UnconfinedCommand(process, command.timeout)


class Layered:
    """Runs each command in a layer, as the tool does where it is not told otherwise."""

    def __init__(self, runner: CommandRunner, project: str, folder: str) -> None:
        """Keep the changes of a project in a folder."""
        # Only where it is needed: it takes longer than the rest.
        from amplifier_modules.changes.session_changes import SessionChanges

        self.tier = runner.tier
        self._runner = runner
        self._project = project
        self._changes = SessionChanges(Path(folder), SESSION)

    def run(self, command: Command, output: int) -> tuple[Ending, tuple[str, ...]]:
        """Run one to its end, and return what became of its changes."""
        from amplifier_modules.changes.open_change import Call
        from amplifier_modules.tools.bash.layered_runner import LayeredRunner

        if self._changes.find_folder(self._project) is None:
            raise OSError("nothing can be kept in the file system of the project")
        runner = LayeredRunner(self._runner, self._project, self._changes, Call("bash"))
        ending = runner.start(command, output).wait()
        notes = runner.settle(ending, "")
        pending = runner.take_pending()
        if pending is not None:
            notes += pending.commit((), "nobody answers")
        return ending, notes

    def undo(self) -> str:
        """Take the last command back, if it changed something."""
        changes = self._changes.list_changes()
        if not changes or changes[-1].is_undone:
            return ""
        return repr(self._changes.undo(changes[-1:]))


def make_runner(name: str, project: str) -> CommandRunner | Layered:
    """Return the runner of a name: `unconfined`, a tier of the sandbox, or what is like one."""
    if name == "unconfined":
        return Unconfined()
    # Only where it is needed: it takes longer than the rest.
    from amplifier_modules.changes.place import list_changes_folders
    from amplifier_modules.sandbox.bubblewrap import find_bubblewrap
    from amplifier_modules.sandbox.hidden_files import HiddenFiles
    from amplifier_modules.sandbox.sandbox import Sandbox

    temporary = os.environ["TEMPORARY"]
    tier = Tier.LANDLOCK if name == Tier.LANDLOCK else Tier.NAMESPACES
    wrapper = find_bubblewrap() if name == "bubblewrap" else None

    def open_reader(hidden: Sequence[str]) -> AbstractContextManager[CommandRunner]:
        reader = Sandbox(
            project,
            temporary,
            tier,
            profile="read-only",
            find_hidden=lambda: hidden,
            bubblewrap=wrapper,
        )
        return closing(reader)

    hidden = HiddenFiles(
        project,
        open_reader,
        find_kept=lambda: list_changes_folders(project, Path(os.environ["CHANGES"])),
    )
    sandbox = Sandbox(project, temporary, tier, find_hidden=hidden.find, bubblewrap=wrapper)
    return Layered(sandbox, project, os.environ["CHANGES"]) if name == "layers" else sandbox


def run(runner: CommandRunner | Layered, order: dict[str, object]) -> dict[str, object]:
    """Run one command to its end, or take the last one back."""
    output = os.memfd_create("output")
    notes: tuple[str, ...] = ()
    try:
        if order.get("undo"):
            assert isinstance(runner, Layered)
            return {"ending": "undone", "output": runner.undo()}
        command = Command(**order)  # type: ignore[arg-type]
        if isinstance(runner, Layered):
            ending, notes = runner.run(command, output)
        else:
            ending = runner.start(command, output).wait()
        text = os.pread(output, MAX_OUTPUT, 0).decode(errors="replace")
    except OSError as error:
        text = os.pread(output, MAX_OUTPUT, 0).decode(errors="replace")
        return {"ending": None, "output": f"{text}{type(error).__name__}: {error}"}
    finally:
        os.close(output)
    return {"ending": repr(ending), "output": "\n".join((text, *notes)) if notes else text}


def main(name: str, project: str, canary: str, store: str) -> None:
    """Hold what agents hold, then run what is read."""
    secret = ctypes.create_string_buffer(os.environ.pop("AGENT_MEMORY_SECRET").encode())
    os.open(os.environ["TERMINAL"], os.O_RDWR)  # which makes it the terminal of this session
    held = os.open(canary, os.O_RDWR)
    os.set_inheritable(held, True)
    kept = os.open(store, os.O_RDWR)
    runner = make_runner(name, project)
    ready = {
        "AGENT_ADDRESS": ctypes.addressof(secret),
        "AGENT_FD": held,
        "STORE_FD": kept,
        "TIER": runner.tier,
    }
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(runner, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:5])
