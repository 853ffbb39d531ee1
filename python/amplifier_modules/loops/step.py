"""What a step of a turn ends in: the model answers, its tools have run, or it may not be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from amplifier_core.message_models import ChatResponse

from ..spending.account import Limit
from .answers.response import RequestedCall

if TYPE_CHECKING:
    from .tool_calls import ToolRound


@dataclass(slots=True, frozen=True)
class Answered:
    """The model has answered; no call of the answer has run yet."""

    response: ChatResponse
    calls: list[RequestedCall]


@dataclass(slots=True, frozen=True)
class CalledTools:
    """The calls of an answer have ended."""

    round: ToolRound


@dataclass(slots=True, frozen=True)
class Denied:
    """A hook denied the call of the model; the report of the turn says why."""


@dataclass(slots=True, frozen=True)
class LimitReached:
    """The budget has no room for the call of the model."""

    limit: Limit


ModelStep: TypeAlias = Answered | Denied | LimitReached
"""What the call of a model ends in."""
Step: TypeAlias = ModelStep | CalledTools
"""What the call of a model and the round of tools after it end in."""
