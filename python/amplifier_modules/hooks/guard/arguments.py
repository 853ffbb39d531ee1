"""Checks of tool calls by the name and the schema of their tool."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

from amplifier_core.models import HookResult
from amplifier_guard import (
    NameDenied,
    ToolInputDenied,
    ToolInputPolicy,
    ToolSchemaDenied,
    check_tool_name,
)

from .answers import deny


class ToolArguments:
    """The schemas of a session's tools, each read at the first call of its tool."""

    def __init__(self, name_max_chars: int) -> None:
        """Deny longer names."""
        self._name_max_chars = name_max_chars
        self._policy = ToolInputPolicy()
        self._read: dict[str, dict[str, Any]] = {}

    def judge(self, name: str, tool: Any, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Deny a call whose name or arguments are invalid, or return None to let it pass.

        Args:
            name: The tool that the model calls.
            tool: The tool mounted under that name, None if there is none.
            tool_input: The arguments.
        """
        try:
            check_tool_name(name, self._name_max_chars)
            schema: Any = getattr(tool, "input_schema", None)
            if isinstance(schema, dict) and schema:
                if self._read.get(name) != schema:
                    self._policy.set_schema(name, cast("dict[str, Any]", schema))
                    # A copy, as a tool may change its schema.
                    self._read[name] = copy.deepcopy(cast("dict[str, Any]", schema))
                self._policy.check(name, tool_input)
        except (NameDenied, ToolInputDenied, ToolSchemaDenied) as denial:
            return deny(str(denial))
        return None
