"""The files of the configuration: where they are, and what they say."""

from __future__ import annotations

import os
import threading
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from amplifier_providers.settings import SettingError, Settings, read_settings
from amplifier_providers.value_problems import shown_key

from ..exceptions import ArcLLMConfigError
from .names import is_name, name_rule
from .tables import GlobalConfig, ProviderTable

VARIABLE = "ARCLLM_CONFIG"
"""The variable of the environment with the path of the file."""
_MAX_BYTES = 1024**2
"""Bytes of a file at most."""

_configs: dict[Path | None, GlobalConfig] = {}
_tables: dict[Path, ProviderTable | None] = {}
_reading = threading.RLock()

TableT = TypeVar("TableT", bound=Settings)


def config_path() -> Path | None:
    """Return where the configuration is; None if `ARCLLM_CONFIG` names a home that does not exist.

    That is the path in `ARCLLM_CONFIG`, else `arcllm/config.toml` in the user's folder for
    configuration, which is `$XDG_CONFIG_HOME` or `~/.config` on Linux.
    """
    if given := os.environ.get(VARIABLE, "").strip():
        try:
            return Path(given).expanduser().absolute()
        except RuntimeError:
            return None
    from platformdirs import user_config_path

    return user_config_path("arcllm", appauthor=False) / "config.toml"


def global_config() -> GlobalConfig:
    """Return the configuration, which is read once; without a file all of it is empty.

    Raises:
        ArcLLMConfigError: The file cannot be read, or says what has no meaning.
    """
    path = config_path()
    with _reading:
        if path not in _configs:
            _configs[path] = _read_config(path)
        return _configs[path]


def provider_table(name: str) -> ProviderTable | None:
    """Return what the configuration says of a provider; None if it says nothing.

    Raises:
        ArcLLMConfigError: A file cannot be read, or says what has no meaning, or two files say it.
    """
    config = global_config()
    in_config = config.providers.get(name)
    path = provider_path(name)
    if path is None:
        return in_config
    with _reading:
        if path not in _tables:
            _tables[path] = _read_table(path)
        alone = _tables[path]
    if alone is not None and in_config is not None:
        raise ArcLLMConfigError(
            f"`{name}` is both in `{config.path}` and in `{path}` (must be in one of them)"
        )
    return in_config if alone is None else alone


def provider_path(name: str) -> Path | None:
    """Return where the file of a provider is, if it has one."""
    path = config_path()
    return None if path is None or not is_name(name) else path.parent / "providers" / f"{name}.toml"


def provider_source(name: str) -> Path | None:
    """Return the file that says how a provider is called; None if none does."""
    config = global_config()
    return config.path if name in config.providers else provider_path(name)


def configured_names() -> set[str]:
    """Return the names of the providers of the configuration."""
    path = config_path()
    files = set[str]()
    if path is not None:
        files.update(each.stem for each in path.parent.glob("providers/*.toml"))
    return {*global_config().providers, *filter(is_name, files)}


def clear_files() -> None:
    """Forget the files; the next look reads them again."""
    with _reading:
        _configs.clear()
        _tables.clear()


def _read_config(path: Path | None) -> GlobalConfig:
    tables = None if path is None else _read_toml(path)
    if path is None or tables is None:
        if os.environ.get(VARIABLE, "").strip():
            raise ArcLLMConfigError(f"`{VARIABLE}` is `{path}`, which does not exist")
        return GlobalConfig()
    config = _check_table(GlobalConfig, tables, path)
    for name in config.providers:
        if not is_name(name):
            raise ArcLLMConfigError(f"`{path}`: {name_rule(name)}")
    return config.read_from(path)


def _read_table(path: Path) -> ProviderTable | None:
    tables = _read_toml(path)
    if tables is None:
        return None
    provider = tables.pop("provider", {})
    models = tables.pop("models", {})
    if tables:
        found = ", ".join(f"`{shown_key(key)}`" for key in tables)
        raise ArcLLMConfigError(f"`{path}`: {found} is unknown (known: `provider`, `models`)")
    if not isinstance(provider, dict) or "models" in provider:
        raise ArcLLMConfigError(f"`{path}`: `provider` must be a table without `models`")
    return _check_table(ProviderTable, {**provider, "models": models}, path)


def _read_toml(path: Path) -> dict[str, Any] | None:
    """Return what a file says; None if it does not exist."""
    try:
        # Not a device or a pipe, which may have no end.
        if path.exists() and not path.is_file():
            raise ArcLLMConfigError(f"`{path}` is not a file")
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise ArcLLMConfigError(f"`{path}` is larger than {_MAX_BYTES:,} bytes")
        return tomllib.loads(content.decode())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArcLLMConfigError(f"`{path}` cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArcLLMConfigError(f"`{path}` is not UTF-8: byte {error.start:,}") from None
    except ValueError as error:
        raise ArcLLMConfigError(f"`{path}` is not TOML: {error}") from None
    except RecursionError:
        raise ArcLLMConfigError(f"`{path}` is not TOML: it is nested too deeply") from None


def _check_table(model: type[TableT], values: dict[str, Any], path: Path) -> TableT:
    try:
        return read_settings(model, values, f"`{path}`")
    except SettingError as error:
        problems = str(error)
    raise ArcLLMConfigError(problems)
