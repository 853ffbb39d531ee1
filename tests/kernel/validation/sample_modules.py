"""Modules of each type for the validators, and what a result says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    ValidationResult,
)

TOOL = """
class Tool:
    name = "x"
    description = "does"
    input_schema = {}
    async def execute(self, input): pass

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
"""

PROVIDER = """
from amplifier_core import ProviderInfo

class Provider:
    name = "x"
    def get_info(self): return ProviderInfo(id="x", display_name="X")
    async def list_models(self): return []
    async def complete(self, request, **kwargs): pass
    def parse_tool_calls(self, response): return []

async def mount(coordinator, config=None):
    await coordinator.mount("providers", Provider(), name="x")
"""

LOOP = """
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, **kwargs): return ""

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop())
"""

CONTEXT = """
class Context:
    async def add_message(self, message): pass
    async def get_messages_for_request(self, token_budget=None, provider=None): return []
    async def get_messages(self): return []
    async def set_messages(self, messages): pass
    async def clear(self): pass

async def mount(coordinator, config=None):
    await coordinator.mount("context", Context())
"""

HOOK = """
class Observer:
    async def note(self, event, data): pass

async def mount(coordinator, config=None):
    coordinator.get("hooks").register("tool:pre", Observer().note, name="observer")
    def cleanup(): pass
    return cleanup
"""

MODULES = {
    "tool": (ToolValidator, TOOL),
    "provider": (ProviderValidator, PROVIDER),
    "orchestrator": (OrchestratorValidator, LOOP),
    "context": (ContextValidator, CONTEXT),
    "hook": (HookValidator, HOOK),
}

NOTHING = "async def mount(coordinator, config=None): pass\n"

Write = Callable[..., Path]


def failed(result: ValidationResult) -> list[tuple[str, str]]:
    return [(check.name, check.severity) for check in result.checks if not check.passed]


def message(result: ValidationResult, name: str) -> str:
    return next(check.message for check in result.checks if check.name == name)
