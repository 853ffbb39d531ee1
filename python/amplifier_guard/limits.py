"""How much a message may hold and how long a tool may run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from amplifier_core._engine import resolve_limits
from amplifier_core._models.base_model import ClosedModel
from amplifier_guard.guard_error import GuardError

_Count = Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]


class LimitError(GuardError, ValueError):
    """A limit that is no use; says its name, where it stands, what was found and what is right."""


class Limits(ClosedModel):
    """The limits of messages and tools; their names and defaults are those of seed 001."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message_max_chars: _Count = 50_000
    """`MESSAGE_MAX_CHARS`: most characters of a message, in Unicode code points."""
    tool_timeout: Annotated[float, Field(gt=0, le=604_800)] = 120.0
    """`TOOL_TIMEOUT`: most seconds that a tool may run."""
    max_content_blocks: _Count = 1_000
    """`MAX_CONTENT_BLOCKS`: most blocks of a message."""
    thinking_mode_enabled: Annotated[bool, Field(strict=True)] = True
    """`THINKING_MODE_ENABLED`: whether messages hold what was thought."""
    name_max_chars: _Count = 100
    """`NAME_MAX_CHARS`: most characters of the name of a tool."""

    @classmethod
    def load(
        cls,
        configuration: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        **code: Any,
    ) -> Limits:
        """Return what the code says, else the configuration, else the environment, else the default.

        Every value is checked, also where another one counts; None is as good as absent.

        Args:
            configuration: Limits by their names, in small letters or capitals.
            environ: The environment, with the names in capitals; None for that of the process. A
                number is written in digits, a truth value as `true`, `yes`, `on`, `false`, `no`
                or `off`.
            **code: Limits by their names.

        Raises:
            LimitError: A value cannot be a limit, or there is no limit of the name.
        """
        found = os.environ if environ is None else environ
        names = [name.upper() for name in cls.model_fields]
        variables = {
            name: found[name].encode("utf-8", "replace").decode() for name in names if name in found
        }
        return cls(**resolve_limits(code, dict(configuration or {}), variables))
