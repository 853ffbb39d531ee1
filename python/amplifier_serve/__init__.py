"""Agents as a service: workers that run turns, clients that send prompts, a server over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import Client
    from .errors import ServeError
    from .http.server import Server
    from .http.tokens import TokenFile
    from .views import AskedQuestion, SessionEvent, SessionSummary, Submission
    from .worker import Worker

__all__ = [
    "AskedQuestion",
    "Client",
    "ServeError",
    "Server",
    "SessionEvent",
    "SessionSummary",
    "Submission",
    "TokenFile",
    "Worker",
]

_LATE = {
    "AskedQuestion": ".views",
    "Client": ".client",
    "ServeError": ".errors",
    "Server": ".http.server",
    "SessionEvent": ".views",
    "SessionSummary": ".views",
    "Submission": ".views",
    "TokenFile": ".http.tokens",
    "Worker": ".worker",
}
"""Names by module; each is imported at its first use."""


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LATE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
