"""Agents in a few lines: a model, tools, hooks, and a turn that says what happened.

from amplifier_agent import Agent, tool
"""

from typing import TYPE_CHECKING

from amplifier_modules.budget import Budget
from amplifier_modules.function_tool import FunctionTool, tool
from amplifier_modules.tool_context import ToolContext

from .agent import Agent
from .event import (
    Event,
    QuestionAsked,
    Status,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from .hook import Hook, hook
from .plan import AgentOptions, Module
from .result import Message, Result, StatusError, TokenUsage, TurnStatus

if TYPE_CHECKING:
    from amplifier_modules.providers.base import BaseProvider
    from amplifier_modules.providers.scripted import ScriptedProvider, ScriptItem

    from .approvals import Approvals
    from .question import Question
    from .session import Session
    from .stream import Stream

__all__ = [
    "Agent",
    "AgentOptions",
    "Approvals",
    "BaseProvider",
    "Budget",
    "Event",
    "FunctionTool",
    "Hook",
    "Message",
    "Module",
    "Question",
    "QuestionAsked",
    "Result",
    "ScriptItem",
    "ScriptedProvider",
    "Session",
    "Status",
    "StatusError",
    "Stream",
    "TextDelta",
    "ThinkingDelta",
    "TokenUsage",
    "ToolContext",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "TurnStatus",
    "hook",
    "tool",
]

_LATE = {
    "Approvals": ".approvals",
    "BaseProvider": "amplifier_modules.providers.base",
    "Question": ".question",
    "ScriptItem": "amplifier_modules.providers.scripted",
    "ScriptedProvider": "amplifier_modules.providers.scripted",
    "Session": ".session",
    "Stream": ".stream",
}
"""Names whose modules are imported at their first use: they need Pydantic, or an event loop."""


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LATE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
