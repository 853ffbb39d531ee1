"""Tools that requests only name: looked up with one tool, and called through another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .foreign import read_mapping, read_text
from .tool_schema import Tool

NOTE = "(Note of the program.)"
"""How the messages begin in which a program announces tools."""
_FINDER = re.compile(r"search_tools(_\d+)?")
_WRAPPER = re.compile(r"call_tool(_\d+)?")
_LINE = re.compile(r"- ([\w.-]+)(?:: (.*))?")


@dataclass
class FarTools:
    """What is known of them in a turn."""

    finder: str
    """The name of the tool that returns their schemas."""
    wrapper: str
    """The name of the tool that calls them."""
    named: dict[str, str] = field(default_factory=dict[str, str])
    """What each does, in a line, by name."""
    found: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """Those whose schemas are known, by name."""
    has_searched: bool = False
    """Whether they were searched in this turn."""

    def read_lines(self, text: str) -> None:
        """Take what a text says of tools, a line for each."""
        for line in text.splitlines():
            if named := _LINE.fullmatch(line):
                self.named[named[1]] = named[2] or ""
            elif line.startswith('{"name"'):
                self._read_schema(line)

    def _read_schema(self, line: str) -> None:
        try:
            about = read_mapping(json.loads(line))
        except (ValueError, RecursionError):
            return
        name, text = read_text(about.get("name")), read_text(about.get("description"))
        if name and "parameters" in about:
            self.named[name] = text
            self.found[name] = Tool(name, text, read_mapping(about["parameters"]))

    def wrap(self, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments with which a tool is called."""
        if name not in self.found:
            return name, arguments
        return self.wrapper, {"name": name, "arguments": arguments}


def find_far_tools(tools: Iterable[Tool]) -> FarTools | None:
    """Return those that the tools of a request tell of; None if they tell of none."""
    names = {each.name: each for each in tools}
    finder = next((name for name in names if _FINDER.fullmatch(name)), None)
    wrapper = next((name for name in names if _WRAPPER.fullmatch(name)), None)
    if finder is None or wrapper is None:
        return None
    far = FarTools(finder, wrapper)
    far.read_lines(names[finder].description)
    return far
