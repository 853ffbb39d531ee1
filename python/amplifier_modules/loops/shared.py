"""What all turns of a loop share."""

from __future__ import annotations

from ..argument_check import ArgumentCheck
from ..contexts.learned_budget import LearnedBudgets
from .pace import LastCall
from .pause import Pause
from .request import RequestBuilder
from .settings import UNLIMITED, LoopSettings
from .steering import SteeringQueue
from .told_history import ToldHistory


class Shared:
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
        self.told = ToldHistory()
        """Tells of the messages that enter the history."""
        self.last_call = LastCall()
        most = settings.max_equal_errors
        self.most_errors = None if most == UNLIMITED else most
        """How many equal errors in a row end a turn; None for no limit."""
