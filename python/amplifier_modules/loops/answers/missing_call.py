"""Answers that announce a call by their finish reason, and have none."""

from __future__ import annotations

import logging
from typing import Any

from amplifier_core.llm_errors import InvalidToolCallError

from .response import block_types, text_of

logger = logging.getLogger(__name__)

_ANNOUNCING = ("tool_use", "tool_calls", "function_call")
_THOUGHTS = frozenset({"text", "thinking", "redacted_thinking"})
"""Blocks that are no answer by themselves."""
_WHERE = "calls must be in `tool_calls` or as `ToolCallBlock`s in `content`"


class MissingCalls:
    """Judges answers without a call; warns once of each provider."""

    def __init__(self) -> None:
        """Begin without a warning."""
        self._warned: set[str] = set()

    def judge(self, response: Any, provider: str, model: str | None) -> None:
        """Say that the call of an answer is missing, if it announces one.

        Args:
            response: An answer without a call.
            provider: What its provider is mounted as.
            model: The model that was asked, if it is known.

        Raises:
            InvalidToolCallError: The answer has no text either.
        """
        reason = getattr(response, "finish_reason", None)
        if reason not in _ANNOUNCING:
            return
        if not text_of(response).strip() and _THOUGHTS.issuperset(block_types(response)):
            raise InvalidToolCallError(
                f"provider `{provider}` ended its answer with the finish reason `{reason}`, but the"
                f" answer has neither a call nor text ({_WHERE})",
                provider=provider,
                model=model,
            )
        if provider not in self._warned:
            self._warned.add(provider)
            logger.warning(
                "provider `%s` announces a call by the finish reason `%s`, but its answer has none"
                " and is taken as a plain one (%s)",
                provider,
                reason,
                _WHERE,
            )
