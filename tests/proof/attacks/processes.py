"""The processes of a world: how they are started, asked and ended, with all that attacks began."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from look import list_descendants, walk
from users import User

SUBREAPER = 36
END_SECONDS = 2.0
ROUNDS = 400
PAUSE_SECONDS = 0.005


def set_subreaper(value: int) -> None:
    """Become, or no longer be, the parent of all orphans below this process."""
    ctypes.CDLL(None).prctl(SUBREAPER, value, 0, 0, 0)


def start_program(
    user: User, folder: Path, environment: Mapping[str, str], program: str, *arguments: str
) -> subprocess.Popen[bytes]:
    """Start a program of this folder that answers lines with lines."""
    return subprocess.Popen(
        (user.python, "-B", str(Path(__file__).with_name(program)), *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        start_new_session=True,
        **user.switch,  # type: ignore[call-overload]
    )


def tell(process: subprocess.Popen[bytes], order: object) -> None:
    """Send a process a line; one that has ended hears nothing."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()


def read_answer(process: subprocess.Popen[bytes]) -> dict[str, object]:
    """Return what a process answers; nothing if it has ended."""
    assert process.stdout is not None
    line = process.stdout.readline()
    return json.loads(line) if line else {}


def end_program(process: subprocess.Popen[bytes], cleans_up: bool) -> None:
    """End a process, at once or when it has cleaned up."""
    assert process.stdin is not None
    assert process.stdout is not None
    if not cleans_up:
        process.kill()
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.send_signal(signal.SIGCONT)
    # It closes its output when it has cleaned up.
    if select.select([process.stdout], [], [], END_SECONDS)[0]:
        process.stdout.read()
    process.kill()
    process.wait()
    process.stdout.close()


def end_descendants(kept: Collection[int]) -> None:
    """Kill all descendants of this process but some, until there are none."""
    for _ in range(ROUNDS):
        left = [(pid, state) for pid, state in list_descendants() if pid not in kept]
        if not left:
            return
        for pid, state in left:
            with suppress(ProcessLookupError):
                if state not in "ZX":
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(PAUSE_SECONDS)


def remove(path: Path) -> None:
    """Remove a file or a tree, whatever modes it has."""
    if path.is_dir() and not path.is_symlink():
        path.chmod(0o700)
        for entry in walk(path):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, 0o700)
        # Chains of folders are deeper than Python goes.
        subprocess.run(("rm", "-rf", "--", path), check=True)
    else:
        path.unlink()
