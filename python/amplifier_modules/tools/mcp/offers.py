"""What a server says of its tools, as far as a session uses it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from amplifier_core.models import sanitize_for_llm
from amplifier_modules.tools.result_bytes import clip_bytes

from .known_tools import OfferedTool

MAX_TOOLS = 512
"""Tools of a server, at most."""
_MAX_NAME_CHARS = 256
_MAX_DESCRIPTION_BYTES = 16 * 1024
_MAX_SCHEMA_BYTES = 64 * 1024
_MAX_META_BYTES = 64 * 1024


def read_offers(tools: Iterable[Any]) -> tuple[list[OfferedTool], list[str]]:
    """Return the tools that can be used, and what is wrong with the others."""
    offered: dict[str, OfferedTool] = {}
    problems: list[str] = []
    for tool in tools:
        if tool.name in offered:
            problems.append(f"the tool `{tool.name[:64]}` is there twice")
            continue
        if len(offered) == MAX_TOOLS:
            problems.append(f"it has more than {MAX_TOOLS} tools")
            break
        if problem := _find_problem(tool):
            problems.append(f"the tool `{tool.name[:64]}` {problem}")
            continue
        offered[tool.name] = _read(tool)
    return list(offered.values()), problems


def _find_problem(tool: Any) -> str | None:
    """Say why a tool cannot be used; None for one that can."""
    if not tool.name or len(tool.name) > _MAX_NAME_CHARS:
        return f"has a name of {len(tool.name)} characters"
    size = _count_bytes(tool.input_schema)
    if size is None or size > _MAX_SCHEMA_BYTES:
        return f"has a schema of more than {_MAX_SCHEMA_BYTES // 1024} KiB, or one that is no JSON"
    kind = tool.input_schema.get("type", "object")
    return None if kind == "object" else "has a schema that is not of an object"


def _read(tool: Any) -> OfferedTool:
    dump = {"mode": "json", "by_alias": True, "exclude_none": True}
    annotations = None if tool.annotations is None else tool.annotations.model_dump(**dump)
    size = _count_bytes(tool.meta)
    return OfferedTool(
        name=tool.name,
        description=clip_bytes(
            sanitize_for_llm(tool.description or tool.title or ""), _MAX_DESCRIPTION_BYTES
        ),
        input_schema={"type": "object", **tool.input_schema},
        title=tool.title,
        annotations=annotations,
        meta=tool.meta if tool.meta and size is not None and size <= _MAX_META_BYTES else None,
    )


def _count_bytes(value: Any) -> int | None:
    """Return how many bytes a value takes as JSON; None if it has no such form."""
    try:
        return len(json.dumps(value, allow_nan=False))
    except (RecursionError, TypeError, ValueError):
        return None
