"""Tool calls judged by the name and the schema of their tool."""

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
    """The schemas of a session's tools, each read when its tool is first called."""

    def __init__(self, name_max_chars: int) -> None:
        """Refuse longer names."""
        self._name_max_chars = name_max_chars
        self._policy = ToolInputPolicy()
        self._read: dict[str, dict[str, Any]] = {}

    def judge(self, name: str, tool: Any, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Refuse a call whose name or arguments do not fit, or let it pass with None.

        Args:
            name: What the model calls.
            tool: What is mounted under that name, None for nothing.
            tool_input: The arguments.
        """
        try:
            check_tool_name(name, self._name_max_chars)
            schema: Any = getattr(tool, "input_schema", None)
            if isinstance(schema, dict) and schema:
                if self._read.get(name) != schema:
                    self._policy.set_schema(name, cast("dict[str, Any]", schema))
                    # A copy: a tool may change its own.
                    self._read[name] = copy.deepcopy(cast("dict[str, Any]", schema))
                self._policy.check(name, tool_input)
        except (NameDenied, ToolInputDenied, ToolSchemaDenied) as denial:
            return deny(str(denial))
        return None
