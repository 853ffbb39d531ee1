"""Who asks, by Entra ID: tokens of a credential, fetched when they are needed and kept until then."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import anyio
import anyio.to_thread

from amplifier_core import world
from amplifier_core.llm_errors import AuthenticationError, LLMError

from ..settings import SettingError
from .config import MODULE, PROVIDER, SERVICE, AzureOpenAIConfig

SCOPE = "https://cognitiveservices.azure.com/.default"
_EARLY_SECONDS = 300.0
"""A token is fetched anew so long before its end: a request takes its time."""


class AccessToken(Protocol):
    """A token and when it ends, in seconds since the epoch."""

    @property
    def token(self) -> str: ...  # noqa: D102
    @property
    def expires_on(self) -> int: ...  # noqa: D102


class Credential(Protocol):
    """Somebody who gets tokens, such as the classes of `azure.identity`."""

    def get_token(self, *scopes: str) -> AccessToken:
        """Fetch a token; this blocks."""
        ...


class Tokens:
    """The tokens of one credential."""

    def __init__(
        self,
        credential: Credential,
        hide: Callable[[str], object],
        clock: Callable[[], float] = world.time,
    ) -> None:
        """Fetch nothing yet.

        Args:
            credential: Gets the tokens, in a thread of its own.
            hide: Called with each token, as it is a secret.
            clock: Returns the seconds since the epoch.
        """
        self._credential = credential
        self._hide = hide
        self._clock = clock
        self._token: AccessToken | None = None

    async def get_token(self) -> str:
        """Return a token that is valid for a while.

        Raises:
            AuthenticationError: The credential gets none.
        """
        known = self._token
        if known is None or known.expires_on - self._clock() < _EARLY_SECONDS:
            try:
                known = await anyio.to_thread.run_sync(
                    self._credential.get_token, SCOPE, abandon_on_cancel=True
                )
            except Exception as error:  # whatever a credential of the user raises
                raise _no_token(error) from error
            self._hide(known.token)
            self._token = known
        return known.token


def credential_of(settings: AzureOpenAIConfig) -> Credential:
    """Make the credential that the settings name.

    Raises:
        SettingError: `azure-identity` is not installed.
    """
    name = "use_managed_identity" if settings.use_managed_identity else "use_default_credential"
    try:
        identity: Any = import_module("azure.identity")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "azure":
            raise
        message = f"`{name}` needs `azure-identity` (the extra `azure`)"
        raise SettingError(f"{MODULE}: {message}", module=MODULE, key=name) from None
    client_id = settings.managed_identity_client_id
    if settings.use_managed_identity:
        return identity.ManagedIdentityCredential(client_id=client_id)
    # Off Azure, looking for a managed identity takes seconds.
    return identity.DefaultAzureCredential(exclude_managed_identity_credential=True)


def _no_token(error: Exception) -> LLMError:
    line = str(error).strip().partition("\n")[0] or type(error).__name__
    return AuthenticationError(
        f"no token of Entra ID: {line}",
        provider=PROVIDER,
        hint=f"log in, for example with `az login`, or set `{SERVICE.key_from}`",
    )
