"""The log on standard error, without secrets and control characters."""

from __future__ import annotations

import logging
import sys

from typing_extensions import override

from amplifier_app.known_secrets import SECRETS
from amplifier_app.printable import printable_line


def log_handler() -> logging.Handler:
    """A handler that writes safe lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_Filter())
    return handler


class _Filter(logging.Filter):
    """Removes the secrets that are known when a record arrives."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        from amplifier_guard import RedactingFilter

        return RedactingFilter(SECRETS.redactor).filter(record)


class _Formatter(logging.Formatter):
    """Writes a message in one line, then the traceback."""

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable_line(super().formatMessage(record))

    @override
    def format(self, record: logging.LogRecord) -> str:
        from amplifier_guard import TerminalText

        return TerminalText.show(super().format(record))
