"""The secrets of logins in the keyring of the system, by the package `keyring` where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

_SERVICE = "amplifier-core"
_SECONDS = 30.0
"""How long the keyring may take: it may have to ask a person for its password."""


class KeyringError(OSError):
    """The keyring of the system cannot be used."""


async def keep_in_keyring(name: str, secret: str) -> bool:
    """Keep a secret, and return whether it is kept: a system without a keyring keeps none."""
    if find_spec("keyring") is None:
        return False

    def keep(ring: Any) -> bool:
        ring.set_password(_SERVICE, name, secret)
        # A keyring that is turned off takes a secret without a word.
        return ring.get_password(_SERVICE, name) == secret

    try:
        return await _ask(keep)
    except KeyringError:
        return False


async def read_from_keyring(name: str) -> str | None:
    """Return a secret; None if there is none.

    Raises:
        KeyringError: The keyring cannot be used.
    """
    found: object = await _ask(lambda ring: ring.get_password(_SERVICE, name))
    return found if isinstance(found, str) else None


async def remove_from_keyring(name: str) -> None:
    """Remove a secret.

    Raises:
        KeyringError: The keyring cannot be used.
    """

    def remove(ring: Any) -> None:
        if ring.get_password(_SERVICE, name) is not None:
            ring.delete_password(_SERVICE, name)

    await _ask(remove)


async def _ask(question: Callable[[Any], T]) -> T:
    def ask() -> T:
        import keyring

        return question(keyring.get_keyring())

    try:
        with anyio.fail_after(_SECONDS):
            # Some keyrings wait for ever, such as that of a desktop where nobody sees its question.
            return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
    except TimeoutError:
        raise KeyringError(f"the system keyring did not answer within {_SECONDS:g} s") from None
    except Exception as error:  # noqa: BLE001 -- a backend may raise whatever it likes
        # Its text may hold what it was given.
        raise KeyringError(f"the system keyring cannot be used: {type(error).__name__}") from None
