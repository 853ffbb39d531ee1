"""What is known of a login to one server: its tokens, and who has given them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from amplifier_core import world

_EARLY_SECONDS = 30.0
"""A token is renewed so long before its end: a request takes a while to arrive."""
_SECRETS = ("access_token", "refresh_token", "client_secret")


@dataclass(frozen=True)
class Login:
    """A login to one server; as data, its secrets and the rest can be kept apart."""

    url: str
    """The address of the server."""
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    """When the access token ends, in seconds since 1970; None if nobody has said so."""
    scope: str | None = None
    client: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the authorization server knows this program as, without its secret."""
    client_secret: str | None = field(default=None, repr=False)
    authorization_server: Mapping[str, Any] | None = None
    """Its metadata, by which tokens are renewed."""
    resource: Mapping[str, Any] | None = None
    """What the server says of its own protection."""

    @property
    def is_expired(self) -> bool:
        """Whether the access token has ended, or is about to."""
        return self.expires_at is not None and world.time() >= self.expires_at - _EARLY_SECONDS

    @property
    def secrets(self) -> dict[str, str]:
        """What nobody may read."""
        found = ((name, getattr(self, name)) for name in _SECRETS)
        return {name: value for name, value in found if value}

    def describe(self) -> dict[str, Any]:
        """Return the rest, as JSON has it."""
        rest = ("url", "expires_at", "scope", "authorization_server", "resource")
        return {**{name: getattr(self, name) for name in rest}, "client": dict(self.client)}


def read_login(about: Mapping[str, Any], secrets: Mapping[str, Any]) -> Login | None:
    """Return a login from its two parts; None if they are none."""
    texts = {name: secrets.get(name) for name in _SECRETS}
    expires_at, scope = about.get("expires_at"), about.get("scope")
    client = about.get("client")
    if not isinstance(about.get("url"), str) or not isinstance(texts["access_token"], str):
        return None
    if not all(each is None or isinstance(each, str) for each in (*texts.values(), scope)):
        return None
    if not isinstance(client, dict) or not isinstance(expires_at, int | float | None):
        return None
    return Login(
        url=about["url"],
        expires_at=expires_at,
        scope=scope,
        client=cast("dict[str, Any]", client),
        authorization_server=_read_object(about.get("authorization_server")),
        resource=_read_object(about.get("resource")),
        **cast("dict[str, Any]", texts),
    )


def _read_object(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def find_server_key(url: str) -> str:
    """Return the address of a server as its logins are known by: without fragment and case of the host."""
    parts = urlsplit(url)
    return urlunsplit(
        (parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, "")
    )
