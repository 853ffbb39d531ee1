"""Removal of secrets from text, data, errors and logs."""

from __future__ import annotations

import logging
from typing import Any

from typing_extensions import override

from amplifier_core._engine import (
    PersonalData,
    PersonalDataStream,
    Redactor,
    RedactorStream,
    hide_homes,
    shorten,
)

__all__ = [
    "PersonalData",
    "PersonalDataStream",
    "RedactingFilter",
    "Redactor",
    "RedactorStream",
    "hide_homes",
    "shorten",
]

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class RedactingFilter(logging.Filter):
    """Removes secrets and home folders from the records of a handler; it drops none.

    A record without any is not changed. Add it to handlers: a logger's filters do not see the
    records of its child loggers.

    Args:
        redactor: Removes the secrets.
        most: Maximum number of characters of a message.
    """

    def __init__(self, redactor: Redactor, most: int | None = None) -> None:
        """Keep the redactor."""
        super().__init__()
        self._redactor = redactor
        self._most = most

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the message, its error, its stack and its extra fields; always true."""
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 (arguments that do not fit, a foreign `__str__`)
            # The handler would print the arguments that do not fit.
            try:
                message = f"{record.msg!s} {record.args!r}"
            except Exception:  # noqa: BLE001 (a foreign `__str__`)
                message = "a message that cannot be shown"
            record.msg, record.args = message, None
        redacted = self._redactor.redact_log(message, self._most)
        if redacted != message:
            record.msg, record.args = redacted, None
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = self._redactor.redact_exception(record.exc_info[1]).rstrip("\n")
            record.exc_info = None
        elif record.exc_text:
            record.exc_text = self._redactor.redact_log(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.redact_log(record.stack_info)
        extra: dict[str, Any] = {
            name: value for name, value in vars(record).items() if name not in _STANDARD
        }
        if extra:
            safe = self._redactor.redact_data(extra)
            if safe is not extra:
                for name in extra:
                    del vars(record)[name]
                vars(record).update(safe)
        return True
