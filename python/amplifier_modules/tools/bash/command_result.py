"""What a model reads of a command."""

from __future__ import annotations

import signal
from typing import Any

from amplifier_modules.sandbox.command import LaunchError

from .captured_output import TakenOutput
from .command_run import CommandRun


def describe_end(run: CommandRun) -> dict[str, Any]:
    """Return how a command has ended.

    Raises:
        LaunchError: It could not be run.
    """
    ending = run.ending
    if ending is None:
        raise LaunchError(str(run.failure) or type(run.failure).__name__) from run.failure
    if ending.timed_out:
        return {"timed_out": True}
    if run.is_killed:
        return {"killed": True}
    if ending.signal is not None:
        return {"signal": name_signal(ending.signal)}
    return {"exit_code": ending.exit_code}


def describe_file(taken: TakenOutput) -> dict[str, Any]:
    """Return where the whole of an output is that is cut; nothing of one that is not."""
    if not taken.is_cut:
        return {}
    described: dict[str, Any] = {}
    if taken.file is not None:
        # In this form bash reads it on Windows, too.
        described["output_file"] = taken.file.as_posix()
    if taken.file_problem is not None:
        described["output_file_problem"] = taken.file_problem
    return described


def name_signal(number: int) -> str:
    """Return the name of a signal, such as `SIGTERM`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
