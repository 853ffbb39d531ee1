"""Keys from a vault: a class of the user reads them, and they stay in memory for a while."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast

from amplifier_core import world

from ..exceptions import ArcLLMConfigError
from .tables import VaultTable

logger = logging.getLogger(__name__)


class Vault(Protocol):
    """What a `[vault]` names: a class whose objects read secrets."""

    def get_secret(self, path: str) -> str | None:
        """Return the secret at a path; None if there is none."""
        ...


class VaultResolver:
    """Reads secrets of a vault, each at most once in a while; none reaches the environment.

    Args:
        table: The vault.
        clock: Returns seconds.
    """

    def __init__(self, table: VaultTable, clock: Callable[[], float] = world.monotonic) -> None:
        self._table = table
        self._clock = clock
        self._vault: Vault | None = None
        self._known: dict[str, tuple[float, str]] = {}
        # Held while the vault is asked: threads that want the same secret ask once.
        self._asking = threading.Lock()

    def secret(self, path: str) -> str | None:
        """Return a secret; None if the vault has none, or cannot be asked, which is logged.

        Raises:
            ArcLLMConfigError: The class of the vault cannot be used.
        """
        with self._asking:
            now = self._clock()
            if path in self._known and now < self._known[path][0]:
                return self._known[path][1]
            self._known.pop(path, None)
            if self._vault is None:
                self._vault = self._open()
            secret = self._ask(self._vault, path)
            if secret is not None:
                self._known[path] = (now + self._table.cache_ttl_seconds, secret)
            return secret

    def _ask(self, vault: Vault, path: str) -> str | None:
        try:
            secret = cast("object", vault.get_secret(path))
        except Exception as error:  # noqa: BLE001 -- of the user
            # Its text may hold what it was about to return.
            logger.warning(
                "the vault cannot read `%s` (%s); the environment is asked",
                path,
                type(error).__name__,
            )
            return None
        if secret is not None and not isinstance(secret, str):
            raise ArcLLMConfigError(
                f"the vault has a `{type(secret).__name__}` at `{path}` (must be text, or None)"
            )
        return (secret and secret.strip()) or None

    def _open(self) -> Vault:
        place = self._table.backend or ""
        module, _, name = place.partition(":")
        try:
            made: Any = getattr(import_module(module), name)(**self._table.settings)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise ArcLLMConfigError(f"the vault `{place}` cannot be used: {why}") from error
        if not callable(getattr(made, "get_secret", None)):
            raise ArcLLMConfigError(f"the vault `{place}` has no method `get_secret(path)`")
        return cast("Vault", made)
