"""The check of a tool's arguments before it runs, whatever hooks are mounted."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import InvalidToolCallError

if TYPE_CHECKING:
    from .tool_arguments import ArgumentSchemas

logger = logging.getLogger(__name__)


class ArgumentCheck:
    """Compares the arguments of calls with the schemas of a session's tools."""

    def __init__(self) -> None:
        """Read no schema yet."""
        self._schemas: ArgumentSchemas | None = None
        self._unusable: set[str] = set()

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
                # Imported here: without the extension loops run, but check nothing.
                from .tool_arguments import ArgumentSchemas
            except ImportError:
                return
            self._schemas = ArgumentSchemas()
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
            self._unusable.add(name)
            logger.warning("the arguments of tool `%s` are not checked: %s", name, denial)
