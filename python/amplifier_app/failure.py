"""What went wrong in one line: what it is, and what to do about it."""

from __future__ import annotations

import os

from amplifier_app.engine import load_engine
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import notice, write_notice

_LONGEST = 1000

# By class name along the error's ancestry, so that nothing has to be imported to explain.
_ADVICE = {
    "AccessDeniedError": "the key may not use this model; choose another with `--model`",
    "AuthenticationError": "check `ANTHROPIC_API_KEY`",
    "QuotaExceededError": "check the account's credit",
    "RateLimitError": "wait a little and run it again",
    "ContextLengthError": "ask for less at once",
    "ContentFilterError": "rephrase the prompt",
    "NotFoundError": "check `--model` and `ANTHROPIC_BASE_URL`",
    "NetworkError": "check the network and `ANTHROPIC_BASE_URL`",
    "ProviderUnavailableError": "try again in a moment",
    "LLMTimeoutError": "try again",
    "StreamError": "the answer is not complete; run it again",
    "ConfigurationError": "correct the setting",
    "PermissionError": "check who may read it",
}


class Failure(Exception):
    """A failure of the command itself, whose message says what and what to do.

    Args:
        message: What happened; what to do.
        exit_code: 1, or 2 where the command was called wrongly.
    """

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def explained(error: BaseException) -> str:
    """The line for an error: `error: …; …`."""
    message = _message(error)
    if isinstance(error, Failure):
        return f"error: {message}"
    names = [ancestor.__name__ for ancestor in type(error).__mro__]
    if not _is_ours(error):
        advice = "run it with `--debug` for the traceback"
    else:
        # A provider that gives advice writes it behind a semicolon, and knows more.
        found = (advice for name, advice in _ADVICE.items() if name in names)
        advice = "" if ";" in message else next(found, "")
    return f"error: {message}{'; ' if advice else ''}{advice}"


def report(error: BaseException) -> int:
    """Tell of an error on standard error and return its exit code."""
    if is_debugging():
        write_notice(shown_traceback(error))
    notice(explained(error))
    return error.exit_code if isinstance(error, Failure) else 1


def shown_traceback(error: BaseException) -> str:
    """The traceback with causes and notes, as it may be shown."""
    import traceback

    try:
        load_engine()
    except ImportError:
        # No turn has run: there is nothing in it that is not our own.
        return "".join(traceback.format_exception(error)).rstrip("\n")
    from amplifier_guard import TerminalText

    return TerminalText.show(SECRETS.redactor.redact_exception(error).rstrip("\n"))


def is_debugging() -> bool:
    """Whether tracebacks are wanted (`--debug`, or `AMPLIFIER_DEBUG` in the environment)."""
    return os.environ.get("AMPLIFIER_DEBUG", "").strip().lower() not in ("", "0", "false", "no")


def _is_ours(error: BaseException) -> bool:
    """Whether the error is of a kind that speaks to users: a model call, the system."""
    names = {ancestor.__name__ for ancestor in type(error).__mro__}
    return bool(names & {"LLMError", "OSError"})


def _message(error: BaseException) -> str:
    try:
        text = SECRETS.line(str(error), _LONGEST).rstrip(".")
    except Exception:  # noqa: BLE001 - any exception may fail to say what it is
        text = ""
    if isinstance(error, OSError) and error.strerror:
        where = f"`{error.filename}`: " if error.filename else ""
        text = SECRETS.line(f"{where}{error.strerror}", _LONGEST)
    name = type(error).__name__
    if not text:
        return name
    # A bare RuntimeError says no more than its text: the kernel raises it for a session that
    # cannot start.
    speaks = isinstance(error, Failure) or type(error) is RuntimeError or _is_ours(error)
    return text if speaks else f"{name}: {text}"
