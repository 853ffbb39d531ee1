"""Data for logs: long strings cut, secrets removed."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from amplifier_core.plain_data import copy_nested

SENSITIVE_KEYS = frozenset(
    {
        "api-key",
        "api_key",
        "apikey",
        "auth",
        "authorization",
        "credential",
        "credentials",
        "password",
        "private_key",
        "privatekey",
        "secret",
        "token",
    }
)
"""Keys whose values are secret; so are those of longer keys that end in one of them."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def truncate_values(obj: Any, max_length: int = 180) -> Any:
    """Return a copy of nested data in which longer texts are cut.

    Args:
        obj: Data; dicts, lists and tuples are gone through.
        max_length: Most characters of a text.

    Raises:
        ValueError: The data contains itself.
    """

    def cut(value: Any) -> Any:
        surplus = len(value) - max_length if isinstance(value, str) else 0
        return f"{value[:max_length]}... (truncated {surplus} chars)" if surplus > 0 else value

    return copy_nested(obj, cut)


def redact_secrets(obj: Any, sensitive_keys: Collection[str] = SENSITIVE_KEYS) -> Any:
    """Return a copy of nested data in which the values of sensitive keys are `[REDACTED]`.

    Args:
        obj: Data; dicts, lists and tuples are gone through.
        sensitive_keys: Names of the keys. `token` also covers `access_token`, `accessToken` and
            `access-token`.

    Raises:
        ValueError: The data contains itself.
    """
    words = {_normalize_key(key) for key in sensitive_keys}
    return copy_nested(
        obj, lambda value: value, hides=lambda key: _is_sensitive(key, words), hidden="[REDACTED]"
    )


def _normalize_key(key: str) -> str:
    return _WORD_START.sub("_", key).replace("-", "_").lower()


def _is_sensitive(key: Any, words: set[str]) -> bool:
    if not isinstance(key, str):
        return False
    parts = _normalize_key(key).split("_")
    return any("_".join(parts[start:]) in words for start in range(len(parts)))
