"""The arguments of tool calls, compared with the schemas of the tools."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

from amplifier_guard import ToolInputPolicy


class ArgumentSchemas:
    """The schemas of a session's tools, each read at the first call of its tool."""

    def __init__(self) -> None:
        """Know no schema yet."""
        self._policy = ToolInputPolicy()
        self._read: dict[str, dict[str, Any]] = {}

    def check(self, name: str, tool: Any, arguments: Mapping[str, Any]) -> None:
        """Compare the arguments of a call.

        A tool without a schema takes any; one with `checks_arguments` checks them itself.

        Args:
            name: The tool that the model calls.
            tool: The tool mounted under that name, None if there is none.
            arguments: The arguments.

        Raises:
            ToolInputDenied: They do not fit.
            ToolSchemaDenied: The schema itself cannot be used.
        """
        if getattr(tool, "checks_arguments", False) is True:
            return
        schema: Any = getattr(tool, "input_schema", None)
        if not isinstance(schema, dict) or not schema:
            return
        if self._read.get(name) != schema:
            self._policy.set_schema(name, cast("dict[str, Any]", schema))
            # A copy, as a tool may change its schema.
            self._read[name] = copy.deepcopy(cast("dict[str, Any]", schema))
        self._policy.check(name, arguments)
