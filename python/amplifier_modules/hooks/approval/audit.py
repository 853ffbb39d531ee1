"""The audit log: a line of JSON for each question, answer and refusal."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_core import world

logger = logging.getLogger(__name__)


class AuditLog:
    """A file of the user, to which lines are added."""

    def __init__(
        self, path: Path, redact: Callable[[Any], Any], module: str = "hooks-approval"
    ) -> None:
        """Add lines to this file.

        Args:
            path: The file, which is made at the first line.
            redact: Removes secrets from data in the form of JSON.
            module: Which module warns where it cannot be written.
        """
        self._path = path
        self._redact = redact
        self._module = module
        self._has_failed = False

    async def add(self, event: str, fields: Mapping[str, Any]) -> None:
        """Add a line; a file that cannot be written is one warning."""
        row = {"at": world.time(), "event": event, **self._redact(dict(fields))}
        line = f"{json.dumps(row, default=repr)}\n".encode()
        try:
            await anyio.to_thread.run_sync(self._append, line)
        except OSError as error:
            if not self._has_failed:
                logger.warning("%s: `%s` cannot be written: %s", self._module, self._path, error)
            self._has_failed = True

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # One call, so that lines of several processes do not mix.
            os.write(handle, line)
        finally:
            os.close(handle)
