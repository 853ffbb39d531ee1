"""How every loop behaves."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core._loading.check import is_async


class OrchestratorBehaviorTests:
    """Inherit this in a class `Test...` of an orchestrator module's tests."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, orchestrator_module: Any) -> None:
        """The module mounts a loop."""
        assert orchestrator_module is not None

    @pytest.mark.asyncio
    async def test_orchestrator_has_execute_method(self, orchestrator_module: Any) -> None:
        """The loop can be run."""
        assert is_async(orchestrator_module.execute)

    @pytest.mark.asyncio
    async def test_execute_returns_string(self, orchestrator_module: Any, mock_deps: Any) -> None:
        """A prompt is answered with a text."""
        assert isinstance(await orchestrator_module.execute("Test prompt", *mock_deps), str)

    @pytest.mark.asyncio
    async def test_execute_with_empty_prompt(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """An empty prompt is answered, too."""
        assert isinstance(await orchestrator_module.execute("", *mock_deps), str)

    @pytest.mark.asyncio
    async def test_orchestrator_uses_provider(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """The provider is asked."""
        await orchestrator_module.execute("Test prompt", *mock_deps)
        assert mock_deps[1]["default"].requests

    @pytest.mark.asyncio
    async def test_orchestrator_updates_context(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """The exchange is kept in the context."""
        await orchestrator_module.execute("Test prompt", *mock_deps)
        assert mock_deps[0].messages


class TestOrchestratorBehavior(OrchestratorBehaviorTests):
    """The same tests, for running this file on a module."""
