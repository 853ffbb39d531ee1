"""What commands write that run no turn: lines and columns for people, or JSON, and errors."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from amplifier_app.failure import Failure, is_debugging, outcome_of_error, report
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice
from amplifier_app.outcome import (
    COMPLETE,
    INTERRUPTED,
    READER_GONE,
    WRONG_USAGE,
    outcome_of_signal,
)
from amplifier_app.plain_mode import is_plain
from amplifier_app.printable import printable_line

_MAX_CHARS = 500


class Report:
    """The output of one command.

    Args:
        as_json: Whether a program reads it.
        provider: The provider that it is about, for JSON.
    """

    def __init__(self, *, as_json: bool = False, provider: str | None = None) -> None:
        self.as_json = as_json
        self._has_written = False
        self._about = {} if provider is None else {"provider": provider}

    @property
    def width(self) -> int | None:
        """The columns of the terminal that a person looks at; None in a pipe and for JSON."""
        if self.as_json or not _is_terminal(sys.stdout):
            return None
        return max(40, shutil.get_terminal_size().columns - 1)

    def run_command(self, command: Callable[[Report], None]) -> int:
        """Run a command and return the exit code; what goes wrong is one line."""
        if is_debugging():
            from amplifier_app.commands.start import set_up_logging

            set_up_logging(verbose=False)
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
            return report(Failure("standard output is closed", hint="open it to see the result"))
        try:
            command(self)
            sys.stdout.flush()
        except KeyboardInterrupt:
            self._fail(outcome_of_signal().reason or "", "Interrupted", None)
            return INTERRUPTED
        except BrokenPipeError:
            return READER_GONE
        except OSError as error:
            hint = "check where it is redirected to"
            message = f"standard output cannot be written: {error.strerror}"
            return report(Failure(message, hint=hint))
        except Exception as error:  # noqa: BLE001 - reported in one line
            return self._report_failure(error)
        return COMPLETE

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write lines for people; they may hold foreign text."""
        encoding = sys.stdout.encoding or "utf-8"
        for line in lines:
            safe = SECRETS.redact(line)
            sys.stdout.write(safe.encode(encoding, "backslashreplace").decode(encoding) + "\n")

    def write_data(self, data: Mapping[str, Any]) -> None:
        """Write the JSON object."""
        shown = SECRETS.redact_data({**self._about, **data, "error": data.get("error")})
        self._write_json(shown)

    def write_list(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Write a JSON list of objects."""
        self._write_json([SECRETS.redact_data(each) for each in objects])

    def write_rows(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Write JSON objects, each in a line of its own."""
        for each in objects:
            self._write_json(SECRETS.redact_data(each))

    def say_aside(self, text: str) -> None:
        """Say something to the person who looks at a terminal, on standard error."""
        if not self.as_json and _is_terminal(sys.stderr):
            show_notice(text)

    def ask(self, question: str) -> bool:
        """Ask the person at the terminal; only `y` and `yes` agree.

        Raises:
            Failure: There is no terminal.
        """
        if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
            hint = "`--yes` says that you are"
            message = "nobody can be asked whether you are sure"
            raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
        sys.stderr.write(f"{SECRETS.write_line(question, _MAX_CHARS)} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    @contextlib.contextmanager
    def waiting(self, text: str) -> Generator[None]:
        """Say what is waited for while in this block, to a person."""
        is_shown = not self.as_json and _is_terminal(sys.stderr)
        is_shown = is_shown and not is_plain(os.environ)
        if is_shown:
            sys.stderr.write(printable_line(text, 78))
            sys.stderr.flush()
        try:
            yield
        finally:
            if is_shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def _write_json(self, shown: object) -> None:
        self._has_written = True
        sys.stdout.write(json.dumps(shown) + "\n")

    def _report_failure(self, error: Exception) -> int:
        code = report(error)
        outcome = outcome_of_error(error)
        if outcome.error is not None:
            self._fail(outcome.error["message"], outcome.error["type"], outcome.error["hint"])
        return code

    def _fail(self, message: str, kind: str, hint: str | None) -> None:
        # A program reads one document, which says the problem where it was written already.
        if self.as_json and not self._has_written:
            with contextlib.suppress(OSError):
                self.write_data({"error": {"type": kind, "message": message, "hint": hint}})


def write_foreign(text: str) -> str:
    """Return text of a service as a line that can be shown."""
    return printable_line(text, _MAX_CHARS)


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()
