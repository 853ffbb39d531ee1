"""Uncaught errors and warnings on standard error, safe to show."""

from __future__ import annotations

import sys
import threading
import warnings
from types import TracebackType
from typing import Any

from amplifier_app.failure import shown_traceback
from amplifier_app.notice import notice, write_notice


def show_uncaught() -> None:
    """Write uncaught errors and warnings, those of threads and finalisers too, without secrets."""
    sys.excepthook = _show
    threading.excepthook = _show_from_thread
    sys.unraisablehook = _show_unraisable
    warnings.showwarning = _show_warning


def _show(_: type[BaseException], error: BaseException, __: TracebackType | None) -> None:
    write_notice(shown_traceback(error))


def _show_from_thread(arguments: Any) -> None:
    if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
        write_notice(shown_traceback(arguments.exc_value))


def _show_unraisable(arguments: Any) -> None:
    if arguments.exc_value is not None:
        write_notice(shown_traceback(arguments.exc_value))


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    notice(f"{category.__name__}: {message}")
