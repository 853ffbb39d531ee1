"""What the parts of a turn share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_providers.answers.answer_settings import USUAL_CALLS

from ..spending.ledger import Ledger
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .call_errors import EqualErrors
from .goal.judgement import Actions
from .loop_state import LoopState
from .model_call import TurnModels
from .recovery.recovery import Recovery
from .settings import LoopSettings
from .turn_history import TurnHistory
from .turn_report import TurnReport


@dataclass(slots=True, frozen=True)
class CallRules:
    """What holds for all tool calls of a turn."""

    longest: float | None = None
    """Seconds after which a tool is ended; None for no limit."""
    max_bytes: int | None = None
    """Bytes of each result in the messages, at most; None for no limit."""
    most_at_once: int | None = None
    """How many calls of one response run at the same time; None for no limit."""
    most_calls: int = USUAL_CALLS
    """How many calls of one response may run."""


@dataclass(slots=True)
class TurnState:
    """A turn as its parts see it: each is given this, and nothing else of the turn."""

    loop: LoopState
    """What all turns of the loop share."""
    tools: Mapping[str, Any]
    """Mounted tools by name."""
    hooks: HookPoints
    """Where the events go, and who judges."""
    cancellation: TurnCancellation
    """Whether the turn is cancelled."""
    history: TurnHistory
    """The conversation."""
    rules: CallRules
    """What holds for each tool call."""
    found_models: TurnModels | Exception
    """The models to call, or the error why there is none."""
    ledger: Ledger | None = None
    """What the turn may use; None for no limit."""
    response_format: Any = None
    """The form that answers must have, for providers that can hold a model to it; None for any."""
    recovery: Recovery | None = None
    """Tells the model of its errors, once the turn has begun; None where `equal_errors` is enough."""
    settings: LoopSettings = field(init=False)
    """Those of the loop."""
    report: TurnReport = field(init=False)
    """How the turn goes."""
    equal_errors: EqualErrors = field(init=False)
    """Counts the calls that fail again and again."""
    actions: Actions = field(default_factory=Actions)
    """What the tools did, for the judge of a goal."""

    def __post_init__(self) -> None:
        """Begin the report."""
        # Kept here, not read from `loop`: these are read many times in each step.
        self.settings = self.loop.settings
        self.report = TurnReport(self.loop.orchestrator)
        self.equal_errors = EqualErrors(self.loop.most_errors)

    @property
    def models(self) -> TurnModels:
        """The models to call.

        Raises:
            ConfigurationError: There is none.
        """
        if isinstance(self.found_models, Exception):
            raise self.found_models
        return self.found_models
