"""What nobody caught, told on standard error as it may be shown."""

from __future__ import annotations

import sys
import threading
import warnings
from types import TracebackType
from typing import Any

from amplifier_app.failure import shown_traceback
from amplifier_app.notice import notice, write_notice


def tell_uncaught() -> None:
    """Have the interpreter tell of errors and warnings through the command's own lines.

    By itself it would write them raw: of threads, of finalisers, and of the command itself.
    """
    sys.excepthook = _tell
    threading.excepthook = _tell_of_thread
    sys.unraisablehook = _tell_of_unraisable
    warnings.showwarning = _tell_of_warning


def _tell(_: type[BaseException], error: BaseException, __: TracebackType | None) -> None:
    write_notice(shown_traceback(error))


def _tell_of_thread(arguments: Any) -> None:
    if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
        write_notice(shown_traceback(arguments.exc_value))


def _tell_of_unraisable(arguments: Any) -> None:
    if arguments.exc_value is not None:
        write_notice(shown_traceback(arguments.exc_value))


def _tell_of_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    notice(f"{category.__name__}: {message}")
