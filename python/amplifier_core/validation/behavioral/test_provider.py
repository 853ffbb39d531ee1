"""How every provider behaves."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_core.models import ProviderInfo


class ProviderBehaviorTests:
    """Inherit this in a class `Test...` of a provider module's tests."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, provider_module: Any) -> None:
        """The module mounts a provider."""
        assert provider_module is not None

    @pytest.mark.asyncio
    async def test_get_info_returns_valid_provider_info(self, provider_module: Any) -> None:
        """The provider describes itself."""
        info = provider_module.get_info()
        assert isinstance(info, ProviderInfo)
        assert info.id
        assert info.display_name

    @pytest.mark.asyncio
    async def test_list_models_returns_list(self, provider_module: Any) -> None:
        """The provider lists its models."""
        assert isinstance(await provider_module.list_models(), list)

    @pytest.mark.asyncio
    async def test_provider_has_name_attribute(self, provider_module: Any) -> None:
        """The provider has a name."""
        assert isinstance(provider_module.name, str)
        assert provider_module.name

    @pytest.mark.asyncio
    async def test_parse_tool_calls_returns_list(self, provider_module: Any) -> None:
        """An answer without tool calls has an empty list of them."""
        response = ChatResponse(content=[TextBlock(text="no tool is needed")])
        assert provider_module.parse_tool_calls(response) == []


class TestProviderBehavior(ProviderBehaviorTests):
    """The same tests, for running this file on a module."""
