"""What a test of the kit says of a provider."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from amplifier_testing import ProviderKit
from amplifier_testing.servers import AnthropicServer


class Kit(ProviderKit):
    server = AnthropicServer
    stride = 60
    pieces = 2
    histories = 3
    kind: Any = None

    def provider(self, base_url: str, hooks: Any) -> Any:
        return self.kind(base_url, self.key, hooks)


def said(test: str, kind: Any) -> str | None:
    """Return what a test says of a provider; None if it passed or was skipped.

    Any other exception than an `AssertionError` comes out.
    """
    kit = Kit()
    kit.kind = kind
    check = getattr(kit, test)
    given: dict[str, Any] = {}
    if "backend" in inspect.signature(check).parameters:
        given["backend"] = "asyncio"
    for mark in getattr(check, "pytestmark", ()):
        given[mark.args[0]] = next(iter(mark.args[1]))
    try:
        check(**given)
    except pytest.skip.Exception:
        return None
    except AssertionError as error:
        return str(error)
    return None
