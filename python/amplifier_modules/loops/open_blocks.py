"""Blocks that have begun and not ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core.events import CONTENT_BLOCK_END, CONTENT_BLOCK_START

from .answers.blocks import aborted_end, block_records
from .boundary.hook_points import HookPoints

_PRIORITY = -2_000_000_000
"""Before hooks that could deny an event."""


class OpenBlocks:
    """The blocks of one model call that are open, whoever emits their events.

    It looks at the events from when it is made until `stop_watching`; `close` and `abort` emit the
    ends that are missing. Where nobody hears of blocks when the call begins, nobody misses an end.
    What reads the answer emits its events here: from `abort` on they are dropped, as a reading that
    was left behind would tell of blocks that have ended.
    """

    def __init__(self, hooks: HookPoints) -> None:
        """Look at the events of these hooks."""
        self._hooks = hooks
        self.has_listeners = hooks.has_listeners
        self.coordinator = hooks.coordinator
        self.emit = hooks.emit
        self.emit_last = hooks.emit_last
        self._open: dict[Any, dict[str, Any]] = {}
        self._unregister: list[Callable[[], object]] = []
        if not (hooks.has_listeners(CONTENT_BLOCK_START) or hooks.has_listeners(CONTENT_BLOCK_END)):
            return
        register: Any = getattr(hooks.registry, "register", None)
        if callable(register):
            for event, look in ((CONTENT_BLOCK_START, self._start), (CONTENT_BLOCK_END, self._end)):
                unregister: Any = register(event, look, priority=_PRIORITY, name="loop-blocks")
                self._unregister.append(unregister)

    def stop_watching(self) -> None:
        """Ignore all further events."""
        for unregister in self._unregister:
            unregister()

    async def close(self, response: Any) -> None:
        """End what a provider left open, with the blocks of its response."""
        if not self._open:
            return
        records: list[dict[str, Any]] = [record for record, _ in block_records(response)]
        for index, place in sorted(self._open.items()):
            for record in records[index : index + 1]:
                if record.get("type") == place["block_type"]:
                    await self._hooks.emit(CONTENT_BLOCK_END, {**place, "block": record})
        await self.abort()

    async def abort(self) -> None:
        """End what is open of an answer that failed or was cancelled, and drop what follows."""
        self.emit = self.emit_last = _drop
        for _, place in sorted(self._open.items()):
            await self._hooks.emit(CONTENT_BLOCK_END, aborted_end(place))

    def _start(self, event: str, data: dict[str, Any]) -> None:
        index = data.get("block_index")
        if isinstance(index, int):
            self._open[index] = {"block_type": data.get("block_type"), "block_index": index}

    def _end(self, event: str, data: dict[str, Any]) -> None:
        self._open.pop(data.get("block_index"), None)


async def _drop(event: str, data: dict[str, Any]) -> None:
    """Emit nothing."""
