"""How a turn asks its models: the messages of the context, within the budget."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from amplifier_core.events import PROVIDER_ERROR, PROVIDER_REQUEST, USER_NOTIFICATION
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolSpec

from ..running.failure import in_words
from ..spending.account import Limit
from ..spending.call_estimate import answer_tokens, bound_of, estimate_of
from ..spending.ledger import Ledger, LimitReachedError
from ..spending.reservation import Reservation
from .answers.response import RequestedCall, calls_of, text_of
from .boundary.hook_points import HookPoints
from .boundary.injection import Injection, with_injections
from .model_call import TurnModels, error_data
from .models.roles import ChosenModel, UnknownRoleError
from .shared import Shared
from .turn_history import TurnHistory
from .turn_report import TurnReport

if TYPE_CHECKING:
    from .answers.reading import EarlyCalls

logger = logging.getLogger(__name__)

WRAP_UP = (
    "<system-reminder>The limit of model calls for this turn is reached. Do not call tools. "
    "Tell the user what is done, what was found, and what is left to do.</system-reminder>"
)


class ModelCalls:
    """Asks the models of a turn."""

    def __init__(
        self,
        shared: Shared,
        tools: Mapping[str, Any],
        hooks: HookPoints,
        history: TurnHistory,
        report: TurnReport,
        ledger: Ledger | None,
        response_format: Any,
    ) -> None:
        """Ask with the messages of this history.

        Args:
            shared: What all turns of the loop share.
            tools: Mounted tools by name.
            hooks: Where the events go.
            history: The conversation.
            report: What is said of the turn.
            ledger: What the turn may use; None for no limit.
            response_format: The form that answers must have, for providers that can hold a model
                to it.
        """
        self.requests = shared.requests
        self.budgets = shared.budgets
        self.missing_calls = shared.missing_calls
        self.tools = tools
        self.hooks = hooks
        self.history = history
        self.report = report
        self.ledger = ledger
        self.response_format = response_format
        self.tool_specs: list[ToolSpec] = []
        """What requests say of the tools."""

    def describe_tools(self) -> None:
        """Describe the tools as they are now."""
        self.tool_specs = self.requests.tool_specs(self.tools)

    async def ask(
        self,
        models: TurnModels,
        injections: Iterable[Injection] = (),
        *,
        early: EarlyCalls | None = None,
        is_closing: bool = False,
    ) -> tuple[ChatResponse, list[RequestedCall]] | Limit | None:
        """Return a response and its calls, None where a hook denied the call.

        A limit is returned where other calls have reached it meanwhile.

        Args:
            models: The models of the turn.
            injections: What is added to this request only.
            early: Is given the calls while the answer arrives, as in `ModelCalls.ask`.
            is_closing: Whether the answer is the last of the turn, and calls no tools.

        Raises:
            InvalidToolCallError: The answer announces a call, and has neither that nor text.
            Exception: What the provider raised.
        """
        verdict = await self.hooks.judge(PROVIDER_REQUEST, partial(self._about, models))
        if verdict.denied:
            self.report.deny(PROVIDER_REQUEST, verdict.reason)
            return None
        if not self.history.has_emitted_all():
            await self.history.emit_changes()
        try:
            model = models.asked_for(verdict.data)
        except UnknownRoleError as error:
            logger.error("a hook of `%s` asked for a role: %s", PROVIDER_REQUEST, error)
            self.report.deny(PROVIDER_REQUEST, str(error))
            return None
        chosen = model.chosen
        context, provider = self.history.context, model.provider
        target = (chosen.name, chosen.model) if self.budgets.is_anything_known else ()
        stated = chosen.request_budget()
        messages = await self.budgets.messages(context, provider, *target, stated=stated)
        if len(self.tool_specs) != len(self.tools):
            # A tool was mounted during the turn, such as one that reads what was put aside.
            self.describe_tools()
        injected = [*self.hooks.take_injections(), *injections]
        options: dict[str, Any] = {}
        if is_closing:
            options["tool_choice"] = "none"
        if chosen.named is not None:
            options["model"] = chosen.named
        if self.response_format is not None:
            options["response_format"] = self.response_format
        refused = [messages]

        async def shorter() -> ChatRequest | None:
            target = (chosen.name, chosen.model)
            refusals = len(refused) - 1
            fewer = await self.budgets.fewer_messages(
                refused[-1], refusals, context, provider, *target
            )
            if fewer is None:
                return None
            refused.append(fewer)
            return self.requests.build(with_injections(fewer, injected), self.tool_specs, **options)

        given = with_injections(messages, injected)
        request = self.requests.build(given, self.tool_specs, **options)
        number = self.report.iterations
        if self.ledger is None:
            response = await model.ask(request, number, shorter, early=early)
        else:
            estimate = estimate_of(request, provider, self.ledger)
            call = self.ledger.reserve(estimate, is_closing=is_closing)
            if isinstance(call, Limit):
                return call
            try:
                with call:
                    lowered = await self._hold(call, request, provider)
                    if lowered is not None:
                        options["max_output_tokens"] = lowered
                        request = self.requests.build(given, self.tool_specs, **options)
                    response = await model.ask(request, number, shorter, early=early)
                    call.settle_call(
                        getattr(response, "usage", None),
                        answer_tokens=partial(answer_tokens, response),
                    )
            except LimitReachedError as error:
                return error.limit
            await self.ledger.warn()
        if response.usage is not None:
            self.history.note_usage(response.usage)
        self.report.answer = text_of(response) or self.report.answer
        calls = [] if is_closing else calls_of(provider, response)
        if not calls and not is_closing:
            await self._look_for_missing_call(response, chosen)
        return response, calls

    async def _look_for_missing_call(self, response: ChatResponse, chosen: ChosenModel) -> None:
        try:
            self.missing_calls.judge(response, chosen.name, chosen.model)
        except InvalidToolCallError as error:
            await self.hooks.emit(PROVIDER_ERROR, {**chosen.identity, **error_data(error)})
            raise

    async def _hold(self, call: Reservation, request: ChatRequest, provider: Any) -> int | None:
        """Hold back what a call of a provider of others may use; return a lower limit of its answer.

        Raises:
            LimitReachedError: Too little is left.
        """
        bound = None if self.ledger is None else bound_of(request, provider, self.ledger)
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
        await self.hooks.emit(USER_NOTIFICATION, data)
        return most

    async def _about(self, models: TurnModels) -> dict[str, Any]:
        """Return what hooks get of a call before it is made."""
        return {
            **models.own.identity(),
            "message_count": len(await self.history.context.get_messages()),
            "iteration": self.report.iterations,
        }

    async def wrap_up(self, models: TurnModels) -> None:
        """Ask the model for a closing answer at the limit of model calls."""
        reminder = Injection(WRAP_UP, role="user")
        try:
            asked = await self.ask(models, (reminder,), is_closing=True)
        except Exception as error:  # noqa: BLE001 -- `provider:error` reports it
            self.report.answer = (
                f"Stopped after {self.report.iterations} model calls, the limit of this turn; "
                f"the closing call failed: {in_words(error)}"
            )
        else:
            if isinstance(asked, Limit):
                self.report.reason = asked.reason
            elif asked is not None:
                await self.history.add_response(asked[0], [])
