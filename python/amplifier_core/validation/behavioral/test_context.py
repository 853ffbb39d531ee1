"""How every context behaves."""

from __future__ import annotations

from contextlib import suppress
from inspect import Parameter, isawaitable, signature
from typing import Any, cast

import pytest

from amplifier_core import world
from amplifier_core._loading.check import is_async


def _make_question() -> dict[str, Any]:
    """Make a message that no context can have from before."""
    return {"role": "user", "content": f"What is the answer to {world.new_uuid()}?"}


async def _list_exchanges(context: Any) -> list[tuple[Any, Any]]:
    """List the role and the text of each message, in the order of the context."""
    return [
        (message.get("role"), message.get("content")) for message in await context.get_messages()
    ]


async def _check_added(context: Any, *messages: dict[str, Any]) -> None:
    """Add messages and check that they follow what was there; a context may keep an earlier one."""
    before = await _list_exchanges(context)
    for message in messages:
        await context.add_message(dict(message))
    added = [(message["role"], message["content"]) for message in messages]
    assert await _list_exchanges(context) == [*before, *added]


async def _call_internal(context: Any, name: str, absent: Any = None) -> Any:
    """Call an internal method that a context may have; `absent` is returned if it has none."""
    method = getattr(context, name, None)
    if method is None:
        return absent
    if any(
        parameter.default is Parameter.empty
        and parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        for parameter in signature(method).parameters.values()
    ):
        pytest.skip(f"`{name}` of the context needs arguments")
    result = method()
    return await result if isawaitable(result) else result


class ContextBehaviorTests:
    """Inherit this in a class `Test...` of a context module's tests."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, context_module: Any) -> None:
        """The module mounts a context."""
        assert context_module is not None

    @pytest.mark.asyncio
    async def test_context_has_required_methods(self, context_module: Any) -> None:
        """The context has what loops call."""
        for name in ("add_message", "get_messages", "get_messages_for_request", "clear"):
            assert is_async(getattr(context_module, name))

    @pytest.mark.asyncio
    async def test_message_round_trip(self, context_module: Any) -> None:
        """A message that was added comes back."""
        await _check_added(context_module, _make_question())

    @pytest.mark.asyncio
    async def test_multiple_messages(self, context_module: Any) -> None:
        """Messages come back in their order."""
        answer = {"role": "assistant", "content": "42"}
        await _check_added(context_module, _make_question(), answer)

    @pytest.mark.asyncio
    async def test_clear_removes_messages(self, context_module: Any) -> None:
        """Nothing is left after clearing."""
        await context_module.add_message(_make_question())
        await context_module.clear()
        assert await context_module.get_messages() == []

    @pytest.mark.asyncio
    async def test_get_messages_for_request_returns_messages(self, context_module: Any) -> None:
        """A request gets the message that was added."""
        question = _make_question()
        await context_module.add_message(dict(question))
        messages = await context_module.get_messages_for_request()
        assert isinstance(messages, list)
        assert question["content"] in str(cast("list[Any]", messages))

    @pytest.mark.asyncio
    async def test_internal_should_compact_returns_bool(self, context_module: Any) -> None:
        """Whether to compact is a yes or a no; a context that cannot tell never does."""
        decided = await _call_internal(context_module, "_should_compact", absent=False)
        assert isinstance(decided, bool)

    @pytest.mark.asyncio
    async def test_internal_compact_does_not_crash(self, context_module: Any) -> None:
        """Compacting raises nothing."""
        await context_module.add_message(_make_question())
        await _call_internal(context_module, "_compact_internal")
        assert isinstance(await context_module.get_messages(), list)

    @pytest.mark.asyncio
    async def test_add_invalid_message_does_not_crash(self, context_module: Any) -> None:
        """An invalid message is refused or kept, and does no harm."""
        with suppress(KeyError, TypeError, ValueError):
            await context_module.add_message({"neither": "role", "nor": "content"})
        assert await context_module.get_messages() is not None

    @pytest.mark.asyncio
    async def test_get_messages_never_returns_none(self, context_module: Any) -> None:
        """The messages are a list, which is empty in an empty context."""
        assert isinstance(await context_module.get_messages(), list)
        await context_module.clear()
        assert await context_module.get_messages() == []


class TestContextBehavior(ContextBehaviorTests):
    """The same tests, for running this file on a module."""
