"""What servers offered when they were last connected, by the hashes of their entries."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from amplifier_core import world

logger = logging.getLogger(__name__)

_VERSION = 1
_MAX_FILE_BYTES = 16 * 2**20


@dataclass(frozen=True)
class OfferedTool:
    """A tool as its server describes it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    title: str | None = None
    annotations: dict[str, Any] | None = None
    """What the server says of its effects; a hint that nothing relies on."""
    meta: dict[str, Any] | None = field(default=None)
    """What else it says, such as the page of an MCP App; kept as data."""


class KnownTools:
    """Keeps them in the user's cache, in files that nobody else may read."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in a folder; by default that of the user."""
        self._folder = folder

    def find(self, hash: str) -> list[OfferedTool] | None:
        """Return the tools that were known last; None if none are. It reads a file."""
        try:
            with self._find_path(hash).open("rb") as file:
                content = file.read(_MAX_FILE_BYTES + 1)
            written = json.loads(content) if len(content) <= _MAX_FILE_BYTES else None
        except (OSError, ValueError, RecursionError):
            return None
        return _read_tools(written)

    def keep(self, hash: str, tools: list[OfferedTool]) -> None:
        """Keep the tools of a server; that they cannot be kept is no failure. It writes a file."""
        path = self._find_path(hash)
        content = json.dumps({"version": _VERSION, "tools": [asdict(each) for each in tools]})
        temporary = path.with_name(f"{path.name}.{world.random_bytes(8).hex()}.tmp")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
            temporary.replace(path)
        except OSError as error:
            logger.debug("the tools of an MCP server are not kept: %s", error)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _find_path(self, hash: str) -> Path:
        if self._folder is None:
            from platformdirs import user_cache_path

            self._folder = user_cache_path("amplifier-core", appauthor=False) / "mcp"
        return self._folder / f"{hash}.json"


def _read_tools(written: Any) -> list[OfferedTool] | None:
    """Return the tools of a file; None if it is not one of ours."""
    if not isinstance(written, dict) or cast("Any", written).get("version") != _VERSION:
        return None
    listed = cast("Any", written).get("tools")
    if not isinstance(listed, list):
        return None
    tools = [_read_tool(each) for each in cast("list[Any]", listed)]
    return None if None in tools else [each for each in tools if each is not None]


def _read_tool(written: Any) -> OfferedTool | None:
    if not isinstance(written, dict):
        return None
    fields = cast("Mapping[str, Any]", written)
    name, description = fields.get("name"), fields.get("description")
    schema = fields.get("input_schema")
    if not (isinstance(name, str) and isinstance(description, str) and isinstance(schema, dict)):
        return None
    title, annotations, meta = (fields.get(key) for key in ("title", "annotations", "meta"))
    return OfferedTool(
        name,
        description,
        cast("dict[str, Any]", schema),
        title if isinstance(title, str) else None,
        cast("dict[str, Any]", annotations) if isinstance(annotations, dict) else None,
        cast("dict[str, Any]", meta) if isinstance(meta, dict) else None,
    )
