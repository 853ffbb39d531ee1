"""How this program describes itself to authorization servers, and which rights it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientMetadata


def describe_program(redirect_url: str, scope: str = "") -> OAuthClientMetadata:
    """Return the description of this program for one login.

    Args:
        redirect_url: Where the browser is sent with the answer.
        scope: Rights that are asked for beside those that the server names.
    """
    from mcp.shared.auth import OAuthClientMetadata
    from pydantic import AnyUrl

    class Description(OAuthClientMetadata):
        # The SDK sets it to what the server names.
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(
                name, join_scopes(scope, value) or None if name == "scope" else value
            )

    return Description(client_name="amplifier-core", redirect_uris=[AnyUrl(redirect_url)])


def join_scopes(*scopes: str | None) -> str:
    """Return all rights of several lists, each once."""
    return " ".join(dict.fromkeys(" ".join(filter(None, scopes)).split()))
