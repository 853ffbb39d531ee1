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


def make_runner(name: str, project: str) -> CommandRunner:
    """Return the runner of a name: `unconfined`, or a tier of the sandbox."""
    if name == "unconfined":
        return Unconfined()
    # Only where it is needed: it takes longer than the rest.
    from amplifier_modules.sandbox.hidden_files import HiddenFiles
    from amplifier_modules.sandbox.sandbox import Sandbox

    temporary, tier = os.environ["TEMPORARY"], Tier(name)

    def open_reader(hidden: Sequence[str]) -> AbstractContextManager[CommandRunner]:
        reader = Sandbox(project, temporary, tier, profile="read-only", find_hidden=lambda: hidden)
        return closing(reader)

    return Sandbox(project, temporary, tier, find_hidden=HiddenFiles(project, open_reader).find)


def run(runner: CommandRunner, order: dict[str, object]) -> dict[str, object]:
    """Run one command to its end."""
    output = os.memfd_create("output")
    try:
        ending = runner.start(Command(**order), output).wait()  # type: ignore[arg-type]
        text = os.pread(output, MAX_OUTPUT, 0).decode(errors="replace")
    except OSError as error:
        return {"ending": None, "output": f"{type(error).__name__}: {error}"}
    finally:
        os.close(output)
    return {"ending": repr(ending), "output": text}


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
