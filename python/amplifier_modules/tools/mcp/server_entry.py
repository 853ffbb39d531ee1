"""The entry of one server as it is written, its hash, and what it means on this machine."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from urllib.parse import urlsplit

from amplifier_guard.shell import child_environment

from .settings import ServerSettings

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|authorization|cookie|credential|key$|^auth")
_MIN_SECRET_CHARS = 8

_PASSED = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "PATH",
    "PYENV_ROOT",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""Names of variables that programs need, and that hold no keys of ours."""


class EntryError(ValueError):
    """An entry that cannot be used on this machine."""


@dataclass(frozen=True)
class Launch:
    """A server that is started here."""

    command: str
    arguments: tuple[str, ...]
    own: Mapping[str, str] = field(repr=False)
    """The variables of its entry."""
    directory: Path
    is_confined: ClassVar[bool] = False
    """Whether a sandbox keeps it to a project; else it has the rights of its user."""

    def build_environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return all variables of a server that no sandbox keeps: what programs need, and its own."""
        return {**child_environment(variables, _PASSED), **self.own}


@dataclass(frozen=True)
class Address:
    """A server that runs elsewhere."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    name: str = ""
    """What the user calls the server."""

    @property
    def has_own_key(self) -> bool:
        """Whether the entry says by itself who asks: no login is used."""
        is_in_url = urlsplit(self.url).username is not None
        return is_in_url or any(name.lower() == "authorization" for name in self.headers)


Place: TypeAlias = Launch | Address
"""Where a server is."""


@dataclass(frozen=True)
class ServerEntry:
    """A server as somebody has written it."""

    name: str
    settings: ServerSettings

    @property
    def hash(self) -> str:
        """The hash of all that is written, before `${VAR}` is replaced."""
        written = self.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        canonical = json.dumps(written, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        """Keys that have no effect here."""
        return tuple(self.settings.__pydantic_extra__ or ())

    @property
    def variables(self) -> list[str]:
        """The names of the variables that it gets by `${VAR}`, in their order."""
        named = (name for text in self._list_texts() for name, _ in _VARIABLE.findall(text))
        return list(dict.fromkeys(named))

    def list_unset(self, variables: Mapping[str, str]) -> list[str]:
        """Return the names of those that have neither a value nor a default."""
        named = [each for text in self._list_texts() for each in _VARIABLE.finditer(text)]
        unset = (each[1] for each in named if not (variables.get(each[1]) or each[2] is not None))
        return list(dict.fromkeys(unset))

    def check(self) -> None:
        """Look whether it may be connected; may read files.

        Raises:
            EntryError: It is not what the user agreed to.
        """

    def close(self) -> None:
        """Remove what is kept for it, once it has ended; blocks."""

    def resolve(self, variables: Mapping[str, str], folder: Path) -> Place:
        """Return where the server is.

        Args:
            variables: Those of this process, which `${VAR}` means.
            folder: The working directory of the session.

        Raises:
            EntryError: A variable is not set, or the address is none.
        """
        settings = self.settings
        if settings.url is not None:
            url = _replace(settings.url, variables)
            _check_url(url)
            return Address(url, _replace_values(settings.headers, variables), self.name)
        own = _replace_values(settings.env, variables)
        directory = folder / Path(_replace(settings.cwd or ".", variables)).expanduser()
        return Launch(
            command=_replace(settings.command or "", variables),
            arguments=tuple(_replace(each, variables) for each in settings.args),
            own=own,
            directory=directory,
        )

    def list_secrets(self, variables: Mapping[str, str]) -> list[str]:
        """Return the values of the entry that are secrets by their names."""
        settings = self.settings
        named = [*settings.env.items(), *settings.headers.items()]
        named += [(name, variables[name]) for name in self.variables if name in variables]
        found: list[str] = []
        for name, text in named:
            if _SECRET_NAME.search(name):
                found += replace_known(text, variables).split()
        return [value for value in found if len(value) >= _MIN_SECRET_CHARS]

    def _list_texts(self) -> list[str]:
        settings = self.settings
        texts = [settings.command or "", settings.url or "", settings.cwd or "", *settings.args]
        return [*texts, *settings.env.values(), *settings.headers.values()]


def replace_known(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of the variables that it names; one that is not set has none."""
    return _VARIABLE.sub(lambda each: variables.get(each[1], each[2] or ""), text)


def _replace(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of the variables that it names.

    Raises:
        EntryError: One is not set, and has no default.
    """

    def find(match: re.Match[str]) -> str:
        value = variables.get(match[1]) or match[2]
        if value is None:
            raise EntryError(f"the variable `{match[1]}` is not set")
        return value

    return _VARIABLE.sub(find, text)


def _replace_values(texts: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    return {name: _replace(text, variables) for name, text in texts.items()}


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_usable = False
    if not is_usable:
        raise EntryError("`url` is no address of `http` or `https`")


def read_entries(servers: Mapping[str, ServerSettings]) -> list[ServerEntry]:
    """Return the entries of the servers that are not disabled, in their order."""
    return [ServerEntry(name, each) for name, each in servers.items() if not each.disabled]


def find_port(url: str) -> int:
    """Return the port of an address."""
    parts: Any = urlsplit(url)
    return int(parts.port or (443 if parts.scheme == "https" else 80))
