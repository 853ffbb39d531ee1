"""A conversation that slash commands can look at, without a session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from amplifier_app.commands.chat.command import Command, CommandContext
from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.model_choice import AnsweringProvider
from amplifier_app.commands.order import Order
from amplifier_app.commands.provider_choice import DEMO


@dataclass
class FakeConversation:
    """Has what a test gives it."""

    mounted: dict[str, Any] = field(default_factory=dict[str, Any])
    capabilities: dict[str, Any] = field(default_factory=dict[str, Any])
    handlers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    configs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def find_mounted(self, mount_point: str) -> Any:
        return self.mounted.get(mount_point)

    def find_capability(self, name: str) -> Any:
        return self.capabilities.get(name)

    def find_config(self, module_id: str) -> dict[str, Any] | None:
        return self.configs.get(module_id)

    def list_handlers(self) -> dict[str, list[str]]:
        return self.handlers

    async def messages(self) -> list[dict[str, Any]]:
        return self.said


@dataclass
class FakeTurns:
    """Turns of which none runs."""

    order: Order
    conversation: FakeConversation
    answering: AnsweringProvider = AnsweringProvider(DEMO, {})  # noqa: RUF009 -- it is frozen
    running: Any = None
    stored_id: str | None = None
    journal: Any = None
    mode: str | None = "ask"
    goal: str | None = None
    sums: list[str] = field(default_factory=lambda: ["no tokens so far"])

    async def begin(self) -> FakeConversation:
        return self.conversation

    def find_capability(self, name: str) -> Any:
        return self.conversation.find_capability(name)


def make_context(folder: Path, conversation: FakeConversation | None = None) -> Any:
    """Return a context; its turns can be changed."""
    order = replace(Order("", folder), is_kept=True)
    turns = FakeTurns(order, conversation or FakeConversation())
    table = CommandTable(None)
    return CommandContext(
        cast("Any", turns), cast("Any", SimpleNamespace()), cast("Any", None), table
    )


async def run_command(command: Command, context: CommandContext, argument: str = "") -> list[str]:
    """Return the lines that a command shows."""
    shown = command.run(context, argument)
    return list(cast("Any", shown) if isinstance(shown, list | tuple) else await cast("Any", shown))
