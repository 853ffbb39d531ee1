"""The live display of a session."""

from .session_display import Display

__all__ = ["Display"]
