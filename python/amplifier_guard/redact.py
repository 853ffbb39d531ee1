"""Removal of secrets from text, data, errors and logs."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from typing_extensions import override

from amplifier_core._engine import (
    PersonalData,
    PersonalDataStream,
    RedactorStream,
    hide_homes,
    shorten,
)
from amplifier_core._engine import Redactor as _Redactor

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


class Redactor(_Redactor):
    """Removes known secrets in any encoding, and whatever looks like a secret.

    Each becomes `[REDACTED:<kind>]`. The time is linear in the text.

    `Redactor(secrets)` takes the configured keys and passwords. No eight characters in a row of one
    are left, whether plain, in base64, percent-encoded, in hexadecimal digits or with escapes of JSON
    or HTML. Blank ones are ignored; fewer than four bytes are a `ValueError`.
    """

    __slots__ = ()

    def redact_exception(self, error: BaseException) -> str:
        """Return the traceback with causes, contexts, notes and groups, without secrets and homes.

        This never raises, even if the error's own methods do.
        """
        try:
            lines = traceback.TracebackException.from_exception(error).format()
            text = "".join(lines)
        except Exception as failure:  # noqa: BLE001 (a foreign `__str__`)
            text = f"{type(error).__name__} (not shown: {type(failure).__name__})\n"
        return self._line(text)

    def redact_log(self, text: str, most: int | None = None) -> str:
        """Return a line of a log without secrets and home folders.

        Args:
            text: The line.
            most: Maximum number of characters.
        """
        line = self._line(text)
        return line if most is None else shorten(line, most)

    def _line(self, text: str) -> str:
        redacted = self.redact(text)
        # Lone surrogates have no place in a file name that is shown.
        return hide_homes(redacted.encode("utf-8", "backslashreplace").decode())


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
