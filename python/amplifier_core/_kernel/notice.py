"""Messages to the user from handlers that let an event continue."""

from __future__ import annotations

from typing import Any, get_args

from .._hook_result import HookResult, Level
from .argument import text

_LEVELS: tuple[Level, ...] = get_args(Level)


class Notice:
    """One message to the user, made of those of all handlers."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._sources: list[str] = []
        self._level = 0
        self._suppresses_output = False

    @staticmethod
    def is_in(result: HookResult) -> bool:
        """Whether a result says anything to the user."""
        return result.user_message is not None or result.suppress_output is True

    def add(self, result: HookResult) -> None:
        """Add what the next handler says; fields of a wrong type say nothing."""
        self._suppresses_output |= result.suppress_output is True
        message = _text_of(result.user_message)
        if not message:
            return
        self._texts.append(message)
        if result.user_message_level in _LEVELS:
            self._level = max(self._level, _LEVELS.index(result.user_message_level))
        source = _text_of(result.user_message_source)
        if source and source not in self._sources:
            self._sources.append(source)

    def said_by(self, result: HookResult) -> HookResult:
        """Add what the handlers say to a result: all texts, the highest level, every source."""
        update: dict[str, Any] = {}
        if self._suppresses_output:
            update["suppress_output"] = True
        if self._texts:
            update["user_message"] = "\n".join(self._texts)
            update["user_message_level"] = _LEVELS[self._level]
            update["user_message_source"] = ", ".join(self._sources) or None
        return result.model_copy(update=update) if update else result


def _text_of(value: object) -> str | None:
    """Return what is a text that can be shown, else None."""
    try:
        return text(value)
    except (TypeError, UnicodeEncodeError):
        return None
