"""Limits on the size of messages and the duration of tool calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from amplifier_core._engine import resolve_limits
from amplifier_core.base_models import ClosedModel
from amplifier_guard.guard_error import GuardError

_Count = Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]


class LimitError(GuardError, ValueError):
    """An invalid limit; the message has its name and source, what was found and what is allowed."""


class Limits(ClosedModel):
    """The limits of messages and tools; their names and defaults are those of seed 001."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message_max_chars: _Count = 50_000
    """`MESSAGE_MAX_CHARS`: most characters of a message, in Unicode code points."""
    tool_timeout: Annotated[float, Field(gt=0, le=604_800)] = 120.0
    """`TOOL_TIMEOUT`: most seconds that a tool call may take."""
    max_content_blocks: _Count = 1_000
    """`MAX_CONTENT_BLOCKS`: most blocks of a message."""
    thinking_mode_enabled: Annotated[bool, Field(strict=True)] = True
    """`THINKING_MODE_ENABLED`: whether messages keep their thinking blocks."""
    name_max_chars: _Count = 100
    """`NAME_MAX_CHARS`: most characters of the name of a tool."""

    @classmethod
    def load(
        cls,
        configuration: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        **code: Any,
    ) -> Limits:
        """Take each limit from the code, else the configuration, else the environment, else the default.

        Every value is checked, even if another source takes precedence; None means absent.

        Args:
            configuration: Limits by name, in lower case or capitals.
            environ: The environment, with names in capitals; None for that of the process. A
                number is written in digits, a boolean as `true`, `yes`, `on`, `false`, `no`
                or `off`.
            **code: Limits by name.

        Raises:
            LimitError: A value is invalid, or a name is unknown.
        """
        found = os.environ if environ is None else environ
        names = [name.upper() for name in cls.model_fields]
        variables = {
            name: found[name].encode("utf-8", "replace").decode() for name in names if name in found
        }
        return cls(**resolve_limits(code, dict(configuration or {}), variables))
