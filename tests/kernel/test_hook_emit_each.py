"""Several events that are emitted with one call."""

from __future__ import annotations

from typing import Any

import pytest


async def test_events_emitted_together_go_through_the_emit_of_a_subclass(engine):
    heard: list[Any] = []

    class Own(engine.HookRegistry):
        def emit(self, event, data):
            heard.append((event, data))
            return super().emit(event, data)

    hooks = Own()
    hooks.register("b", lambda event, data: heard.append(data["x"]))
    assert await hooks.emit_each([("a", {}), ("b", {"x": 1})]) is None
    assert heard == [("a", {}), ("b", {"x": 1}), 1]


async def test_an_event_that_cannot_be_emitted_ends_those_emitted_together(engine):
    heard: list[str] = []
    hooks = engine.HookRegistry()
    hooks.register("a", lambda event, data: heard.append(data["x"]))
    with pytest.raises(TypeError, match="str"):
        await hooks.emit_each([("a", {"x": 1}), (5, {})])
    circle: dict[str, Any] = {"x": 2}
    circle["circle"] = circle
    with pytest.raises(ValueError, match=r"itself|[Cc]ircular"):
        await hooks.emit_each([("a", {"x": 1}), ("a", circle), ("a", {"x": 3})])
    assert heard == [1]
