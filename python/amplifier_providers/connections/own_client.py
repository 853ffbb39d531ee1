"""The HTTP client that a program gives: checked, used in one event loop, and never closed here."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakKeyDictionary, ref

from pydantic import AfterValidator

from amplifier_core.llm_errors import ConfigurationError

from ..running.loop_end import running_loop
from ..value_problems import Form

if TYPE_CHECKING:
    import httpx2


def is_http_client(value: object) -> bool:
    """Whether this is an `httpx2.AsyncClient`."""
    import httpx2

    return isinstance(value, httpx2.AsyncClient)


def _check_client(value: Any) -> Any:
    if value is not None and not is_http_client(value):
        raise ValueError
    return value


OwnClient = Annotated[Any, AfterValidator(_check_client), Form("an `httpx2.AsyncClient`")]
"""A client of the program's own; None for the connections that all sessions share."""

_loops: WeakKeyDictionary[Any, ref[Any]] = WeakKeyDictionary()
_lock = Lock()


def check_usable(provider: str, client: httpx2.AsyncClient) -> None:
    """Refuse a client that is closed, or whose connections belong to another event loop.

    Args:
        provider: Who is called, for the error.
        client: The client; it belongs to the first event loop that uses it.

    Raises:
        ConfigurationError: It cannot be used here.
    """
    loop = running_loop()
    with _lock:
        first = _loops.setdefault(client, ref(loop))
    if first() is not loop:
        raise ConfigurationError(
            "`http_client` was used in another event loop, to which its connections belong (give"
            " each loop a client of its own, or none)",
            provider=provider,
        )
    if client.is_closed:
        raise ConfigurationError(
            "`http_client` is closed (it must stay open for as long as it is used)",
            provider=provider,
        )
