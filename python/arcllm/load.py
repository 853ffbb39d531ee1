"""A model from its name: `load_model("openai")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config.modules import Layer
    from .config.tables import GlobalConfig, ProviderTable
    from .model import Model
    from .step import Step


def load_model(
    provider: str,
    model: str | None = None,
    *,
    retry: Layer = None,
    fallback: Layer = None,
    rate_limit: Layer = None,
    telemetry: Layer = None,
    audit: Layer = None,
    security: Layer = None,
    otel: Layer = None,
    routing: Layer = None,
    budget: Layer = None,
    **settings: Any,
) -> Model:
    """Return a model; nothing is sent yet.

    Each layer is off (`False`), on with the settings of the configuration (`True`), on with these
    settings over those of the configuration (a mapping), or as the configuration says (`None`).

    Args:
        provider: The name of the provider, or `provider:model`.
        model: The model; that of the configuration, or the default one of the provider, if not set.
        retry: Tries again what may succeed later.
        fallback: Asks other models where this one fails.
        rate_limit: Limits the calls a minute.
        telemetry: Logs tokens, times and costs.
        audit: Logs who was asked what.
        security: Takes personal data and secrets out, and signs requests.
        otel: Sends traces by OpenTelemetry.
        routing: Chooses the model by rules.
        budget: Limits the costs.
        **settings: Settings of the provider: `api_key`, `base_url`, `timeout`, `max_tokens`, …

    Raises:
        ArcLLMConfigError: There is no such provider or setting, the key is missing, or the
            configuration cannot be used; the text says what would be right.
    """
    from .config.files import global_config
    from .config.modules import module_settings, with_known_key, with_source
    from .config.names import split_target
    from .config.target import find_target, known_api
    from .exceptions import ArcLLMConfigError
    from .layers.stack import build_stack
    from .model import Model

    name, model_name = split_target(provider, model)
    config = global_config()
    layers: dict[str, Layer] = {
        "retry": retry,
        "fallback": fallback,
        "rate_limit": rate_limit,
        "telemetry": telemetry,
        "audit": audit,
        "security": security,
        "otel": otel,
        "routing": routing,
        "budget": budget,
    }
    target = find_target(name, model_name, settings)
    modules = with_known_key(module_settings(config, layers), target.settings.get("api_key"))
    opened = _open(name, model_name, settings)

    def open_target(other: str, other_model: str | None) -> Step:
        # Another model of the same provider has its key and its address.
        return _open(other, other_model, settings if other == name else {})

    try:
        stack = build_stack(opened, modules, open_target, known_api)
    except ArcLLMConfigError as error:
        raise with_source(error, config, layers) from error
    return Model(opened, stack, lambda: _open(name, model_name, settings))


def load_global_config() -> GlobalConfig:
    """Return a copy of the configuration; without a file all of it is empty.

    Raises:
        ArcLLMConfigError: The file cannot be read, or says what has no meaning.
    """
    from .config.files import global_config

    return global_config().model_copy(deep=True)


def load_provider_config(name: str) -> ProviderTable:
    """Return a copy of what the configuration says of a provider; all of it may be empty.

    Raises:
        ArcLLMConfigError: There is no such provider, or a file cannot be used.
    """
    from .config.target import known_table

    return known_table(name).model_copy(deep=True)


def clear_cache() -> None:
    """Forget what this process keeps: the configuration, keys of vaults, rate limits, schemas.

    Models that are loaded stay as they are.
    """
    from .config.target import clear_configuration
    from .layers.stack import clear_cache as clear_layers
    from .output import output_type

    clear_configuration()
    clear_layers()
    output_type.cache_clear()


def _open(name: str, model: str | None, settings: Mapping[str, Any]) -> Step:
    from .config.target import find_target
    from .configured import ConfiguredProvider
    from .exceptions import ArcLLMConfigError
    from .providers.open import open_provider

    target = find_target(name, model, settings)
    try:
        step = open_provider(target.api, target.model, target.settings, name)
    except ArcLLMConfigError as error:
        raise target.explain_error(error) from error
    return ConfiguredProvider(step, target.known) if target.known.model_fields_set else step
