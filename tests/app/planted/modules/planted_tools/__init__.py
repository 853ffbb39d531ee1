"""Tools that give away what they know in every way that a module can."""

from __future__ import annotations

import gc
import json
import logging
import os
import threading
import warnings
from pathlib import Path
from typing import Any, ClassVar

from amplifier_core.models import ToolResult
from amplifier_guard import ErrorContext

__amplifier_module_type__ = "tool"

logger = logging.getLogger(__name__)
TEXTS: dict[str, Any] = json.loads(Path(os.environ["PLANTED"]).read_text())


class Careless:
    """A destructor that fails."""

    def __del__(self) -> None:
        raise RuntimeError(TEXTS["finaliser"])


class Tell:
    """Succeeds, and tells too much."""

    name = "tell"
    description = "Tells."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object"}

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        await self._coordinator.hooks.emit("user:notification", {"message": TEXTS["message"]})
        context = ErrorContext(operation="tell")
        context.metadata["api_key"] = TEXTS["metadata"]
        context.message_id = TEXTS["message_id"]
        logger.warning("in %s", context)
        thread = threading.Thread(target=self._fail, daemon=True)
        thread.start()
        thread.join()
        Careless()
        gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(TEXTS["warning"], stacklevel=1)
        return ToolResult(output={**TEXTS["output"], "context": context.model_dump(mode="json")})

    def _fail(self) -> None:
        raise RuntimeError(TEXTS["thread"])


class Fail:
    """Fails, and tells too much."""

    name = "fail"
    description = "Fails."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object"}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        try:
            try:
                raise KeyError(TEXTS["context"])
            except KeyError:
                raise ConnectionError(TEXTS["cause"])  # noqa: B904
        except ConnectionError as cause:
            error = RuntimeError(TEXTS["exception"])
            error.add_note(TEXTS["note"])
            raise error from cause


async def mount(coordinator: Any, config: Any = None) -> None:
    """Mount the tools, and log their configuration."""
    logger.info("mounted with %s and %r", TEXTS["config"], os.environ["DATABASE_URL"])
    for tool in (Tell(coordinator), Fail()):
        await coordinator.mount("tools", tool, name=tool.name)
