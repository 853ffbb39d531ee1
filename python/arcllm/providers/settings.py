"""The settings of a provider: which keys there are, and which are the matter of a layer."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from amplifier_core.suggest import suggest_or_list
from amplifier_providers.retries import RetrySettings
from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMConfigError

_LAYERS: Mapping[str, tuple[str, ...]] = {
    "retry": tuple(name for name in RetrySettings.model_fields if name != "rate"),
    "rate_limit": (
        "rate", "max_concurrent_requests", "throttle_threshold", "throttle_delay",
        "rate_limit_state_path",
    ),
    "fallback": (
        "fallback_on_overload", "fallback_model", "fallback_cooldown", "fallback_state_path",
    ),
}  # fmt: skip
_OF_SESSIONS = frozenset({"raw", "priority", "filtered", "tool_tags", "preset"})
"""What concerns the loops and the hooks of sessions."""
BARE: Mapping[str, Any] = {
    "max_retries": 0,
    "breaker_failures": 0,
    "max_concurrent_requests": None,
    "throttle_threshold": 0.0,
}
"""The settings of a provider that neither repeats a call nor waits before one."""


def checked_settings(
    name: str, settings: Mapping[str, Any], model: type[Settings]
) -> dict[str, Any]:
    """Return the settings of a provider, with those that leave retries and waits to the layers.

    Args:
        name: The provider.
        settings: What was set.
        model: The settings that its module has.

    Raises:
        ArcLLMConfigError: A key is unknown, or belongs to a layer.
    """
    of_layers = {key: layer for layer, keys in _LAYERS.items() for key in keys}
    known = [key for key in model.model_fields if key not in of_layers and key not in _OF_SESSIONS]
    for key in settings:
        if key in of_layers:
            raise ArcLLMConfigError(
                f"setting `{key}` of `{name}` is the matter of the layer"
                f" `{of_layers[key]}` (set `{of_layers[key]}` of `load_model`)"
            )
        if key not in known and key not in getattr(model, "renamed_keys", {}):
            advice = suggest_or_list(str(key), known)
            raise ArcLLMConfigError(f"unknown setting `{key}` of `{name}`{advice}")
    return {**settings, **BARE}


def check_address(name: str, url: str) -> None:
    """Refuse an address to which keys and conversations would travel in the clear.

    Raises:
        ArcLLMConfigError: It is neither HTTPS nor local.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or _is_local(parts.hostname or ""):
        return
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    raise ArcLLMConfigError(
        f"the address of `{name}` is `{shown}` (must be `https://…`, unless the server is local)"
    )


def _is_local(host: str) -> bool:
    """Whether a host is this machine or in a private network."""
    try:
        address = ip_address(host)
    except ValueError:
        # A name without a dot is one of the own network, such as that of a container.
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
    return address.is_loopback or address.is_private or address.is_link_local
