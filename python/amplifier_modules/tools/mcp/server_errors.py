"""What can be wrong with a server, and with a call of one of its tools."""

from __future__ import annotations

from collections.abc import Iterator

_MAX_CHARS = 600


class ServerError(Exception):
    """A server that cannot be used, or a call that it has not answered."""


class ServerDownError(ServerError):
    """A server that is not connected."""


class ConnectionLostError(ServerError):
    """The connection was lost while a call ran: nobody knows what it has done."""


class CallGivenUpError(ServerError):
    """A call that the server has not answered in time."""


class CallRefusedError(ServerError):
    """A call that the server has answered with an error."""


class StartTimeoutError(ServerError):
    """A server that has not started in time."""


def describe_problem(error: BaseException) -> str:
    """Return what has gone wrong, in one line: of a group of errors, the first that says anything."""
    from amplifier_guard import TerminalText

    texts = [_write(each) for each in _list_leaves(error)]
    # Where a transport breaks off, its streams are closed too, which says nothing.
    text = next((each for each in texts if each), type(error).__name__)
    return TerminalText.line(text, _MAX_CHARS)


def _list_leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] -- of any kind
            yield from _list_leaves(each)  # pyright: ignore[reportUnknownArgumentType] -- the same
    else:
        yield error


def _write(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 -- a foreign `__str__`
        text = ""
    if not text:
        return ""
    return text if isinstance(error, ServerError | OSError) else f"{type(error).__name__}: {text}"
