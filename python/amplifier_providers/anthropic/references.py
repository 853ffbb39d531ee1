"""What a search for tools found, as references to tools that the request holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast

from amplifier_core.message_models import ChatRequest

from ..wire.fields import JsonDict
from ..wire.options import tool_fields
from .turns import TOOL_NAMES


@dataclass(frozen=True)
class References:
    """The tools that the model reads of when a search finds them."""

    finder: str | None = None
    """The name of the tool that finds them, as it is sent; None without one."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Their names as they are sent, by those in results."""

    @classmethod
    def of(cls, request: ChatRequest) -> References:
        """Return those of a request."""
        finder: str | None = None
        names: dict[str, str] = {}
        for tool in tool_fields(request):
            sent = TOOL_NAMES.fit_name(tool["name"])
            if tool.get("defer_loading") is True:
                names[tool["name"]] = sent
            elif tool.get("finds_tools") is True:
                finder = sent
        return cls(finder, names)

    def write_result(self, text: str) -> str | list[JsonDict]:
        """Return the result of a search: a reference for each tool that the request holds."""
        found: list[JsonDict] = []
        others: list[str] = []
        for line in text.splitlines():
            if (name := self.names.get(_read_name(line))) is None:
                others.append(line)
            else:
                found.append({"type": "tool_reference", "tool_name": name})
        if not found:
            return text
        # The last line says how to call those that no request holds.
        rest = "\n".join(others) if any(map(_read_name, others)) else ""
        return [*found, {"type": "text", "text": rest}] if rest else found


def _read_name(line: str) -> str:
    """Return the name of the tool that a line of a result describes; an empty one of another line."""
    try:
        about: Any = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    name = cast("JsonDict", about).get("name") if isinstance(about, dict) else None
    return name if isinstance(name, str) else ""
