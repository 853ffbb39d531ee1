"""Text for a terminal, with control and invisible characters escaped."""

from amplifier_core._engine import TerminalText

__all__ = ["TerminalText"]
