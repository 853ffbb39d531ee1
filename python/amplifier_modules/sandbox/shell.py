"""The shell that reads a command, and tells in which folder it ends."""

from __future__ import annotations

import os
import shutil
import sys

_TELL_FOLDER = """{{ pwd -P; printf '\\0'; }} 2>/dev/null >/dev/fd/{output}"""
# The command is read by `eval`, so that the shell goes on behind it; in the line of `set`, so that
# the numbers of lines in messages are those of the command. A command that exits runs the trap, one
# with a trap of its own comes to the last line.
_SCRIPT = """trap '{tell}' EXIT; eval "set --; $1"
set -- "$?"; {tell}; exit "$1"
"""


def build_arguments(text: str, output: int) -> list[str]:
    """Return the arguments of a process that runs a command by bash, or by sh where there is none.

    Args:
        text: The command.
        output: The file descriptor that the process has for `read_directory`.
    """
    # Within the quotes of the trap, `'` is written as `'\\''`.
    tell = _TELL_FOLDER.format(output=output)
    script = _SCRIPT.replace("'{tell}'", "'" + tell.replace("'", "'\\''") + "'")
    script = script.replace("{tell}", tell)
    bash = shutil.which("bash")
    shell = [bash, "--noprofile", "--norc"] if bash else ["/bin/sh"]
    return [*shell, "-c", script, "bash" if bash else "sh", text]


def read_directory(source: int) -> str | None:
    """Return the working folder of a shell at its end; None if it did not say.

    Args:
        source: The other end of the pipe that it wrote to. Who else still has that is not waited
            for.
    """
    assert sys.platform != "win32"
    os.set_blocking(source, False)
    written = b""
    try:
        while piece := os.read(source, 2**16):
            written += piece
    except BlockingIOError:
        pass
    records = written.split(b"\0")
    # One that ends by its last line has written it twice.
    last = records[-2] if len(records) > 1 else b""
    return os.fsdecode(last.removesuffix(b"\n")) or None
