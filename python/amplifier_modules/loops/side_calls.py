"""The model calls of a turn beside its conversation."""

from __future__ import annotations

from functools import partial

from amplifier_core.message_models import ChatRequest, ChatResponse

from ..spending.account import Limit
from ..spending.call_estimate import answer_tokens, bound_of, estimate_of
from ..spending.ledger import Ledger, LimitReachedError
from .model_call import TurnModels
from .turn_report import TurnReport


class BudgetUsedUpError(LookupError):
    """The budget of the turn has no room for a call beside the conversation."""


class SideCalls:
    """Asks the model of the role `fast` within the budget of a turn; nobody sees the blocks."""

    def __init__(self, models: TurnModels, ledger: Ledger | None, report: TurnReport) -> None:
        """Ask one of these models; without a ledger there is no limit."""
        self._models = models
        self._ledger = ledger
        self._report = report

    async def __call__(self, request: ChatRequest, purpose: str) -> ChatResponse:
        """Return the answer, counted like every other of the turn.

        Raises:
            BudgetUsedUpError: The turn may make no further call.
            Exception: What the provider raised.
        """
        model, iteration = self._models.helper(purpose), self._report.iterations
        if model.chosen.named is not None:
            request = request.model_copy(update={"model": model.chosen.named})
        if self._ledger is None:
            return await model.ask(request, iteration, _never)
        call = self._ledger.reserve(estimate_of(request, model.provider, self._ledger))
        if isinstance(call, Limit):
            raise BudgetUsedUpError(call.reason)
        try:
            with call:
                if (bound := bound_of(request, model.provider, self._ledger)) is not None:
                    most = call.hold(bound)
                    request = request.model_copy(update={"max_output_tokens": most})
                response = await model.ask(request, iteration, _never)
                call.settle_call(
                    getattr(response, "usage", None), answer_tokens=partial(answer_tokens, response)
                )
        except LimitReachedError as error:
            raise BudgetUsedUpError(error.limit.reason) from error
        return response


async def _never() -> None:
    """Make no shorter request: such calls are short."""
