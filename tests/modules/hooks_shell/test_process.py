"""Hooks that do what they should not: they end, with all that they began, and say what counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from amplifier_modules.hooks.shell.hook_process import FinishedHook, HookPlace, HookProcess
from amplifier_modules.sandbox.command import Ending
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("shell-hooks")]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run a line in a folder: `await run(line, given)`."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(temporary)}
    place = HookPlace(UnconfinedRunner(), str(tmp_path), temporary, environment)

    async def run(line: str, given: bytes = b"{}", seconds: float = 30) -> FinishedHook:
        before = set(os.listdir("/proc/self/fd"))
        finished = await HookProcess(place, line, seconds, given).run()
        assert os.listdir(temporary) == []
        assert set(os.listdir("/proc/self/fd")) <= before
        return finished

    return run


def shorten(finished: FinishedHook) -> tuple[Any, ...]:
    ending = finished.ending
    assert ending is not None
    return (ending.exit_code, ending.signal, finished.output, finished.errors, finished.is_cut)


async def test_a_hook_reads_its_input_and_its_two_outputs_are_apart(run: Any) -> None:
    finished = await run('cat; echo err >&2; echo "$0" "$#"; exit 7', b'{"a": 1}\n')

    assert shorten(finished) == (7, None, b'{"a": 1}\nbash 0\n', b"err\n", False)


# Holds: shellhooks-6
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (":", (0, None, b"", b"", False)),
        ("# nothing", (0, None, b"", b"", False)),
        ("exec 0<&- 1>&- 2>&-; exit 2", (2, None, b"", b"", False)),
        ("printf 'a\\0\\377'", (0, None, b"a\0\xff", b"", False)),
        ("kill -9 $$", (None, 9, b"", b"", False)),
        ("echo a; sleep 60 & echo b", (0, None, b"a\nb\n", b"", False)),
        ("cat <<E\nhere\nE", (0, None, b"here\n", b"", False)),
        ("trap '' TERM INT HUP; echo on", (0, None, b"on\n", b"", False)),
        ('rm -rf "$TMPDIR"/*; echo gone', (0, None, b"gone\n", b"", False)),
    ],
)
async def test_a_hook_ends_whatever_it_does(run: Any, line: str, expected: tuple[Any, ...]) -> None:
    assert shorten(await run(line)) == expected


# Holds: shellhooks-6
async def test_a_flood_is_read_to_its_end_and_kept_to_a_limit(run: Any) -> None:
    finished = await run("yes | head -c 3000000; yes no | head -c 3000000 >&2")

    assert finished.ending == Ending(0, directory=finished.ending.directory)
    assert (len(finished.output), len(finished.errors), finished.is_cut) == (262144, 262144, True)


# Holds: shellhooks-6
async def test_one_that_never_ends_is_ended_with_what_it_began(run: Any, tmp_path: Path) -> None:
    finished = await run("sleep 300 & echo $! > pid; yes", seconds=0.5)

    assert finished.ending.timed_out
    await _await_end(int((tmp_path / "pid").read_text()))


# Holds: shellhooks-6
async def test_what_left_its_group_does_not_hold_the_turn_up(run: Any, tmp_path: Path) -> None:
    finished = await run(
        "setsid sh -c 'echo $$ > pid; echo in; sleep 300' & until [ -s pid ]; do :; done"
    )
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, 9)

    assert finished.ending.exit_code == 0


# Holds: shellhooks-7
async def test_a_cancelled_hook_is_ended_first(run: Any, tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(run, "echo $$ > pid.new; mv pid.new pid; sleep 300")
        while not (tmp_path / "pid").exists():
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()

    await _await_end(int((tmp_path / "pid").read_text()))


async def test_a_hook_whose_folder_is_gone_was_not_started(tmp_path: Path) -> None:
    place = HookPlace(UnconfinedRunner(), str(tmp_path / "none"), tmp_path, {"PATH": os.defpath})

    finished = await HookProcess(place, ":", 30, b"").run()

    assert finished.ending is None
    assert "cannot be started" in finished.failure
    assert os.listdir(tmp_path) == []


async def _await_end(pid: int) -> None:
    """Wait until a process that was killed is gone, which the system does not do at once."""
    with anyio.fail_after(30):
        while _runs(pid):
            await anyio.lowlevel.checkpoint()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
