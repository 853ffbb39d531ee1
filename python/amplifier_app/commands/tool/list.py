"""`amplifier-core tool list`: the tools of a session, and where they are from."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.report import Report, write_foreign
from amplifier_app.commands.tool.tool_session import ToolOrder, run_with_tools
from amplifier_modules import MODULES

_PREFIX = "amplifier_module_"
_MAX_LINE_CHARS = 100


def write_tools(report: Report, order: ToolOrder) -> None:
    """Write the tools of a session, in the order in which models get them.

    Raises:
        Failure: Something is wrong with the mount plan.
    """

    async def list_tools(coordinator: Any) -> dict[str, Any]:
        return dict(coordinator.get("tools") or {})

    tools = run_with_tools(order, list_tools)
    if report.as_json:
        report.write_data({"tools": [_describe(name, each) for name, each in tools.items()]})
        return
    rows = [("NAME", "FROM", "WHAT IT DOES")]
    rows += [
        (write_foreign(name), write_foreign(find_origin(each)), _write_line(each))
        for name, each in tools.items()
    ]
    if tools:
        report.write_lines(in_columns(rows, report.width))
    else:
        report.say_aside("the session has no tools")


def find_origin(tool: Any) -> str:
    """Return the module that a tool is of, or its MCP server."""
    if (server := getattr(getattr(tool, "server", None), "name", None)) is not None:
        return f"server {server}"
    function: Any = getattr(tool, "function", None)
    place: str = getattr(function, "__module__", None) or type(tool).__module__
    rooms = [name for name, module in MODULES.items() if f"{place}.".startswith(f"{module}.")]
    if rooms:
        return max(rooms, key=lambda name: len(MODULES[name]))
    package = place.partition(".")[0]
    return package.removeprefix(_PREFIX).replace("_", "-") if _PREFIX in package else package


def _describe(name: str, tool: Any) -> dict[str, Any]:
    schema = getattr(tool, "input_schema", None)
    return {
        "name": name,
        "from": find_origin(tool),
        "description": _read_description(tool),
        "input_schema": dict(schema) if isinstance(schema, Mapping) else None,  # pyright: ignore[reportUnknownArgumentType] -- JSON
        "read_only": getattr(tool, "read_only", False) is True,
    }


def _write_line(tool: Any) -> str:
    first = " ".join(_read_description(tool).split()).partition(". ")[0].rstrip(".")
    line = write_foreign(first)
    if len(line) <= _MAX_LINE_CHARS:
        return line
    return line[:_MAX_LINE_CHARS].rsplit(" ", 1)[0] + " …"


def _read_description(tool: Any) -> str:
    return inspect.cleandoc(str(getattr(tool, "description", "") or ""))
