"""What all turns of a loop share, and what the parts of one turn share."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.session_capabilities import MCP_SERVERS, TOOLS_OFFER
from amplifier_providers.answers.answer_settings import USUAL_CALLS, is_session_tag
from amplifier_providers.answers.argument_check import ArgumentCheck

from ..contexts.too_long import LearnedBudgets
from ..spending.ledger import Ledger
from .answers.response import MissingCalls
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .call_errors import EqualErrors
from .deferred.offer import ToolOffer
from .goal.judgement import Actions
from .model_call import TurnModels
from .pace import LastCall, Pause
from .recovery import Recovery
from .request import RequestBuilder
from .settings import UNLIMITED, LoopSettings
from .steering import SteeringQueue
from .turn_history import EmittedHistory, TurnHistory
from .turn_report import TurnReport

logger = logging.getLogger(__name__)

_READING_TOOLS = frozenset({"read_file", "grep", "web_fetch", "web_search"})
"""Tools whose results may have any text, such as tags."""


class LoopState:
    """What a loop keeps from one turn to the next."""

    __slots__ = (
        "_has_warned_of_tags",
        "arguments",
        "budgets",
        "emitted_history",
        "last_call",
        "missing_calls",
        "most_errors",
        "offer",
        "orchestrator",
        "pausing",
        "requests",
        "settings",
        "steering",
    )

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
        self.last_call: LastCall | None = None
        """When it called a model last; None without delays between calls."""
        self.missing_calls = MissingCalls()
        self.offer: ToolOffer | None = None
        """What requests say of the tools in a turn without a coordinator, if some are deferred."""
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
    journal: Any = None
    """What stores the session; None where nothing does."""
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
    _offer: ToolOffer | None = None

    def __post_init__(self) -> None:
        """Begin the report."""
        # Kept here, not read from `loop`: these are read many times in each step.
        self.settings = self.loop.settings
        self.report = TurnReport(self.loop.orchestrator)
        self.equal_errors = EqualErrors(self.loop.most_errors)

    def find_offer(self) -> ToolOffer | None:
        """Return what requests say of the tools; None where no tool is deferred."""
        if self._offer is None:
            found = self._find_capability(TOOLS_OFFER)
            self._offer = found if isinstance(found, ToolOffer) else self.loop.offer
        return self._offer

    def keep_offer(self, offer: ToolOffer) -> None:
        """Say the same of the tools in all requests of the session from now on."""
        self._offer = offer
        register = getattr(self.hooks.coordinator, "register_capability", None)
        if callable(register):
            register(TOOLS_OFFER, offer)
        else:
            self.loop.offer = offer

    def awaits_tools(self) -> bool:
        """Whether tools come later, of servers that were never connected."""
        awaits = getattr(self._find_capability(MCP_SERVERS), "awaits_tools", None)
        return callable(awaits) and awaits() is True

    def _find_capability(self, name: str) -> Any:
        find = getattr(self.hooks.coordinator, "get_capability", None)
        return find(name) if callable(find) else None

    @property
    def models(self) -> TurnModels:
        """The models to call.

        Raises:
            ConfigurationError: There is none.
        """
        if isinstance(self.found_models, Exception):
            raise self.found_models
        return self.found_models
