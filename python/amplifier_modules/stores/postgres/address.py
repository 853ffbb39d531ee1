"""What a DSN says, as far as errors may show it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from amplifier_providers.settings import SettingError

SCHEMES = ("postgresql://", "postgres://")


class Address:
    """A DSN, and the name of its database without the password."""

    def __init__(self, dsn: str | None, module: str) -> None:
        """Read the DSN.

        Raises:
            SettingError: It is missing, or is none.
        """
        if dsn is None:
            raise SettingError(
                f"{module}: `dsn` is missing (must be given, or `DATABASE_URL` set, such as"
                " `postgresql://host/database`)",
                module=module,
                key="dsn",
            )
        try:
            if not dsn.startswith(SCHEMES):
                raise ValueError
            parts = urlsplit(dsn)
            self._passwords = [each for each in _list_passwords(parts.password, os.environ) if each]
            self.name = _name_place(parts.netloc, parts.path, parse_qs(parts.query))
            """Host, port and database."""
        except ValueError:
            raise SettingError(
                f"{module}: `dsn` is no address of PostgreSQL (must be such as"
                " `postgresql://name:password@host:5432/database`)",
                module=module,
                key="dsn",
            ) from None
        self.dsn = dsn

    def __repr__(self) -> str:
        """Return a text without the password."""
        return f"Address({self.name})"

    def hide_password(self, text: str) -> str:
        """Return a text in which the password, if it is there, is a mark."""
        for each in self._passwords:
            text = text.replace(each, "…")
        return text


def _list_passwords(password: str | None, environment: Mapping[str, str]) -> list[str]:
    given = password or ""
    return [given, unquote(given), environment.get("PGPASSWORD", "")]


def _name_place(netloc: str, path: str, query: Mapping[str, list[str]]) -> str:
    hosts = netloc.rpartition("@")[2] or ",".join(query.get("host", []))
    hosts = hosts or os.environ.get("PGHOST", "localhost")
    database = unquote(path.lstrip("/")) or "".join(query.get("dbname", []))
    database = database or os.environ.get("PGDATABASE", "")
    return f"{hosts}/{database}" if database else hosts
