"""The check of a tool's arguments before it runs, whatever hooks are mounted."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any, cast

from amplifier_core.llm_errors import InvalidToolCallError

logger = logging.getLogger(__name__)


class ArgumentCheck:
    """Compares the arguments of calls with the schemas of a session's tools."""

    __slots__ = ("_schemas", "_unusable")

    def __init__(self) -> None:
        """Read no schema yet."""
        self._schemas: ArgumentSchemas | None = None
        self._unusable: tuple[str, ...] = ()

    def check(self, name: str, tool: Any, arguments: dict[str, Any]) -> None:
        """Compare the arguments of a call with the schema of its tool.

        A tool without a schema, or with one that cannot be used, is not checked, nor is one that
        says by `checks_arguments` that it does so itself.

        Raises:
            InvalidToolCallError: They do not fit; the text says what would.
        """
        if self._schemas is None:
            if not getattr(tool, "input_schema", None):
                return
            try:
                self._schemas = ArgumentSchemas()
            except ImportError:  # without the extension loops run, but check nothing
                return
        try:
            self._schemas.check(name, tool, arguments)
        except ValueError as denial:
            self._note(name, denial)

    def _note(self, name: str, denial: ValueError) -> None:
        """Raise what the model reads; a schema that cannot be used is only logged, once."""
        from amplifier_guard import ToolInputDenied, ToolSchemaDenied

        if isinstance(denial, ToolInputDenied):
            message = f"{denial}; correct the arguments and call `{name}` again"
            raise InvalidToolCallError(message, tool_name=name) from None
        if not isinstance(denial, ToolSchemaDenied):
            raise denial
        if name not in self._unusable:
            self._unusable += (name,)
            logger.warning("the arguments of tool `%s` are not checked: %s", name, denial)


class ArgumentSchemas:
    """The schemas of a session's tools, each read at the first call of its tool."""

    def __init__(self) -> None:
        """Know no schema yet.

        Raises:
            ImportError: The extension is missing.
        """
        from amplifier_guard import ToolInputPolicy

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
