"""Text for a terminal: what a terminal would act on, and what nobody would see, shown escaped."""

from amplifier_core._engine import TerminalText

__all__ = ["TerminalText"]
