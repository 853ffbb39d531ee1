"""The `mount` function of every provider over HTTP, and what settings they share."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from amplifier_core.models import ConfigField
from amplifier_core.mounting import explain_absence
from amplifier_core.session_capabilities import HTTP_CLIENT

from ..retries import Retries
from ..settings import SettingError, read_settings
from .service import Service
from .settings import HttpSettings

if TYPE_CHECKING:
    from .provider import WireProvider

logger = logging.getLogger(__name__)

SettingsT = TypeVar("SettingsT", bound=HttpSettings)


Mount: TypeAlias = Callable[..., Awaitable[Callable[[], Awaitable[None]] | None]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A provider that can be made, as its settings are whole."""

    name: str
    """The name of the provider, for errors and events."""
    settings: HttpSettings
    make: Callable[[Any, Retries], WireProvider]
    """Makes it with the hooks of its session and its retries."""


def mount_of(module: str, prepare: Callable[[Mapping[str, Any] | None], Prepared | str]) -> Mount:
    """Return the `mount` of a module with a provider over HTTP.

    Args:
        module: The id of the module, such as `provider-anthropic`: what follows `provider-` is the
            name that the provider is mounted under.
        prepare: Reads a config; what it returns is a provider, or why none can be made.
    """

    async def mount(
        coordinator: Any, config: Mapping[str, Any] | None = None
    ) -> Callable[[], Awaitable[None]] | None:
        """Mount the provider under its name.

        Args:
            coordinator: Where it is mounted; its hooks get the events.
            config: Its settings; what they lack may come from the environment.

        Returns:
            The callable that ends what is left of its calls, or None when there is no address, or no API
            key for a service that needs one: then nothing is mounted, and one warning says so: that
            of the session that mounts it, or of this function.

        Raises:
            ConfigurationError: A setting has the wrong type or cannot work.
        """
        prepared = prepare(config)
        if isinstance(prepared, str):
            if not explain_absence(prepared):
                logger.warning("%s is not mounted: %s", module, prepared)
            return None
        hooks = getattr(coordinator, "hooks", None)
        cancellation = getattr(coordinator, "cancellation", None)
        retries = Retries(prepared.name, prepared.settings, hooks, cancellation)
        provider = prepared.make(hooks, retries)
        if prepared.settings.http_client is None:
            get_capability = getattr(coordinator, "get_capability", None)
            if get_capability is not None and (client := get_capability(HTTP_CLIENT)) is not None:
                provider.use_http_client(client)
        # A module mounts under its own name; the loader then gives an instance the name it has.
        return await provider.mount(coordinator, module.removeprefix("provider-"))

    # Where it is asked for: there, its module declares the settings.
    mount.__module__ = prepare.__module__
    return mount


def settings_with_key(
    model: type[SettingsT],
    config: Mapping[str, Any] | None,
    module: str,
    environment: Mapping[str, str] | None = None,
) -> SettingsT | None:
    """Check a config and fill its gaps from the environment.

    Args:
        model: The settings of the provider, which need an `api_key`.
        config: The provider's section of the mount plan.
        module: The id of the module, for errors.
        environment: Where variables are looked up; the process environment by default.

    Returns:
        The settings, or None when there is no API key anywhere.

    Raises:
        SettingError: A value cannot be used.
    """
    try:
        return read_settings(model, config, module, environment)
    except SettingError as error:
        if "api_key" in error.missing:
            return None
        raise


def key_and_address(service: Service, shown_url: str) -> list[ConfigField]:
    """Return how a user is asked for the key and the address of a service."""
    return [
        ConfigField(
            id="api_key",
            display_name="API key",
            field_type="secret",
            prompt=f"{service.title} API key",
            env_var=service.key_from,
        ),
        ConfigField(
            id="base_url",
            display_name="Base URL",
            prompt="Address of the API",
            env_var=service.address_from,
            required=False,
            default=shown_url,
        ),
    ]
