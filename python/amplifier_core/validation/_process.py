"""Validation of a module in a process of its own, with a time limit and a verdict in every case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from pydantic import TypeAdapter, ValidationError

from .base import Severity, ValidationResult

# The module finds what it would find here; `-P` keeps the working folder out before that.
_PROGRAM = (
    "import json, sys; request = json.loads(sys.argv.pop()); sys.path[:] = request.pop('path'); "
    "from amplifier_core.validation._child import main; main(**request)"
)
_PROCESS = "module_process"
_TAIL_BYTES = 4_096
_MAX_LINE_CHARS = 200
_DRAIN_SECONDS = 1.0
_Checks = TypeAdapter(list[tuple[str, bool, str, Severity]])


def validate_in_process(
    module_type: str, module_path: str, entry_point: str | None, seconds: float
) -> ValidationResult:
    """Validate a module in another process, which is ended after `seconds`.

    It gets the environment of this one, as the module would in a session. What it writes is shown
    only if it ends without a verdict.
    """
    with TemporaryDirectory(prefix="amplifier-validate-", ignore_cleanup_errors=True) as folder:
        verdict = Path(folder, "verdict.json")
        request = {
            "path": sys.path,
            "verdict": str(verdict),
            "module_type": module_type,
            "module_path": module_path,
            "entry_point": entry_point,
        }
        ended = _run(json.dumps(request), seconds)
        result = ValidationResult(module_type, module_path)
        try:
            checks = _Checks.validate_json(verdict.read_bytes())
        except (OSError, ValidationError):
            result.note(_PROCESS, False, ended)
        else:
            for check in checks:
                result.note(*check)
        return result


def _run(request: str, seconds: float) -> str:
    """Run the process to its end or to the limit; return how it ended."""
    reading, writing = os.pipe()
    output = _Output(reading)
    output.start()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, request],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"The process of the module could not be started: {error}"
    finally:
        os.close(writing)
    try:
        how = _describe_end(process.wait(seconds))
    except subprocess.TimeoutExpired:
        how = f"The module was stopped after {seconds:g} s: its checks had not ended (--timeout)"
    finally:
        _end(process)
    # Processes that the module started may keep the pipe open.
    output.join(_DRAIN_SECONDS)
    return how + output.last_line()


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"The module ended its process with exit code {code} before its checks had ended"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"The process of the module was ended by signal {name}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


class _Output(Thread):
    """Reads everything that a process writes, and keeps the end of it."""

    def __init__(self, reading: int) -> None:
        super().__init__(daemon=True)
        self._reading = reading
        self._tail = b""

    def run(self) -> None:
        """Read until nobody can write any more."""
        with suppress(OSError):
            while chunk := os.read(self._reading, 1 << 16):
                self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        os.close(self._reading)

    def last_line(self) -> str:
        """Quote the last line, if there is one."""
        lines = self._tail.decode(errors="backslashreplace").split("\n")
        line = next((line for line in map(str.strip, reversed(lines)) if line), "")
        return f"; its last output: {line[-_MAX_LINE_CHARS:]}" if line else ""
