"""`tool-conversation`: end the turn with a result, a question or a message for the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from amplifier_providers.settings import Settings, read_settings

from ..tool.function_tool import tool

__amplifier_module_type__ = "tool"

Text = Annotated[str, Field(min_length=1)]
ToolName = Literal["task_completion", "ask_question", "converse"]


class ConversationSettings(Settings):
    """Which of its tools a module mounts."""

    tools: list[ToolName] = Field(
        default=["task_completion", "ask_question", "converse"], min_length=1
    )
    """The names of the tools."""


__amplifier_settings__ = ConversationSettings


@tool(is_loop_breaking=True)
async def task_completion(result: Text) -> str:
    """Finish the task. Call this once, when all is done; the user sees the result.

    Args:
        result: What was done or found, complete in itself.
    """
    return result


@tool(is_loop_breaking=True)
async def ask_question(question: Text, suggestions: Sequence[Text] = ()) -> str:
    """Ask the user, and wait for the answer. Call this when the task cannot go on without it.

    Args:
        question: One question.
        suggestions: Answers that the user may choose from.
    """
    listed = [f"{number}. {text}" for number, text in enumerate(suggestions, 1)]
    return "\n".join([question, "", *listed]) if listed else question


@tool(is_loop_breaking=True)
async def converse(message: Text) -> str:
    """Say something to the user, and wait for the reply. Call this when there is no task to do.

    Args:
        message: What to say.
    """
    return message


TOOLS = {each.name: each for each in (task_completion, ask_question, converse)}
"""The tools by name."""
for _each in TOOLS.values():
    _each.acts_in_session = True


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the tools.

    Raises:
        SettingError: A key of the config cannot be used.
    """
    settings = read_settings(ConversationSettings, config, "tool-conversation")
    for name in settings.tools:
        await coordinator.mount("tools", TOOLS[name], name=name)
