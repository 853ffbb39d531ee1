"""The question whether a command may reach a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_guard.question import quote_value

_MAX_HOST_CHARS = 255
"""Longer names cannot be looked up; and nobody can agree to what is not shown."""
_MAX_COMMAND_CHARS = 600
_MAX_JOBS = 3


@dataclass(frozen=True)
class HostQuestion:
    """A host and a port, and what may have connected to them."""

    host: str
    """A name in ASCII, as it is looked up, or an address."""
    port: int
    command: str
    """What the call runs."""
    jobs: Sequence[str] = ()
    """What runs in the background."""

    @property
    def name(self) -> str:
        """What is agreed to, as people write it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_readable(self) -> bool:
        """Whether a person would see all of the name."""
        return len(self.host) <= _MAX_HOST_CHARS

    def write(self) -> str:
        """Return the question as text."""
        rows = [
            f"let a command reach {quote_value(self.host)}, port {self.port}?",
            f"| running: {_shorten(self.command)}",
        ]
        # Nobody knows which of them it was.
        rows += [f"| in the background: {_shorten(each)}" for each in self.jobs[:_MAX_JOBS]]
        if (more := len(self.jobs) - _MAX_JOBS) > 0:
            rows.append(f"| and {more} more in the background")
        return "\n".join(rows)

    def describe(self) -> dict[str, Any]:
        """Return the same as data."""
        jobs = {"jobs": list(self.jobs)} if self.jobs else {}
        return {"host": self.host, "port": self.port, "command": self.command, **jobs}


def _shorten(command: str) -> str:
    more = len(command) - _MAX_COMMAND_CHARS
    shown = quote_value(command[:_MAX_COMMAND_CHARS])
    return f"{shown} and {more:,} more characters" if more > 0 else shown
