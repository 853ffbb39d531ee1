"""The states of MCP servers: a line when one is down, and one when it is back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amplifier_app.printable import printable_line
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_app.display.notices import Notice

SERVER_STATE = "mcp:server"
"""An event of `tool-mcp`, named here because importing it takes a while."""
_DOWN = ("down", "unusable")
_MAX_NAME_CHARS = 80
_MAX_PROBLEM_CHARS = 500


class ServerLines:
    """Knows which servers of a session are down, as far as a person was told."""

    def __init__(self) -> None:
        """Know none yet."""
        self._problems: dict[str, str] = {}
        """Why servers are down, by their names."""

    def note(self, data: Mapping[str, Any]) -> Notice | None:
        """Return the notice about a state; None where it is no news."""
        name = printable_line(str(data.get("server")), _MAX_NAME_CHARS)
        state = data.get("state")
        if state in _DOWN:
            problem = printable_line(str(data.get("problem") or ""), _MAX_PROBLEM_CHARS)
            if self._problems.get(name) == problem:
                return None  # it was tried again
            self._problems[name] = problem
            is_down = "is down" if state == "down" else "cannot be used"
            return f"MCP server `{name}` {is_down}: {problem}", "warning"
        if state == "connected" and self._problems.pop(name, None) is not None:
            tools = data.get("tools")
            count = f", with {count_noun(tools, 'tool')}" if isinstance(tools, int) else ""
            return f"MCP server `{name}` is back{count}", "note"
        return None
