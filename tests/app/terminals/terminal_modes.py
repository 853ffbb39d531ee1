"""The kinds of terminals in which each session is played."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mode:
    """A kind of terminal, and what the command is told about it."""

    name: str
    columns: int = 80
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=lambda: {"TERM": "xterm-256color"})
    is_plain: bool = False
    """Whether nothing may be drawn anew."""
    has_colors: bool = True


NO_COLOR = {"TERM": "xterm-256color", "NO_COLOR": "1"}
MODES = (
    Mode("40 columns", 40),
    Mode("plain", arguments=("--plain",), is_plain=True, has_colors=False),
    Mode("200 columns", 200),
    Mode("no colour", environment=NO_COLOR, has_colors=False),
    Mode("dumb", environment={"TERM": "dumb"}, is_plain=True, has_colors=False),
    Mode("80 columns"),
)
