"""The console script `amplifier-core`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Sequence

_OBJECTS_PER_COLLECTION = 100_000
"""More new objects than this are searched for garbage; by default it is 700."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: The command line without the program; that of the process if None.

    Returns:
        0; 1 for a failure; 2 for wrong usage; 3 for an answer that was cut short; 129, 130 and 143
        when hung up, interrupted or terminated; 141 when standard output was closed.
    """
    try:
        # What is imported is never garbage. To look for it there, now and at the end of the
        # process, would take a sixth of the time of `--help`. The objects of a program that calls
        # this function are its own matter.
        if arguments is None:
            gc.disable()
        # Imported here, so that Ctrl+C during the import ends as quietly as later.
        from amplifier_app.import_path import secure_import_path

        ignored = secure_import_path() if arguments is None else []
        from amplifier_app.command_line import run_command

        if arguments is None:
            gc.freeze()
            # A turn imports more than this. Garbage in circles is so rare that it can wait.
            gc.set_threshold(_OBJECTS_PER_COLLECTION)
            gc.enable()
        for line in ignored:
            from amplifier_app.notice import show_notice

            show_notice(f"warning: {line}")
        code = run_command(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = 130
        given = sys.argv[1:] if arguments is None else arguments
        if "--json" in given and given[0] not in ("mcp", "provider"):  # whose JSON has no outcome
            from amplifier_app.commands.outcome_line import OutcomeLine
            from amplifier_app.outcome import outcome_of_signal

            OutcomeLine(wanted=True).write(outcome_of_signal())
    if arguments is None:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """Flush the output and end the process, even if threads are still running."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except AttributeError:
            pass  # closed before the start
        except (OSError, ValueError):
            # The interpreter would try to flush again at exit, and print an error.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if any(each for each in threading.enumerate() if _is_busy(each)):
        os._exit(code)  # a tool's thread that cannot be stopped must not keep the user waiting
    sys.exit(code)


def _is_busy(thread: threading.Thread) -> bool:
    return thread is not threading.main_thread() and not thread.daemon


if __name__ == "__main__":
    main()
