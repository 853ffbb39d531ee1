"""The log on standard error: no secrets, and nothing that a terminal acts on."""

from __future__ import annotations

import logging
import sys

from typing_extensions import override

from amplifier_app.known_secrets import SECRETS
from amplifier_app.printable import printable_line


def log_handler() -> logging.Handler:
    """A handler that writes records to standard error as they may be shown."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_Filter())
    return handler


class _Filter(logging.Filter):
    """Takes out the secrets that are known when a record comes."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        from amplifier_guard import RedactingFilter

        return RedactingFilter(SECRETS.redactor).filter(record)


class _Formatter(logging.Formatter):
    """Writes a message in one line, and below it the traceback."""

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable_line(super().formatMessage(record))

    @override
    def format(self, record: logging.LogRecord) -> str:
        from amplifier_guard import TerminalText

        return TerminalText.show(super().format(record))
