"""Which layers are on, and their settings: those of the program over those of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from amplifier_core.error_messages import short_repr
from amplifier_core.suggest import suggest_or_list
from amplifier_providers.value_problems import shown_key

from ..exceptions import ArcLLMConfigError
from .tables import GlobalConfig

Layer: TypeAlias = bool | Mapping[str, Any] | None
"""Off, on with the settings of the file, on with these over those of the file, or as the file says."""
_ENABLED = "enabled"
_SHORTEST_KEY = 16
_SECRETS = {"audit": "secrets", "security": "known_secrets"}
"""The settings that list secrets, by layer."""


def module_settings(
    config: GlobalConfig, given: Mapping[str, Layer]
) -> dict[str, Mapping[str, Any]]:
    """Return the settings of the layers that are on.

    Args:
        config: The configuration.
        given: What the program says of each layer.

    Raises:
        ArcLLMConfigError: The configuration names another layer, or a value cannot be used.
    """
    for name in config.modules:
        if name not in given:
            where = f"`{config.path}`: `[modules.{shown_key(name)}]`"
            raise ArcLLMConfigError(f"{where} is not a layer{suggest_or_list(name, given)}")
    settings: dict[str, Mapping[str, Any]] = {}
    for name, value in given.items():
        table = dict(config.modules.get(name, {}))
        is_on = table.pop(_ENABLED, False)
        if not isinstance(is_on, bool):
            where = f"`{config.path}`: `modules.{name}.{_ENABLED}`"
            raise ArcLLMConfigError(f"{where} is {short_repr(is_on)} (must be true or false)")
        if isinstance(value, Mapping):
            table.update(value)
        elif value is not None and not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            raise ArcLLMConfigError(
                f"`{name}` is {short_repr(value)} (must be true, false, or a mapping of its settings)"
            )
        if is_on if value is None else value is not False:
            settings[name] = table
    return settings


def with_known_key(
    modules: Mapping[str, Mapping[str, Any]], key: object
) -> dict[str, Mapping[str, Any]]:
    """Return the settings of layers with the key of the provider, for those that take out secrets.

    A short one, such as the `none` of a local server, is no secret but a word.
    """
    found = dict(modules)
    if not isinstance(key, str) or len(key) < _SHORTEST_KEY:
        return found
    for name, setting in _SECRETS.items():
        known: object = found.get(name, {}).get(setting, [])
        if name in found and isinstance(known, list):
            found[name] = {**found[name], setting: [*cast("list[Any]", known), key]}
    return found


def with_source(
    error: ArcLLMConfigError, config: GlobalConfig, given: Mapping[str, Layer]
) -> ArcLLMConfigError:
    """Return the error of a layer with the file, if it names a setting that is from there."""
    for name, table in config.modules.items():
        value = given.get(name)
        own: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        from_file = [key for key in table if key not in own]
        if any(f"{name}: `{key}" in error.message for key in from_file):
            return ArcLLMConfigError(f"{error.message} (see `[modules.{name}]` in `{config.path}`)")
    return error
