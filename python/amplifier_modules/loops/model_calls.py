"""How a turn asks its models, in its conversation and beside it, within the budget."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from amplifier_core.events import PROVIDER_ERROR, PROVIDER_REQUEST, USER_NOTIFICATION
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolSpec

from ..contexts.history_events import TOOLS
from ..running.failure import format_error
from ..spending.account import Limit
from ..spending.call_estimate import answer_tokens, bound_of, estimate_of
from ..spending.ledger import Ledger, LimitReachedError
from ..spending.reservation import Reservation
from .answers.response import (
    RequestedCall,
    announces_call,
    calls_of,
    text_of,
    unwrap_requested,
)
from .boundary.injection import Injection, with_injections
from .deferred.offer import NOTE_SOURCE, Form, begin_offer
from .model_call import ModelCall, error_data
from .model_roles import ChosenModel, UnknownRoleError
from .turn_state import TurnState

if TYPE_CHECKING:
    from .answers.reading import EarlyCalls

logger = logging.getLogger(__name__)

WRAP_UP = (
    "<system-reminder>The limit of model calls for this turn is reached. Do not call tools. "
    "Tell the user what is done, what was found, and what is left to do.</system-reminder>"
)


@dataclass(slots=True)
class Answered:
    """The model has answered; no call of the answer has run yet."""

    response: ChatResponse
    calls: list[RequestedCall]


@dataclass(slots=True, frozen=True)
class Denied:
    """A hook denied the call of the model; the report of the turn says why."""


@dataclass(slots=True, frozen=True)
class LimitReached:
    """The budget has no room for the call of the model."""

    limit: Limit


ModelStep: TypeAlias = Answered | Denied | LimitReached
"""What the call of a model ends in."""


class ModelAsker:
    """Asks the models of a turn."""

    def __init__(self, state: TurnState) -> None:
        """Ask with the messages of the turn."""
        self._state = state
        self.tool_specs: list[ToolSpec] = []
        """All tools, as models read of them."""

    def describe_tools(self) -> None:
        """Describe the tools as they are now."""
        state, settings = self._state, self._state.settings
        make_specs = partial(state.loop.requests.tool_specs, state.tools)
        offer = state.find_offer()
        if offer is None:
            offer = begin_offer(
                state.tools,
                make_specs,
                settings.deferred_tools,
                settings.listed_tools,
                awaits_tools=state.awaits_tools(),
            )
            if offer is not None:
                state.keep_offer(offer)
        if offer is None:
            self.tool_specs = make_specs()
            return
        notes = state.models.notes
        if notes.wrapper is None:
            state.tools = offer.extend(state.tools)
            notes.wrapper = offer.wrapper
        self.tool_specs = notes.tools = state.loop.requests.tool_specs(state.tools)
        offer.take_specs(self.tool_specs, _choose_form(state.models.own))

    def _list_sent(self, model: ModelCall) -> list[ToolSpec]:
        """Return what a request to a model says of the tools."""
        offer = self._state.find_offer()
        return self.tool_specs if offer is None else offer.list_sent(_choose_form(model))

    async def _announce_tools(self) -> None:
        """Add what the model has to hear of tools."""
        state = self._state
        if state.find_offer() is not None or len(self.tool_specs) != len(state.tools):
            # A tool was mounted during the turn.
            self.describe_tools()
        if (offer := state.find_offer()) is not None and (note := offer.take_note()) is not None:
            message = {"role": "user", "content": note, "metadata": {"source": NOTE_SOURCE}}
            await state.history.add(message, TOOLS)

    async def ask(
        self,
        injections: Iterable[Injection] = (),
        *,
        early: EarlyCalls | None = None,
        is_closing: bool = False,
    ) -> ModelStep:
        """Ask the model of the turn; return its answer, or why it was not asked.

        Args:
            injections: What is added to this request only.
            early: Is given the calls while the answer arrives, as in `ModelCall.ask`.
            is_closing: Whether the answer is the last of the turn, and calls no tools.

        Raises:
            InvalidToolCallError: The answer announces a call, and has neither that nor text.
            Exception: What the provider raised.
        """
        state = self._state
        hooks, report, history, ledger = state.hooks, state.report, state.history, state.ledger
        requests, budgets = state.loop.requests, state.loop.budgets
        model = state.models.own
        if hooks.has_listeners(PROVIDER_REQUEST):
            verdict = await hooks.judge(PROVIDER_REQUEST, await self._describe_request())
            if verdict.denied:
                report.deny(PROVIDER_REQUEST, verdict.reason)
                return Denied()
            try:
                model = state.models.asked_for(verdict.data)
            except UnknownRoleError as error:
                logger.error("a hook of `%s` asked for a role: %s", PROVIDER_REQUEST, error)
                report.deny(PROVIDER_REQUEST, str(error))
                return Denied()
        await self._announce_tools()
        if not history.has_emitted_all():
            await history.emit_changes()
        chosen = model.chosen
        context, provider = history.context, model.provider
        if chosen.named is None and not budgets.is_anything_known:
            messages: list[Any] = await context.get_messages_for_request(provider=provider)
        else:
            target, stated = (chosen.name, chosen.model), chosen.request_budget()
            messages = await budgets.get_messages(context, provider, *target, stated=stated)
        if len(self.tool_specs) != len(state.tools):
            # The context has mounted one that reads what it has put aside.
            self.describe_tools()
        sent = self._list_sent(model)
        requests.wrap_calls(wraps=state.models.notes.wrapper is not None and not model.tags)
        injected = [*hooks.take_injections(), *injections]
        options: dict[str, Any] = {}
        if is_closing:
            options["tool_choice"] = "none"
        if chosen.named is not None:
            options["model"] = chosen.named
        if state.response_format is not None:
            options["response_format"] = state.response_format
        refused = [messages]

        async def shorten_request() -> ChatRequest | None:
            target = (chosen.name, chosen.model)
            refusals = len(refused) - 1
            fewer = await budgets.fewer_messages(refused[-1], refusals, context, provider, *target)
            if fewer is None:
                return None
            refused.append(fewer)
            if state.journal is not None:
                await state.journal.flush()
            return requests.build(with_injections(fewer, injected), sent, **options)

        given = with_injections(messages, injected)
        request = requests.build(given, sent, **options)
        if state.journal is not None:
            await state.journal.store_request(chosen.identity, request)
        number = report.iterations
        if ledger is None:
            response = await model.ask(request, number, shorten_request, early=early)
        else:
            estimate = estimate_of(request, provider, ledger)
            call = ledger.reserve(estimate, is_closing=is_closing)
            if isinstance(call, Limit):
                return LimitReached(call)
            try:
                with call:
                    lowered = await self._hold(ledger, call, request, provider)
                    if lowered is not None:
                        options["max_output_tokens"] = lowered
                        request = requests.build(given, sent, **options)
                    response = await model.ask(request, number, shorten_request, early=early)
                    call.settle_call(
                        getattr(response, "usage", None),
                        answer_tokens=partial(answer_tokens, response),
                    )
            except LimitReachedError as error:
                return LimitReached(error.limit)
            await ledger.warn()
        if response.usage is not None:
            history.note_usage(response.usage)
        report.answer = text_of(response) or report.answer
        calls = [] if is_closing else calls_of(provider, response)
        if (wrapper := state.models.notes.wrapper) is not None:
            calls = [unwrap_requested(call, wrapper) for call in calls]
        if not calls and not is_closing and announces_call(response):
            await self._look_for_missing_call(response, chosen)
        return Answered(response, calls)

    async def _look_for_missing_call(self, response: ChatResponse, chosen: ChosenModel) -> None:
        try:
            self._state.loop.missing_calls.judge(response, chosen.name, chosen.model)
        except InvalidToolCallError as error:
            await self._state.hooks.emit(PROVIDER_ERROR, {**chosen.identity, **error_data(error)})
            raise

    async def _hold(
        self, ledger: Ledger, call: Reservation, request: ChatRequest, provider: Any
    ) -> int | None:
        """Hold back what a call of a provider of others may use; return a lower limit of its answer.

        Raises:
            LimitReachedError: Too little is left.
        """
        bound = bound_of(request, provider, ledger)
        if bound is None:
            return None
        most = call.hold(bound)
        if most == bound.output_tokens:
            return None
        text = (
            f"an answer of {bound.output_tokens:,} tokens is limited to {most:,}: the budget pays"
            " for no more"
        )
        data = {"message": text, "level": "warning", "source": "budget"}
        await self._state.hooks.emit(USER_NOTIFICATION, data)
        return most

    async def _describe_request(self) -> dict[str, Any]:
        """Return what hooks get of a call before it is made."""
        return {
            **self._state.models.own.describe_call(),
            "message_count": len(await self._state.history.context.get_messages()),
            "iteration": self._state.report.iterations,
        }

    async def wrap_up(self) -> None:
        """Ask the model for a closing answer at the limit of model calls."""
        report = self._state.report
        reminder = Injection(WRAP_UP, role="user")
        try:
            step = await self.ask((reminder,), is_closing=True)
        except Exception as error:  # noqa: BLE001 -- `provider:error` reports it
            report.answer = (
                f"Stopped after {report.iterations} model calls, the limit of this turn; "
                f"the closing call failed: {format_error(error)}"
            )
        else:
            if isinstance(step, LimitReached):
                report.reason = step.limit.reason
            elif isinstance(step, Answered):
                await self._state.history.add_response(step.response, [])


def _choose_form(model: ModelCall) -> Form:
    """Return how a model gets to know tools, once some are deferred."""
    if model.tags:
        return "tagged"
    is_native = getattr(model.provider, "takes_deferred_tools", False) is True
    return "native" if is_native else "own"


class BudgetUsedUpError(LookupError):
    """The budget of the turn has no room for a call beside the conversation."""


async def ask_aside(state: TurnState, request: ChatRequest, purpose: str) -> ChatResponse:
    """Ask the model of the role `fast` beside the conversation, within the budget of the turn.

    Nobody sees the blocks of the answer, which counts like every other of the turn.

    Raises:
        BudgetUsedUpError: The turn may make no further call.
        Exception: What the provider raised.
    """
    model, iteration, ledger = (
        state.models.make_helper(purpose),
        state.report.iterations,
        state.ledger,
    )
    if model.chosen.named is not None:
        request = request.model_copy(update={"model": model.chosen.named})
    if state.journal is not None:
        await state.journal.store_request({**model.chosen.identity, "purpose": purpose}, request)
    if ledger is None:
        return await model.ask(request, iteration, _shorten_nothing)
    call = ledger.reserve(estimate_of(request, model.provider, ledger))
    if isinstance(call, Limit):
        raise BudgetUsedUpError(call.reason)
    try:
        with call:
            if (bound := bound_of(request, model.provider, ledger)) is not None:
                most = call.hold(bound)
                request = request.model_copy(update={"max_output_tokens": most})
            response = await model.ask(request, iteration, _shorten_nothing)
            call.settle_call(
                getattr(response, "usage", None), answer_tokens=partial(answer_tokens, response)
            )
    except LimitReachedError as error:
        raise BudgetUsedUpError(error.limit.reason) from error
    return response


async def _shorten_nothing() -> None:
    """Make no shorter request: such calls are short."""
