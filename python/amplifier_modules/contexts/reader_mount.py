"""The tool that reads what a context has put aside, in the session that has the context."""

from __future__ import annotations

from itertools import count
from typing import Any

from .put_aside import TOOL_NAME
from .read_stored import ReadStored
from .stored_texts import StoredTexts


class ReaderMount:
    """Mounts the tool once there is something to read.

    Another tool may have its name, one of the user or that of a session around: then it takes the
    first name with a number that is free, such as `read_stored_2`.
    """

    def __init__(self, texts: StoredTexts, most_bytes: int) -> None:
        """Offer nothing yet; an answer of the tool has at most so many bytes."""
        self._texts = texts
        self._tool = ReadStored(texts, most_bytes)
        self._coordinator: Any = None

    def connect(self, coordinator: Any) -> None:
        """Offer it to this session from now on; None for no session."""
        self._coordinator = coordinator

    def name(self) -> str:
        """Return the name that the tool has, or will have."""
        if self._coordinator is None or self._mounted_tool(self._tool.name) is self._tool:
            return self._tool.name
        numbered = (f"{TOOL_NAME}_{number}" for number in count(2))
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
        name = self.name()
        if self._mounted_tool(name) is None:
            self._tool.name = name
            await self._coordinator.mount("tools", self._tool, name=name)

    def _mounted_tool(self, name: str) -> Any:
        return self._coordinator.get("tools", name)
