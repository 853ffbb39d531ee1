"""Errors in one line, what happened and what to do about it; and those that nobody caught."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from types import TracebackType
from typing import Any

from amplifier_app.engine import load_engine
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice, write_notice
from amplifier_app.outcome import FAILED, WRONG_USAGE, Outcome
from amplifier_app.system_keyring import KEYRING

_MAX_CHARS = 1000

# By class name, so that nothing has to be imported to explain an error.
_HINTS = {
    "AccessDeniedError": "this key cannot use the model; choose another with `--model`",
    "AuthenticationError": "check the API key",
    "QuotaExceededError": "check the account's credit",
    "RateLimitError": "wait a moment and try again",
    "ContextLengthError": "shorten the prompt",
    "ContentFilterError": "rephrase the prompt",
    "NotFoundError": "check `--model` and the address of the service",
    "NetworkError": "check the network and the address of the service",
    "ProviderUnavailableError": "try again in a moment",
    "LLMTimeoutError": "try again",
    "StreamError": "the answer is incomplete; try again",
    "ConfigurationError": "correct the setting",
    "PermissionError": "check the permissions of the file",
}


class Failure(Exception):
    """A failure of the command itself.

    Args:
        message: What happened.
        hint: What the user can do about it.
        exit_code: `FAILED`, or `WRONG_USAGE` where the command was called wrongly.
    """

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


def describe_error(error: BaseException) -> str:
    """The line for an error: `error: what happened; what to do`."""
    message = _write_message(error)
    hint = _hint(error)
    return f"error: {message}" + (f"; {hint}" if hint and hint not in message else "")


def report(error: BaseException) -> int:
    """Write an error to standard error and return its exit code."""
    if is_debugging():
        write_notice(shown_traceback(error))
    show_notice(describe_error(error))
    return exit_code_of(error)


def exit_code_of(error: BaseException) -> int:
    """The exit code for an error."""
    return error.exit_code if isinstance(error, Failure) else FAILED


def outcome_of_error(error: BaseException) -> Outcome:
    """The outcome of a run that ended with an error."""
    message = _write_message(error)
    cause = error.__cause__ if isinstance(error, Failure) and error.__cause__ else error
    is_usage = exit_code_of(error) == WRONG_USAGE
    return Outcome(
        status="error",
        reason=message,
        error={
            "type": "UsageError" if is_usage else type(cause).__name__,
            "message": message,
            "hint": _hint(error) or None,
        },
        exit_code=exit_code_of(error),
    )


def shown_traceback(error: BaseException) -> str:
    """The traceback with causes and notes, safe to show."""
    import traceback

    try:
        load_engine()
    except ImportError:
        # No turn has run, so the traceback holds no foreign text.
        return "".join(traceback.format_exception(error)).rstrip("\n")
    from amplifier_guard import TerminalText

    return TerminalText.show(SECRETS.redactor.redact_exception(error).rstrip("\n"))


def is_debugging() -> bool:
    """Whether tracebacks are wanted (`--debug`, or `AMPLIFIER_DEBUG` in the environment)."""
    return os.environ.get("AMPLIFIER_DEBUG", "").strip().lower() not in ("", "0", "false", "no")


def _is_ours(error: BaseException) -> bool:
    """Whether the message of the error is meant for users: that of a model call or of the system."""
    names = {ancestor.__name__ for ancestor in type(error).__mro__}
    return bool(names & {"LLMError", "OSError"})


def _hint(error: BaseException) -> str:
    """The error's own hint, or a hint for errors of its kind."""
    names = {ancestor.__name__ for ancestor in type(error).__mro__}
    provider = getattr(error, "provider", None) if _is_ours(error) else None
    if "AuthenticationError" in names and provider in KEYRING.in_use:
        return f"set another key: `amplifier-core provider key set {provider}`"
    hint: object = None
    with contextlib.suppress(Exception):  # a foreign attribute may be anything
        hint = getattr(error, "hint", None)
    if isinstance(hint, str):
        if "NotFoundError" in names and _is_known(provider):
            hint += f"; `amplifier-core provider models {provider}` lists the models"
        return SECRETS.write_line(hint, _MAX_CHARS)
    if isinstance(error, Failure):
        return ""
    if not _is_ours(error):
        return "run again with `--debug` for the traceback"
    return next((hint for name, hint in _HINTS.items() if name in names), "")


def _is_known(provider: object) -> bool:
    """Whether the command can list the models of a provider."""
    from amplifier_core.known_modules import list_own_modules

    return f"provider-{provider}" in list_own_modules()


def _write_message(error: BaseException) -> str:
    try:
        text = SECRETS.write_line(str(error), _MAX_CHARS).rstrip(".")
    except Exception:  # noqa: BLE001 - any exception may fail to say what it is
        text = ""
    if isinstance(error, OSError) and error.strerror:
        where = f"`{error.filename}`: " if error.filename else ""
        text = SECRETS.write_line(f"{where}{error.strerror}", _MAX_CHARS)
    name = type(error).__name__
    if not text:
        return name
    # The kernel raises a bare RuntimeError for a session that cannot start: the type says nothing.
    is_clear = isinstance(error, Failure) or type(error) is RuntimeError or _is_ours(error)
    return text if is_clear else f"{name}: {text}"


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
    show_notice(f"{category.__name__}: {message}")
