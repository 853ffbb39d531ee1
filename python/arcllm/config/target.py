"""A provider as it is opened: which API, which model, which settings and which key."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.suggest import suggest_or_list

from ..exceptions import ArcLLMConfigError
from ..providers.names import PROVIDERS
from .files import clear_files, configured_names, global_config, provider_source, provider_table
from .names import is_name, name_rule
from .tables import ModelTable, ProviderTable
from .vault import VaultResolver

_NO_KEY = "unused"
"""The key of servers that need none; without one, that of another service might be sent to them."""

_vaults: dict[Path | None, VaultResolver] = {}
_opening = threading.Lock()


@dataclass(frozen=True)
class Target:
    """What is opened."""

    name: str
    """The name of the provider."""
    api: str
    """The provider whose API it speaks."""
    model: str | None
    """The model; None for the default one of the API."""
    settings: Mapping[str, Any]
    """The settings of the API."""
    known: ModelTable
    """What the configuration says of the model."""
    source: Path | None
    """The file that some of the settings are from."""

    def explain_error(self, error: ArcLLMConfigError) -> ArcLLMConfigError:
        """Return the error of a provider with the file, if a setting that it names is in there."""
        table = provider_table(self.name)
        if table is None:
            return error
        signs = [f"`{key}" for key in table.settings]
        if table.base_url is not None:
            signs += ["`base_url", "the address of"]
        if not any(sign in error.message for sign in signs):
            return error
        return ArcLLMConfigError(f"{error.message} (see `{self.name}` in `{self.source}`)")


def find_target(name: str, model: str | None, given: Mapping[str, Any]) -> Target:
    """Return how a provider is opened.

    What the program says goes before what the configuration says of the provider, and that before
    its defaults.

    Args:
        name: The name of the provider.
        model: The model; None for the default one.
        given: The settings of the program.

    Raises:
        ArcLLMConfigError: There is no such provider, or something about it cannot be used.
    """
    table = known_table(name)
    source = provider_source(name)
    api = known_api(name)
    model = model or table.default_model
    settings = {**_merge_settings(table, model), **given}
    if settings.get("api_key") is None:
        key = _find_key(name, table, is_own=api == name)
        settings.pop("api_key", None)
        if key is not None:
            settings["api_key"] = key
    return Target(name, api, model, settings, table.models.get(model or "") or ModelTable(), source)


def known_api(name: str) -> str:
    """Return the provider whose API a provider speaks: itself, or what the configuration says.

    Raises:
        ArcLLMConfigError: There is no such provider, or a file cannot be used.
    """
    table = known_table(name)
    api = table.api_format or name
    if api not in PROVIDERS:
        key = "`api_format` is missing" if table.api_format is None else f"`api_format` is `{api}`"
        raise ArcLLMConfigError(
            f"`{provider_source(name)}`: {key} for `{name}` (must be a provider)"
            f"{suggest_or_list(api, PROVIDERS)}"
        )
    return api


def known_table(name: str) -> ProviderTable:
    """Return what the configuration says of a provider; all of it may be empty.

    Raises:
        ArcLLMConfigError: There is no such provider, or a file cannot be used.
    """
    table = provider_table(name)
    if table is None and name not in PROVIDERS:
        advice = suggest_or_list(name.lower().replace("-", "_"), {*PROVIDERS, *configured_names()})
        problem = f"`{name}` is not a provider" if is_name(name) else name_rule(name)
        raise ArcLLMConfigError(problem + advice)
    return table or ProviderTable()


def clear_configuration() -> None:
    """Forget the files, and the keys of vaults."""
    clear_files()
    with _opening:
        _vaults.clear()


def _merge_settings(table: ProviderTable, model: str | None) -> dict[str, Any]:
    defaults = global_config().defaults
    settings: dict[str, Any] = {
        "temperature": defaults.temperature,
        "max_tokens": defaults.max_tokens,
        "timeout": defaults.timeout,
        **table.settings,
        "base_url": table.base_url or table.settings.get("base_url"),
    }
    if table.default_temperature is not None:
        settings["temperature"] = table.default_temperature
    # Of this model alone: providers take prices for all names that begin alike.
    known = table.models.get(model or "")
    if known is not None and known.prices is not None:
        settings["prices"] = {model: known.prices}
    return {key: value for key, value in settings.items() if value is not None}


def _find_key(name: str, table: ProviderTable, *, is_own: bool) -> str | None:
    """Return the key of a provider; None if the provider itself looks for it.

    Args:
        name: The name of the provider.
        table: What the configuration says of it.
        is_own: Whether its API has its name; else the key of the API is another service's.

    Raises:
        ArcLLMConfigError: There is none, and it needs one.
    """
    if table.vault_path is not None and (key := _open_vault().secret(table.vault_path)):
        return key
    if is_own and table.api_key_env is None:
        return None
    variable = table.api_key_env or f"{name.upper()}_API_KEY"
    if key := os.environ.get(variable, "").strip():
        return key
    if table.api_key_required:
        raise ArcLLMConfigError(
            f"`{name}` needs an API key: set `{variable}`, or pass `api_key` (a server without keys"
            f" has `api_key_required = false` in `{provider_source(name)}`)"
        )
    return _NO_KEY


def _open_vault() -> VaultResolver:
    config = global_config()
    if config.vault.backend is None:
        raise ArcLLMConfigError(
            f'`vault_path` needs a vault: `[vault]` with `backend = "module:Class"` in `{config.path}`'
        )
    with _opening:
        if config.path not in _vaults:
            _vaults[config.path] = VaultResolver(config.vault)
        return _vaults[config.path]
