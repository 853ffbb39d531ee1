"""How every hook module behaves."""

from __future__ import annotations

from inspect import isawaitable
from typing import Any, get_args

import pytest

from amplifier_core.models import HookResult

_ACTIONS = get_args(HookResult.model_fields["action"].annotation)


async def _emit_everywhere(coordinator: Any, data: Any) -> list[Any]:
    """Emit every event that has handlers, and collect the results."""
    handlers = coordinator.hooks.list_handlers()
    return [await coordinator.hooks.emit(event, data) for event in handlers]


class HookBehaviorTests:
    """Inherit this in a class `Test...` of a hook module's tests."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, hook_cleanup: Any, coordinator: Any) -> None:
        """The module can be mounted."""
        assert coordinator.hooks is not None

    @pytest.mark.asyncio
    async def test_handler_returns_hook_result(self, hook_cleanup: Any, coordinator: Any) -> None:
        """Emitting an event returns a result."""
        for result in await _emit_everywhere(coordinator, {"session_id": "test-session"}):
            assert isinstance(result, HookResult)

    @pytest.mark.asyncio
    async def test_hook_result_has_valid_action(self, hook_cleanup: Any, coordinator: Any) -> None:
        """A result asks for something that the kernel can do."""
        for result in await _emit_everywhere(coordinator, {"session_id": "test-session"}):
            assert result.action in _ACTIONS

    @pytest.mark.asyncio
    async def test_cleanup_is_callable_if_present(self, hook_cleanup: Any) -> None:
        """What `mount` returns can be called, or is information."""
        assert hook_cleanup is None or callable(hook_cleanup) or isinstance(hook_cleanup, dict)

    @pytest.mark.asyncio
    async def test_cleanup_does_not_raise(self, hook_cleanup: Any) -> None:
        """Cleaning up raises nothing; the fixture does it a second time."""
        if callable(hook_cleanup):
            finished = hook_cleanup()
            if isawaitable(finished):
                await finished

    @pytest.mark.asyncio
    async def test_handler_does_not_crash_on_malformed_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        """Data of the wrong kind does no harm."""
        malformed: dict[str, Any] = {"tool_name": 12345, "tool_input": None, "unexpected": [{}]}
        for result in await _emit_everywhere(coordinator, malformed):
            assert isinstance(result, HookResult)

    @pytest.mark.asyncio
    async def test_handler_does_not_crash_on_empty_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        """No data does no harm."""
        for result in await _emit_everywhere(coordinator, {}):
            assert isinstance(result, HookResult)


class TestHookBehavior(HookBehaviorTests):
    """The same tests, for running this file on a module."""
