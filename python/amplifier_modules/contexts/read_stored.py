"""`read_stored`: the tool that reads parts of texts that were put aside, and how it is mounted."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.models import ToolResult

from .put_aside import TOOL_NAME
from .stored_texts import StoredTexts

MOST_BYTES = 32 * 1024
"""Bytes of UTF-8 of one answer, at most."""
_LINE_CHARS = 2_000
"""Characters that a search shows of one line."""
_ID_CHARS = 100


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    id: str = Field(description="The id of the stored text, from its reference.")
    line: int = Field(default=1, ge=1, le=2**53, description="The first line to show, from 1.")
    lines: int = Field(default=200, ge=1, le=100_000, description="The most lines to show.")
    offset: int | None = Field(
        default=None,
        ge=0,
        le=2**53,
        description="Show bytes from this one on, from 0, in the place of lines.",
    )
    bytes: int = Field(
        default=8_192, ge=1, le=MOST_BYTES, description="The most bytes to show from `offset` on."
    )
    search: str | None = Field(
        default=None,
        min_length=1,
        description="Show the lines from `line` on that contain this text, in upper or lower case.",
    )


class ReadStored:
    """Reads parts of the texts that a conversation refers to; an answer is bounded."""

    description = (
        "Read a part of a text that was too long for this conversation and is stored: lines, bytes,"
        f" or the lines that contain a text. Shows at most {MOST_BYTES:,} bytes at once."
    )
    input_schema: ClassVar[dict[str, Any]] = _Asked.model_json_schema()

    def __init__(self, texts: StoredTexts, most_bytes: int) -> None:
        """Read these texts, at most so many bytes at once."""
        self.name = TOOL_NAME
        self._texts = texts
        self._most_bytes = min(most_bytes, MOST_BYTES)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return the part, with where it is in the text.

        Raises:
            InvalidToolCallError: The arguments cannot be used.
        """
        try:
            asked = _Asked.model_validate(input)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"]))
            message = f"`{place}` of `{self.name}`: {problem['msg'].lower()}"
            raise InvalidToolCallError(message, tool_name=self.name) from None
        # A stored text may be long, and in a file.
        return await anyio.to_thread.run_sync(self._read_part, asked)

    def _read_part(self, asked: _Asked) -> ToolResult:
        text = self._texts.get(asked.id)
        if text is None:
            ids = ", ".join(f"`{id}`" for id in self._texts.list_ids()[-20:]) or "none"
            message = f"no text is stored as `{asked.id[:_ID_CHARS]}` (stored: {ids})"
            return ToolResult(success=False, output=message, error={"message": message})
        if asked.search is not None:
            return ToolResult(output=self._find_lines(text, asked))
        if asked.offset is not None:
            return ToolResult(output=self._read_bytes(text, asked, asked.offset))
        return ToolResult(output=self._read_lines(text, asked))

    def _read_lines(self, text: str, asked: _Asked) -> str:
        lines = _lines_of(text)
        shown = lines[asked.line - 1 : asked.line - 1 + asked.lines]
        kept, left = _take_fitting(shown, self._most_bytes)
        if not kept and shown:
            at = len("".join(lines[: asked.line - 1]).encode("utf-8", "surrogatepass"))
            hint = f'read it with {{"id": "{asked.id}", "offset": {at}}}'
            return f"[line {asked.line:,} alone is longer than {self._most_bytes:,} bytes: {hint}]"
        end = asked.line - 1 + len(kept)
        head = f"[lines {asked.line:,} to {end:,} of {len(lines):,}"
        if not kept:
            head = f"[there are no lines from {asked.line:,} on: the text has {len(lines):,}"
        elif left or end < len(lines):
            head += f'; go on with "line": {end + 1}'
        return f"{head}]\n{''.join(kept)}"

    def _read_bytes(self, text: str, asked: _Asked, offset: int) -> str:
        encoded = text.encode("utf-8", "surrogatepass")
        end = min(offset + min(asked.bytes, self._most_bytes), len(encoded))
        if offset >= len(encoded):
            return f"[there are no bytes from {offset:,} on: the text has {len(encoded):,}]"
        head = f"[bytes {offset:,} to {end:,} of {len(encoded):,}"
        if end < len(encoded):
            head += f'; go on with "offset": {end}'
        return f"{head}]\n{encoded[offset:end].decode('utf-8', 'replace')}"

    def _find_lines(self, text: str, asked: _Asked) -> str:
        wanted = (asked.search or "").casefold()
        lines = enumerate(text.split("\n"), 1)
        found = [
            (number, line) for number, line in itertools.islice(lines, asked.line - 1, None)
            if wanted in line.casefold()
        ]  # fmt: skip
        shown = [
            f"{number}: {_cut_around(line, wanted)}\n" for number, line in found[: asked.lines]
        ]
        kept, _ = _take_fitting(shown, self._most_bytes)
        head = f"[{len(found):,} lines from line {asked.line:,} on contain it; {len(kept):,} shown"
        if len(kept) < len(found):
            head += f'; go on with "line": {found[len(kept)][0]}'
        return f"{head}]\n{''.join(kept)}"


def _lines_of(text: str) -> list[str]:
    """Return the lines with their newline characters."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _take_fitting(lines: list[str], most_bytes: int) -> tuple[list[str], int]:
    """Return the first lines that fit, and how many do not."""
    room = most_bytes
    for count, line in enumerate(lines):
        room -= len(line.encode("utf-8", "surrogatepass"))
        if room < 0:
            return lines[:count], len(lines) - count
    return lines, 0


def _cut_around(line: str, wanted: str) -> str:
    """Return a line, or its part with the text that was found if it is long."""
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, line.casefold().find(wanted) - _LINE_CHARS // 4)
    return f"…{line[start : start + _LINE_CHARS]}…"


class ReaderMount:
    """Mounts the tool once there is something to read.

    Another tool may have its name, one of the user or that of a session around: then it takes the
    first name with a number that is free, such as `read_stored_2`.
    """

    __slots__ = ("_coordinator", "_most_bytes", "_texts", "_tool")

    def __init__(self, texts: StoredTexts, most_bytes: int) -> None:
        """Offer nothing yet; an answer of the tool has at most so many bytes."""
        self._texts = texts
        self._most_bytes = most_bytes
        self._tool: ReadStored | None = None
        self._coordinator: Any = None

    def connect(self, coordinator: Any) -> None:
        """Offer it to this session from now on; None for no session."""
        self._coordinator = coordinator

    def choose_name(self) -> str:
        """Return the name that the tool has, or will have."""
        tool = self._tool
        if self._coordinator is None:
            return TOOL_NAME if tool is None else tool.name
        if tool is not None and self._mounted_tool(tool.name) is tool:
            return tool.name
        numbered = (f"{TOOL_NAME}_{number}" for number in itertools.count(2))
        name = TOOL_NAME
        while self._mounted_tool(name) is not None:
            name = next(numbered)
        return name

    def is_needed(self) -> bool:
        """Whether there is something to read."""
        return not self._texts.is_empty()

    async def offer(self) -> None:
        """Mount the tool, if there is something to read and it is not mounted."""
        if self._coordinator is None or not self.is_needed():
            return
        name = self.choose_name()
        if self._mounted_tool(name) is None:
            tool = self._tool = self._tool or ReadStored(self._texts, self._most_bytes)
            tool.name = name
            await self._coordinator.mount("tools", tool, name=name)

    def _mounted_tool(self, name: str) -> Any:
        return self._coordinator.get("tools", name)
