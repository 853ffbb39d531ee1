"""The prompts that servers offer to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .connection import Connection, read_pages
from .results import Results

_MAX_PROMPTS = 500
_MAX_NAME_BYTES = 256
_MAX_DESCRIPTION_BYTES = 1000


@dataclass(frozen=True)
class Prompt:
    """A prompt that a server offers to people."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...]
    """The names of its arguments."""
    required: tuple[str, ...]
    """Those that it cannot do without."""


async def list_prompts(server: str, connection: Connection, results: Results) -> list[Prompt]:
    """Return the prompts of a server.

    Raises:
        ServerError: It does not say.
    """
    client = connection.client
    if client.server_capabilities.prompts is None:
        return []
    items = await connection.request(
        lambda: read_pages(client.list_prompts, "prompts", _MAX_PROMPTS)
    )
    return [_read_prompt(server, each, results) for each in items]


def _read_prompt(server: str, prompt: Any, results: Results) -> Prompt:
    listed = prompt.arguments or ()
    return Prompt(
        server,
        results.clean(prompt.name, _MAX_NAME_BYTES),
        results.clean(prompt.description or prompt.title or "", _MAX_DESCRIPTION_BYTES),
        tuple(results.clean(each.name, _MAX_NAME_BYTES) for each in listed),
        tuple(results.clean(each.name, _MAX_NAME_BYTES) for each in listed if each.required),
    )


def list_contents(messages: Sequence[Any]) -> list[Any]:
    """Return the contents of the messages of a prompt, with who says them where that is not one."""
    from mcp.types import TextContent

    contents: list[Any] = []
    is_dialogue = len({each.role for each in messages}) > 1
    for each in messages:
        if is_dialogue:
            contents.append(TextContent(text=f"[{each.role}]"))
        contents.append(each.content)
    return contents
