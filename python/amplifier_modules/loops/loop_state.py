"""What all turns of a loop share."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_providers.answers.answer_settings import is_session_tag
from amplifier_providers.answers.argument_check import ArgumentCheck

from ..contexts.learned_budget import LearnedBudgets
from .answers.response import MissingCalls
from .pace import LastCall, Pause
from .request import RequestBuilder
from .settings import UNLIMITED, LoopSettings
from .steering import SteeringQueue
from .turn_history import EmittedHistory

logger = logging.getLogger(__name__)

_READING_TOOLS = frozenset({"read_file", "grep", "web_fetch", "web_search"})
"""Tools whose results may have any text, such as tags."""


class LoopState:
    """What a loop keeps from one turn to the next."""

    def __init__(self, orchestrator: str, settings: LoopSettings) -> None:
        """Begin, before the first turn.

        Args:
            orchestrator: The name of the loop.
            settings: The settings of the loop.
        """
        self.orchestrator = orchestrator
        self.settings = settings
        self.requests = RequestBuilder(settings)
        self.arguments = ArgumentCheck()
        """Compares the arguments of calls with the schemas of the tools."""
        self.budgets = LearnedBudgets()
        """How long requests may be, where that was learned from a refusal."""
        self.steering = SteeringQueue()
        self.pausing = Pause()
        """Holds a turn between its steps."""
        self.emitted_history = EmittedHistory()
        """Emits the events of the messages that enter the history."""
        self.last_call = LastCall()
        self.missing_calls = MissingCalls()
        most = settings.max_equal_errors
        self.most_errors = None if most == UNLIMITED else most
        """How many equal errors in a row end a turn; None for no limit."""
        self._has_warned_of_tags = False

    def warn_of_plain_tags(self, tags: Iterable[str], tools: Mapping[str, Any]) -> None:
        """Warn once where tools read texts that may know the tags of calls.

        Args:
            tags: The tags of calls.
            tools: Mounted tools by name.
        """
        plain = [tag for tag in tags if not is_session_tag(tag)]
        reading = sorted(_READING_TOOLS.intersection(tools))
        if self._has_warned_of_tags or not plain or not reading:
            return
        self._has_warned_of_tags = True
        logger.warning(
            "%s: the model writes its calls in `<%s>`, which a text that %s may contain, too; set"
            ' `tool_tags` to "session" for a tag that only this session knows',
            self.orchestrator,
            plain[0],
            f"`{reading[0]}` reads",
        )
