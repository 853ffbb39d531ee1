"""How every tool behaves."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core._loading.check import is_async


class ToolBehaviorTests:
    """Inherit this in a class `Test...` of a tool module's tests."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, tool_module: Any) -> None:
        """The module mounts a tool."""
        assert tool_module is not None

    @pytest.mark.asyncio
    async def test_tool_has_name(self, tool_module: Any) -> None:
        """The tool has a name."""
        assert isinstance(tool_module.name, str)
        assert tool_module.name

    @pytest.mark.asyncio
    async def test_tool_has_description(self, tool_module: Any) -> None:
        """The tool tells the model what it does."""
        assert isinstance(tool_module.description, str)
        assert tool_module.description

    @pytest.mark.asyncio
    async def test_tool_has_execute_method(self, tool_module: Any) -> None:
        """The tool can be run."""
        assert is_async(tool_module.execute)

    @pytest.mark.asyncio
    async def test_execute_returns_tool_result(self, tool_module: Any) -> None:
        """A call returns a result, also for an empty input."""
        result = await tool_module.execute({})
        assert hasattr(result, "success")
        assert hasattr(result, "output")

    @pytest.mark.asyncio
    async def test_tool_result_has_required_fields(self, tool_module: Any) -> None:
        """A result says whether the call succeeded, and has its output or the reason of the failure."""
        result = await tool_module.execute({})
        assert isinstance(result.success, bool)
        assert hasattr(result, "error")

    @pytest.mark.asyncio
    async def test_invalid_input_returns_error_result(self, tool_module: Any) -> None:
        """An input that makes no sense is answered with a result, not with an exception."""
        result = await tool_module.execute({"no_such_parameter": object()})
        assert isinstance(result.success, bool)


class TestToolBehavior(ToolBehaviorTests):
    """The same tests, for running this file on a module."""
