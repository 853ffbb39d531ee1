"""What a turn came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, cast

from amplifier_providers.prices.amounts import read_count, sum_counts

from .prompt_cache import NO_USE, PromptCacheUse
from .type_parameters import T_co

if TYPE_CHECKING:
    from .event import Question

TurnStatus: TypeAlias = Literal[
    "completed", "truncated", "denied", "cancelled", "limit", "error", "awaiting_approval"
]
"""How a turn ended.

`completed`: with an answer. `truncated`: with one that was cut short. `denied`: hooks, or the model
itself, refused. `cancelled`: by `cancel()`. `limit`: by its budget. `error`: the loop gave up.
`awaiting_approval`: a person is asked, and `Session.resume_turn` goes on with the answer.
"""

_SHOWN_CHARS = 200

Message: TypeAlias = dict[str, Any]
"""One message of a conversation, as JSON."""


GoalEnding: TypeAlias = Literal[
    "reached", "stalled", "busy_stalled", "capped", "cancelled", "failed"
]
"""How the pursuit of a goal ended.

`reached`: as the judge sees it. `stalled`: the judge gave the same reason again and again.
`busy_stalled`: tools ran, and nothing changed. `capped`: by the limit of rounds or of the turn.
`cancelled`: with the turn, or withdrawn. `failed`: the judge, the model or a hook kept it from going
on.
"""


@dataclass(frozen=True, kw_only=True)
class GoalOutcome:
    """What became of the goal of a turn."""

    goal: str
    """When the work is done."""
    verdict: GoalEnding
    """How its pursuit ended."""
    reason: str
    """Why."""
    rounds: int
    """How many answers were judged."""
    summary: str | None = None
    """What was done in all rounds, by a model; None for a single one."""


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """Tokens, each counted once."""

    input: int = 0
    """Of requests, neither read from a cache nor written to one."""
    cache_read: int = 0
    """Of requests, read from a cache."""
    cache_write: int = 0
    """Of requests, written to a cache."""
    output: int = 0
    """Of answers, without reasoning."""
    reasoning: int = 0
    """Of answers, for reasoning that the provider counts by itself."""

    @property
    def total(self) -> int:
        """All tokens."""
        return sum_counts(read_count(getattr(self, each.name)) for each in fields(self))

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return the sum."""
        pairs = ((each.name, (self, other)) for each in fields(self))
        return TokenUsage(
            **{
                name: sum_counts(read_count(getattr(part, name)) for part in parts)
                for name, parts in pairs
            }
        )


class StatusError(Exception):
    """A turn without the answer that was asked for."""

    def __init__(self, result: Result[Any]) -> None:
        """Name the status and the reason."""
        reason = f": {result.reason}" if result.reason else ""
        super().__init__(f"the turn ended as `{result.status}`{reason}")
        self.result = result
        """The turn."""

    def __reduce__(self) -> tuple[type[StatusError], tuple[Result[Any]]]:
        """Pickle the result, which the text is made of."""
        return type(self), (self.result,)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Generic[T_co]):
    """One turn: its answer, how it ended, and what it used."""

    text: str
    """The answer; what there is of it unless `completed`, empty if `denied`."""
    status: TurnStatus
    """How the turn ended."""
    reason: str | None = None
    """Why it is not `completed`."""
    stop_reason: str | None = None
    """Why the model stopped, in the provider's word."""
    usage: TokenUsage = TokenUsage()
    """Tokens of the turn and its sub-agents."""
    cost: Decimal | None = None
    """US dollars of the turn and its sub-agents; None if a price is not known."""
    model_calls: int = 0
    """Calls of the model, those of sub-agents included."""
    tool_calls: int = 0
    """Calls of tools, those of sub-agents included."""
    prompt_cache: PromptCacheUse = NO_USE
    """What the caches of services made of the beginnings of its requests."""
    messages: list[Message] = field(default_factory=list[Message])
    """The conversation up to here, without the system prompt."""
    session_id: str = ""
    """The session that the turn belongs to."""
    goal: GoalOutcome | None = None
    """What became of the goal; None for a turn without one."""
    questions: tuple[Question, ...] = ()
    """What people are asked; of a turn that is `awaiting_approval`."""
    value: T_co | None = None
    """The answer as an object; `output` is this, for a turn that is `completed`."""

    def __repr__(self) -> str:
        """Show how it ended and what it used; long texts are shortened, messages are counted."""
        # asyncio writes the result of its main task, so it must stay short however long the text is.
        text = self.text if len(self.text) <= _SHOWN_CHARS else f"{self.text[:_SHOWN_CHARS]}…"
        reason = "" if self.reason is None else f", reason={self.reason[:_SHOWN_CHARS]!r}"
        return (
            f"Result(text={text!r}, status={self.status!r}{reason}, usage={self.usage},"
            f" cost={self.cost}, model_calls={self.model_calls}, tool_calls={self.tool_calls},"
            f" messages=<{len(self.messages)}>, session_id={self.session_id!r})"
        )

    @property
    def output(self) -> T_co:
        """The answer as an object of the agent's `output`.

        Raises:
            StatusError: The turn is not `completed`.
        """
        return cast("T_co", self.raise_for_status().value)

    def raise_for_status(self) -> Self:
        """Return the result if the turn is `completed`.

        Raises:
            StatusError: It is not.
        """
        if self.status != "completed":
            raise StatusError(self)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        from pydantic_core import to_jsonable_python

        found = {each.name: getattr(self, each.name) for each in fields(self)}
        found["output"] = found.pop("value")
        found["usage"] = {**asdict(self.usage), "total": self.usage.total}
        return to_jsonable_python(found)


def goal_outcome(data: Any) -> GoalOutcome | None:
    """Return what `orchestrator:complete` says of a goal; None if it says nothing of that form."""
    if not isinstance(data, dict):
        return None
    found = cast("dict[str, Any]", data)
    try:
        return GoalOutcome(**{each.name: found[each.name] for each in fields(GoalOutcome)})
    except KeyError:  # of a loop that is not ours
        return None


CANCELLED: tuple[TurnStatus, str] = ("cancelled", "the turn was cancelled")
"""The status and the reason of a turn that was cancelled."""


def ending_of(error: BaseException) -> tuple[TurnStatus, str]:
    """Return the status and the reason of a turn that raised this."""
    if isinstance(error, Exception):
        return "error", str(error) or type(error).__name__
    return CANCELLED
