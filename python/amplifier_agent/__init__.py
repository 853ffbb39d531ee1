"""Agents in a few lines: a model, tools, hooks, and a turn that says what happened.

from amplifier_agent import Agent, tool
"""

from typing import TYPE_CHECKING

from amplifier_modules.tool.function_tool import FunctionTool, tool

from .agent import Agent

if TYPE_CHECKING:
    from amplifier_modules.changes.rewind_point import NamedChange, RewindPointError
    from amplifier_modules.changes.undone import Undone
    from amplifier_modules.loops.steering import SteeringQueueFull
    from amplifier_modules.spending.budget import Budget, BudgetAmounts, SharedBudget
    from amplifier_modules.tool.context import ToolContext
    from amplifier_providers.base import BaseProvider
    from amplifier_providers.scripted import ScriptedProvider, ScriptItem

    from .approvals import Approvals
    from .arguments import Prompt
    from .event import (
        Event,
        Question,
        QuestionAsked,
        Status,
        TextDelta,
        ThinkingDelta,
        ToolFinished,
        ToolProgress,
        ToolStarted,
    )
    from .function_hook import Hook, hook
    from .mcp_module import mcp
    from .partial_approval import PartialApproval
    from .plan import AgentOptions, Module
    from .result import (
        GoalEnding,
        GoalOutcome,
        Message,
        Result,
        StatusError,
        TokenUsage,
        TurnStatus,
    )
    from .rewound import Rewound
    from .serving.tool_server import ToolServer
    from .session import Session
    from .stream import Stream

__all__ = [
    "Agent",
    "AgentOptions",
    "Approvals",
    "BaseProvider",
    "Budget",
    "BudgetAmounts",
    "Event",
    "FunctionTool",
    "GoalEnding",
    "GoalOutcome",
    "Hook",
    "Message",
    "Module",
    "NamedChange",
    "PartialApproval",
    "Prompt",
    "Question",
    "QuestionAsked",
    "Result",
    "RewindPointError",
    "Rewound",
    "ScriptItem",
    "ScriptedProvider",
    "Session",
    "SharedBudget",
    "Status",
    "StatusError",
    "SteeringQueueFull",
    "Stream",
    "TextDelta",
    "ThinkingDelta",
    "TokenUsage",
    "ToolContext",
    "ToolFinished",
    "ToolProgress",
    "ToolServer",
    "ToolStarted",
    "TurnStatus",
    "Undone",
    "hook",
    "mcp",
    "tool",
]

_HOMES = {
    "amplifier_modules.changes.rewind_point": "NamedChange RewindPointError",
    "amplifier_modules.changes.undone": "Undone",
    "amplifier_modules.spending.budget": "Budget BudgetAmounts SharedBudget",
    "amplifier_modules.loops.steering": "SteeringQueueFull",
    "amplifier_providers.base": "BaseProvider",
    "amplifier_providers.scripted": "ScriptItem ScriptedProvider",
    "amplifier_modules.tool.context": "ToolContext",
    ".approvals": "Approvals",
    ".arguments": "Prompt",
    ".event": (
        "Event Question QuestionAsked Status TextDelta ThinkingDelta ToolFinished ToolProgress"
        " ToolStarted"
    ),
    ".function_hook": "Hook hook",
    ".mcp_module": "mcp",
    ".partial_approval": "PartialApproval",
    ".plan": "AgentOptions Module",
    ".result": "GoalEnding GoalOutcome Message Result StatusError TokenUsage TurnStatus",
    ".rewound": "Rewound",
    ".serving.tool_server": "ToolServer",
    ".session": "Session",
    ".stream": "Stream",
}
"""Names by module; each is imported at its first use, so that an import costs next to nothing."""

_LATE = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LATE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
