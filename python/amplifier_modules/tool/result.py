"""What a function returned, as the result of a tool."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult


def tool_result(value: Any) -> ToolResult:
    """Return a value as a result: text and JSON as they are, models in their JSON form.

    Raises:
        TypeError: The value has no JSON form.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None or isinstance(value, str):
        return ToolResult(output=value)
    try:
        return ToolResult(output=to_jsonable_python(value, inf_nan_mode="null"))
    except ValueError as error:
        found = type(value).__name__
        message = f"the function returned a `{found}`, which has no JSON form; return text or JSON"
        raise TypeError(message) from error
