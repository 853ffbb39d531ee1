"""Checks of tool calls by the name and the schema of their tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.models import HookResult
from amplifier_guard import NameDenied, ToolInputDenied, ToolSchemaDenied, check_tool_name
from amplifier_providers.answers.argument_check import ArgumentSchemas

from .answers import deny


class ToolArguments:
    """The names and schemas of a session's tools."""

    def __init__(self, name_max_chars: int) -> None:
        """Deny longer names."""
        self._name_max_chars = name_max_chars
        self._schemas = ArgumentSchemas()

    def judge(self, name: str, tool: Any, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Deny a call whose name or arguments are invalid, or return None to let it pass.

        Args:
            name: The tool that the model calls.
            tool: The tool mounted under that name, None if there is none.
            tool_input: The arguments.
        """
        try:
            check_tool_name(name, self._name_max_chars)
            self._schemas.check(name, tool, tool_input)
        except (NameDenied, ToolInputDenied, ToolSchemaDenied) as denial:
            return deny(str(denial))
        return None
