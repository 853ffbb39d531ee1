"""What the `mount` functions of providers over HTTP do the same way."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from amplifier_core._kernel.capability_names import SESSION_COST
from amplifier_core._loading.load_report import explain
from amplifier_core.models import ConfigField

from ..retries import Retries
from ..settings import SettingError, read_settings
from .service import Service
from .settings import HttpSettings

if TYPE_CHECKING:
    from .provider import WireProvider

logger = logging.getLogger(__name__)

SettingsT = TypeVar("SettingsT", bound=HttpSettings)


def say_not_mounted(module: str, reason: str) -> None:
    """Say once why a provider is not mounted: by the session that mounts it, or here."""
    if not explain(reason):
        logger.warning("%s is not mounted: %s", module, reason)


def hooks_and_retries(
    coordinator: Any, provider: str, settings: HttpSettings
) -> tuple[Any, Retries]:
    """Return the hooks of a coordinator, and retries that tell them and end with a cancellation."""
    hooks = getattr(coordinator, "hooks", None)
    cancellation = getattr(coordinator, "cancellation", None)
    return hooks, Retries(provider, settings, hooks, cancellation)


def contribute_cost(coordinator: Any, provider: WireProvider) -> None:
    """Have a session say on the channel `session.cost` what its provider has cost so far."""
    register = getattr(coordinator, "register_contributor", None)
    if register is not None:
        register(SESSION_COST, provider.name, provider.pricing.contribution)


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
