"""A provider with connections of its own in each event loop: a model is shared by threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncGenerator, Callable
from weakref import WeakKeyDictionary

from amplifier_core._kernel.interruption import asyncio_loop

from .step import Call, Piece, Step
from .types import LLMResponse


class PerLoop:
    """A provider that is opened once in each event loop.

    Args:
        name: The name of the provider.
        open_step: Opens it; nothing is connected yet.

    Raises:
        ArcLLMConfigError: It cannot be opened.
    """

    def __init__(self, name: str, open_step: Callable[[], Step]) -> None:
        self._name = name
        self._open = open_step
        # Opened where no loop runs yet, so that a wrong configuration is seen at once.
        self._spare: Step | None = open_step()
        self._model_name = self._spare.model_name
        self._holds_to_schema = bool(getattr(self._spare, "holds_to_schema", False))
        self._steps: WeakKeyDictionary[object, Step] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The provider that answers."""
        return self._name

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return self._model_name

    @property
    def holds_to_schema(self) -> bool:
        """Whether the service holds its model to a schema."""
        return self._holds_to_schema

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer."""
        return await self._here().complete(call)

    def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response."""
        return self._here().stream(call)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        with self._lock:
            step = self._steps.pop(_loop(), None)
        if step is not None:
            await step.close()

    def _here(self) -> Step:
        loop = _loop()
        step = self._steps.get(loop)
        if step is None:
            with self._lock:
                step, self._spare = self._spare, None
            step = step or self._open()
            with self._lock:
                self._steps[loop] = step
        return step


def _loop() -> object:
    """Return the event loop that runs here."""
    loop = asyncio_loop()
    return sys.modules["trio"].lowlevel.current_trio_token() if loop is None else loop
