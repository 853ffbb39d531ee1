"""A provider that has nothing in common with ours passes the kit."""

from __future__ import annotations

from typing import Any

from tiny_provider import TinyProvider

from amplifier_testing import ProviderKit
from amplifier_testing.servers import AnthropicServer


class TestTinyProvider(ProviderKit):
    server = AnthropicServer
    stride = 16

    def provider(self, base_url: str, hooks: Any) -> Any:
        return TinyProvider(base_url, self.key, hooks)
