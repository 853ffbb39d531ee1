"""What makes the mistakes of the guide: a function for each row of a table of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_agent import Agent, ScriptedProvider, tool

TRIGGERS: dict[tuple[str, str], Callable[[], Any]] = {}


def mistake(page: str, row: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def note(trigger: Callable[[], Any]) -> Callable[[], Any]:
        TRIGGERS[page, row] = trigger
        return trigger

    return note


def model(*script: Any) -> ScriptedProvider:
    return ScriptedProvider(script or ("Hi",))


def told(agent: Agent[Any], scripted: ScriptedProvider) -> str:
    """What the model is told of its first call."""
    agent.run_sync("go")
    return str(scripted.requests[1].messages[-1].content)


@tool
def add(a: int) -> int:
    """Add."""
    return a
