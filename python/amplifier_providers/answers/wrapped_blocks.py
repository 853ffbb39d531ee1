"""The events of blocks whose calls are made through another tool, as if they were made directly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_START

from .wrapped_calls import WRITTEN_NAME, read_json, unwrap_record

_ARGUMENTS = re.compile(r'\s*,\s*"arguments"\s*:\s*(?=\{)')


class BlockUnwrapper:
    """Makes the events of an answer's blocks those of the calls that were meant.

    A call begins when its name is there.
    """

    def __init__(self, wrapper: str) -> None:
        """Unwrap the calls of this tool."""
        self._wrapper = wrapper
        self._calls: dict[Any, _OpenCall] = {}
        """The calls of the wrapping tool that have begun, by the index of their block."""

    def take(self, event: str, data: dict[str, Any]) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the events to emit in the place of one, which is about a block."""
        if data.get("block_type") != "tool_call":
            return ((event, data),)
        index = data.get("block_index")
        if event == CONTENT_BLOCK_START:
            if _read_metadata(data).get("name") != self._wrapper:
                return ((event, data),)
            self._calls[index] = _OpenCall(data)
            return ()
        if event == CONTENT_BLOCK_DELTA:
            call = self._calls.get(index)
            return ((event, data),) if call is None else call.add(data)
        if index not in self._calls:
            return ((event, data),)
        block = unwrap_record(data.get("block") or {}, self._wrapper)
        ended = {**data, "block": block} if "block" in data else data
        return [*self.release(index, block), (event, ended)]

    def release(self, index: Any, block: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the missing events of a call whose block is there; its later events are left alone.

        Args:
            index: That of its block.
            block: The block, with the call that was meant.
        """
        call = self._calls.pop(index, None)
        return [] if call is None else call.settle(block, self._wrapper)


class _OpenCall:
    """A call of the wrapping tool that arrives."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._text = ""
        """What has come and is in no event yet."""
        self._has_begun = False
        """Whether the event of its beginning was emitted."""
        self._arguments: _ObjectEnd | None = None
        self._has_deltas = False
        self._shows_deltas = False

    def add(self, data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        self._has_deltas = True
        self._text += str(data.get("partial_json") or "")
        events: list[tuple[str, dict[str, Any]]] = []
        if not self._has_begun:
            if (match := WRITTEN_NAME.match(self._text)) is None:
                return events
            name = read_json(match[1])
            if not isinstance(name, str) or not name:
                return events
            events.append(self._begin(name))
            self._text = self._text[match.end() :]
        if self._arguments is None:
            if (match := _ARGUMENTS.match(self._text)) is None:
                return events
            self._arguments, self._text = _ObjectEnd(), self._text[match.end() :]
        text = self._arguments.take(self._text)
        self._text = ""
        if text:
            self._shows_deltas = True
            events.append((CONTENT_BLOCK_DELTA, {**data, "partial_json": text}))
        return events

    def settle(self, block: Mapping[str, Any], wrapper: str) -> list[tuple[str, dict[str, Any]]]:
        events: list[tuple[str, dict[str, Any]]] = []
        if not self._has_begun:
            events.append(self._begin(str(block.get("name") or wrapper)))
        if self._has_deltas and not self._shows_deltas and "input" in block:
            place = {key: self._start[key] for key in ("block_type", "block_index")}
            text = json.dumps(block["input"], ensure_ascii=False, default=str)
            events.append((CONTENT_BLOCK_DELTA, {**place, "partial_json": text}))
        return events

    def _begin(self, name: str) -> tuple[str, dict[str, Any]]:
        self._has_begun = True
        metadata = {**_read_metadata(self._start), "name": name}
        return CONTENT_BLOCK_START, {**self._start, "metadata": metadata}


def _read_metadata(start: dict[str, Any]) -> dict[str, Any]:
    """Return what the beginning of a block says of it."""
    metadata = start.get("metadata")
    return cast("dict[str, Any]", metadata) if isinstance(metadata, dict) else {}


class _ObjectEnd:
    """Finds the end of a JSON object that arrives in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_text = self._is_escaped = self._is_over = False

    def take(self, text: str) -> str:
        """Return as much of a piece as belongs to the object."""
        if self._is_over:
            return ""
        for position, letter in enumerate(text):
            if self._is_in_text:
                if self._is_escaped:
                    self._is_escaped = False
                elif letter == "\\":
                    self._is_escaped = True
                elif letter == '"':
                    self._is_in_text = False
            elif letter == '"':
                self._is_in_text = True
            elif letter in "{[":
                self._depth += 1
            elif letter in "}]":
                self._depth -= 1
                if self._depth == 0:
                    self._is_over = True
                    return text[: position + 1]
        return text
