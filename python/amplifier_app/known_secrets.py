"""The secrets of this process, which are removed from all that it shows, writes or logs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from amplifier_app.engine import load_engine
from amplifier_app.printable import printable_line

if TYPE_CHECKING:
    from amplifier_guard import Redactor

_MIN_SECRET_CHARS = 8
"""A shorter value is not searched for: it may be an ordinary word."""

_MARK = re.compile(r"\[REDACTED:[^\]]*\]")


class Secrets:
    """The configured keys and passwords, found in any encoding.

    Anything else that looks like a secret is removed too: see `amplifier_guard.Redactor`.

    Args:
        environment: The environment variables; they are read at the first use.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment: Mapping[str, str] | None = environment
        self._names: dict[str, str] = {}
        self._redactor: Redactor | None = None

    def learn(self, settings: Mapping[str, Any]) -> None:
        """Add the secrets among settings, such as an environment or a mount plan.

        A secret is a value with a name such as `api_key` or `GITHUB_TOKEN`, or the password in a
        URL.
        """
        found = secrets_among(settings)
        if found.keys() - self._names.keys():
            self._names = found | self._names
            self._redactor = None

    @property
    def redactor(self) -> Redactor:
        """Removes the secrets that are known so far."""
        names = self.names
        if self._redactor is None:
            from amplifier_guard import Redactor

            self._redactor = Redactor(list(names))
        return self._redactor

    @property
    def names(self) -> Mapping[str, str]:
        """The names of the secrets that are known so far, by their values."""
        if self._environment is not None:
            environment, self._environment = self._environment, None
            self.learn(environment)
        return self._names

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        try:
            load_engine()
        except ImportError:
            return text  # no turn runs without the extension: the text is the command's own
        return self.redactor.redact(text)

    def redact_data(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data without secrets."""
        try:
            load_engine()
        except ImportError:
            return data  # as above
        return self.redactor.redact_data(data)

    def write_line(self, text: str, limit: int) -> str:
        """Return the text as one printable line without secrets."""
        # Redacted first: part of a secret may not look like a secret.
        return printable_line(self.redact(text), limit)


def secrets_among(settings: Mapping[str, Any]) -> dict[str, str]:
    """The secret values in nested settings, with their names."""
    secrets: dict[str, str] = {}
    load_engine()
    from amplifier_guard import Redactor

    shapes = Redactor()
    waiting: list[tuple[str, object]] = [("", settings)]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            for secret in _secrets_in(shapes, name, value):
                secrets.setdefault(secret, name)
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                items = cast("Mapping[object, object]", value).items()
                waiting.extend((str(key), each) for key, each in items)
            elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
                waiting.extend((name, each) for each in cast("Sequence[object]", value))
    return secrets


def _secrets_in(shapes: Any, name: str, value: str) -> Iterable[str]:
    redacted = shapes.redact_data({name: value})[name]
    if redacted == value:
        return
    from urllib.parse import unquote, urlsplit

    if _MARK.fullmatch(redacted):
        found = [value]
    else:
        try:
            password = urlsplit(value).password or ""
        except ValueError:
            password = ""
        found = [password, unquote(password)]
    for each in found:
        secret = each.strip()
        # The path of a file or socket is the place of a secret, not a secret.
        if len(secret) >= _MIN_SECRET_CHARS and not (
            os.path.isabs(secret) and os.path.exists(secret)
        ):
            yield secret


SECRETS = Secrets(os.environ)
"""The secrets of this process."""
