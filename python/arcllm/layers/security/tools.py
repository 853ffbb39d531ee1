"""Tools and schemas without personal data and secrets in what they say.

What binds the model stays as it is: names, `enum`, `const`, `pattern`. A tool whose allowed values were
replaced by marks could not be called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ...types import Tool
from .cleaning import Cleaning, each_cleaned

_TEXTS = frozenset({"description", "title", "$comment"})
_EXAMPLES = frozenset({"default", "example", "examples"})
_BINDING = frozenset({"enum", "const"})
_BY_NAME = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
)
"""Whose keys are names of the user's own, each with a schema."""


def clean_tools(tools: list[Tool] | None, cleaning: Cleaning) -> list[Tool] | None:
    """Return tools without them; the same list if they have none."""
    return None if tools is None else each_cleaned(tools, lambda tool: _clean_tool(tool, cleaning))


def clean_options(options: dict[str, Any], cleaning: Cleaning) -> dict[str, Any]:
    """Return the options of a call without them in the schema of its answer; the same if it has none."""
    form = options.get("response_format")
    cleaned = clean_schema(form, cleaning)
    return options if cleaned is form else {**options, "response_format": cleaned}


def clean_schema(schema: Any, cleaning: Cleaning) -> Any:
    """Return a JSON schema without them; the same object if it has none."""
    if isinstance(schema, list):
        return each_cleaned(cast("list[Any]", schema), lambda each: clean_schema(each, cleaning))
    if not isinstance(schema, dict):
        return schema
    return _map_values(
        cast("dict[str, Any]", schema), lambda key, value: _clean_part(key, value, cleaning)
    )


def _clean_part(key: str, value: Any, cleaning: Cleaning) -> Any:
    if key in _TEXTS and isinstance(value, str):
        return cleaning.clean_text(value)
    if key in _EXAMPLES:
        return cleaning.clean_data(value)
    if key in _BY_NAME and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return _map_values(named, lambda _, schema: clean_schema(schema, cleaning))
    return value if key in _BINDING else clean_schema(value, cleaning)


def _clean_tool(tool: Tool, cleaning: Cleaning) -> Tool:
    description = cleaning.clean_text(tool.description)
    parameters = clean_schema(tool.parameters, cleaning)
    if description is tool.description and parameters is tool.parameters:
        return tool
    return tool.model_copy(update={"description": description, "parameters": parameters})


def _map_values(values: dict[str, Any], clean: Callable[[str, Any], Any]) -> dict[str, Any]:
    cleaned = {key: clean(key, value) for key, value in values.items()}
    return values if all(cleaned[key] is values[key] for key in values) else cleaned
