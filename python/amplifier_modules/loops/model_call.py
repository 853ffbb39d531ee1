"""The calls of a turn to its models: their events, their errors, their blocks."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from amplifier_core.events import (
    CONTENT_BLOCK_END,
    CONTENT_BLOCK_START,
    LLM_POST,
    LLM_PRE,
    PROVIDER_ERROR,
    PROVIDER_RESPONSE,
)
from amplifier_core.llm_errors import ContextLengthError, LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolSpec
from amplifier_core.weak_link import link_weakly
from amplifier_providers.answers.wrapped_calls import WRAPPER, unwrap_response
from amplifier_providers.prices.allowance import NoRoomError
from amplifier_providers.running.call_purpose import CALL_PURPOSE, CALLING_SESSION

from ..contexts.too_long import cannot_be_shorter
from ..running.awaitable import awaitable_of
from ..running.failure import describe_error
from .answers.blocks import AfterWord, OpenBlocks, are_emitted, emit_blocks, with_hidden_thoughts
from .answers.provider_pieces import answer_in_pieces
from .answers.tagged_request import tagged_request
from .boundary.cancellation import LastSteps, await_interruptibly, finish_steps
from .boundary.hook_points import HookPoints
from .model_roles import ChosenModel, Roles, tool_tags
from .pace import Pace
from .settings import LoopSettings

if TYPE_CHECKING:
    from .answers.reading import EarlyCalls

logger = logging.getLogger(__name__)


class ModelCall:
    """The calls of one turn to one of its models."""

    def __init__(self, models: TurnModels, chosen: ChosenModel, purpose: str | None = None) -> None:
        """Call a model.

        Args:
            models: The models of the turn.
            chosen: The model.
            purpose: What calls beside the conversation are for; nobody sees their blocks.
        """
        self.chosen = chosen
        self.provider = chosen.provider
        self._hooks = models.hooks
        self._settings = models.settings
        self._pace = models.pace
        self._is_streaming = models.is_streaming
        self._given_purpose = purpose
        self._is_aside = purpose is not None
        self._notes = models.notes
        self.tags = () if purpose is not None else tool_tags(chosen.provider, models.settings)
        """The tags in which the model writes its calls; empty for native calls."""
        self._options = models.settings.thinking_options(is_aside=purpose is not None)
        self._hides_thoughts = models.settings.must_hide_thoughts(chosen.provider)
        facts = {} if chosen.role is None else {"role": chosen.role}
        if purpose is not None:
            facts["purpose"] = purpose
        self._what = f"provider `{chosen.name}`"
        self._facts = facts or None
        """What events of the provider itself say of the call."""

    def describe_call(self) -> dict[str, Any]:
        """What events say of the model and the call."""
        identity = self.chosen.identity
        if self._given_purpose is not None:
            identity["purpose"] = self._given_purpose
        return identity

    async def ask(
        self,
        request: ChatRequest,
        iteration: int,
        shorter: Callable[[], Awaitable[ChatRequest | None]],
        *,
        early: EarlyCalls | None = None,
    ) -> ChatResponse:
        """Return the model's response, after its block events.

        Args:
            request: The request.
            iteration: Number of the call in its turn.
            shorter: Makes the request that is sent in the place of one that is too long for the
                model; None if it cannot be shorter. No request is sent again unchanged.
            early: Is given each call as soon as it is complete, while the answer arrives; not those
                that cannot run. In the response a call has the same id. Providers that are asked by
                `complete` hand over their calls at the end,
                and only if they are in tags.

        Raises:
            Exception: What the provider raised, after the event `provider:error`.
        """
        # The model is named as it is before the call.
        about = self.describe_call()
        about["iteration"] = iteration
        while True:
            try:
                response = await self._send(request, about, early)
                break
            except ContextLengthError as error:
                shortened = await shorter()
                if shortened is None:
                    ending_error = cannot_be_shorter(request, error)
                    await self._hooks.emit(PROVIDER_ERROR, {**about, **error_data(ending_error)})
                    raise ending_error from error
                logger.info("the request was too long for the model and is sent in a shorter form")
                request = shortened
        if self._hides_thoughts:
            response = with_hidden_thoughts(response)
        # Most events of most turns have no listener: a payload with the usage takes 2 µs.
        hooks, has_listeners = self._hooks, self._hooks.has_listeners
        if has_listeners(LLM_POST):
            await hooks.emit(LLM_POST, {**about, **_usage_data(response), "status": "ok"})
        if has_listeners(PROVIDER_RESPONSE):
            data = {**about, **_usage_data(response), "response": response}
            await hooks.emit(PROVIDER_RESPONSE, data)
        # Without a listener the blocks are not even listed, which takes 6 µs for each answer.
        is_shown = (
            self._is_streaming
            or has_listeners(CONTENT_BLOCK_START)
            or has_listeners(CONTENT_BLOCK_END)
        )
        if is_shown and not self._is_aside and not are_emitted(response):
            await emit_blocks(
                hooks,
                response,
                with_deltas=self._is_streaming,
                after_word=self._after_word(),
                hides_thoughts=self._hides_thoughts,
            )
        return response

    async def _send(
        self, request: ChatRequest, about: dict[str, Any], early: EarlyCalls | None
    ) -> ChatResponse:
        if self._pace is not None:
            await self._pace.before_call(self._hooks, about["iteration"])
        is_cancelled = False
        try:
            tags = self.tags
            is_read = bool(tags) or (self._is_streaming and not self._is_aside)
            # Where nobody hears of the ends of blocks when the call begins, nobody misses one.
            blocks = (
                OpenBlocks(self._hooks)
                if is_read or self._hooks.has_handlers(CONTENT_BLOCK_END)
                else None
            )
            try:
                if self._hooks.has_listeners(LLM_PRE):
                    count = len(request.messages)
                    await self._hooks.emit(LLM_PRE, {**about, "message_count": count})
                # Not reset by its token: what is left behind may be closed in another context.
                around, session_around = CALL_PURPOSE.get(), CALLING_SESSION.get()
                wrapper = self._notes.wrapper
                CALL_PURPOSE.set(self._facts)
                CALLING_SESSION.set(link_weakly(self._hooks.registry))
                WRAPPER.set(wrapper)
                try:
                    if blocks is not None and is_read:
                        answer = self._in_pieces(request, tags, early, blocks)
                    else:
                        answer = self._begin_whole(request)
                    response = await await_interruptibly(answer, self._what)
                    self._check_answer(response)
                finally:
                    CALL_PURPOSE.set(around)
                    CALLING_SESSION.set(session_around)
                    WRAPPER.set(None)
                if wrapper is not None:
                    response = unwrap_response(response, wrapper)
                if blocks is not None:
                    await blocks.close(response)
            except Exception:
                if blocks is not None:
                    await blocks.abort()
                raise
            except BaseException:
                is_cancelled = True
                await finish_steps(self._ends_of_cancelled(about, blocks))
                raise
            finally:
                if blocks is not None:
                    blocks.stop_watching()
            return response
        except Exception as error:
            if is_cancelled:  # a scope that was left behind with its turn
                raise
            await self._hooks.emit(LLM_POST, {**about, "status": "error"})
            if not isinstance(error, ContextLengthError | NoRoomError):
                await self._hooks.emit(PROVIDER_ERROR, {**about, **error_data(error)})
            raise

    def _ends_of_cancelled(self, about: dict[str, Any], blocks: OpenBlocks | None) -> LastSteps:
        if blocks is not None:
            yield from blocks.ends_of_open_blocks()
        yield self._hooks.emit(LLM_POST, {**about, "status": "cancelled"})

    def _after_word(self) -> AfterWord | None:
        return None if self._pace is None else self._pace.after_word

    async def _in_pieces(
        self,
        request: ChatRequest,
        tags: tuple[str, ...],
        early: EarlyCalls | None,
        blocks: OpenBlocks,
    ) -> ChatResponse:
        sent = request
        if tags:
            asked = self._settings
            sent = tagged_request(request, tags[0], asked.tool_format, asked.tool_prompt)
        pieces = answer_in_pieces(self.provider, sent, is_tagged=bool(tags), **self._options)
        if pieces is None and not tags:
            return await self._begin_whole(sent)
        # Imported here: without the extension loops run, but read no chunks and no tags.
        from .answers.calls import texts_with_tags
        from .answers.reading import Form, Reading

        foreign: list[Any] = []
        known_texts = texts_with_tags(request.messages, tags, self._notes.reminder) if tags else ()
        form = Form(
            tags,
            known_texts,
            self._notes.tools or request.tools,
            self._settings.max_calls_per_answer,
            self._is_streaming,
            self._after_word(),
            self._hides_thoughts,
            self._notes.wrapper,
        )
        reading = Reading(blocks, form, early)
        response = await reading.read(pieces or self._in_one_piece(sent, foreign))
        self._notes.quoted_call = reading.quoted_call
        return foreign[0] if foreign else response

    async def _in_one_piece(
        self, request: ChatRequest, foreign: list[Any]
    ) -> AsyncIterator[ChatResponse]:
        """Yield the answer of `complete`; one of another type is `foreign` and left alone."""
        response: Any = await self._begin_whole(request)
        self._check_answer(response)
        if isinstance(response, ChatResponse):
            yield response
        else:
            foreign.append(response)

    def _begin_whole(self, request: ChatRequest) -> Awaitable[ChatResponse]:
        returned = self.provider.complete(request, **self._options)
        return awaitable_of(returned, "complete", self.chosen.name)

    def _check_answer(self, answer: object) -> None:
        """Refuse what is no answer.

        Raises:
            TypeError: It has no content.
        """
        if not hasattr(answer, "content"):
            raise TypeError(
                f"`complete` of the provider `{self.chosen.name}` returned a"
                f" `{type(answer).__name__}` (must be a `ChatResponse`, such as"
                " `ChatResponse(content=[TextBlock(text=text)])`)"
            )


class CallNotes:
    """What the turn and its model calls let each other know."""

    __slots__ = ("quoted_call", "reminder", "tools", "wrapper")

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self.reminder: str | None = None
        """What the loop itself says in the next request."""
        self.quoted_call: str | None = None
        """The tool whose call ended the last answer in a quotation, and so did not run."""
        self.wrapper: str | None = None
        """The tool through which the model calls those that requests do not describe."""
        self.tools: list[ToolSpec] | None = None
        """All tools where requests do not describe each; None where they do."""


class TurnModels:
    """The models that a turn calls."""

    def __init__(
        self,
        roles: Roles,
        hooks: HookPoints,
        settings: LoopSettings,
        pace: Pace | None,
        *,
        is_streaming: bool,
    ) -> None:
        """Call the models of these roles.

        Args:
            roles: The models.
            hooks: Where the events go.
            settings: The settings of the loop.
            pace: Keeps a time between calls and between words; None for no delays.
            is_streaming: Whether answers are shown as they come.
        """
        self.roles = roles
        self.hooks = hooks
        self.settings = settings
        self.pace = pace
        self.is_streaming = is_streaming
        self.notes = CallNotes()
        self.own = ModelCall(self, roles.own)
        """The calls of the turn itself."""

    def make_helper(self, purpose: str) -> ModelCall:
        """The calls beside the conversation, for a purpose."""
        return ModelCall(self, self.roles.helper, purpose)

    def asked_for(self, data: Mapping[str, Any] | None) -> ModelCall:
        """Return the calls to the model of the `role` in the data of `provider:request`.

        Raises:
            UnknownRoleError: The settings do not name the role.
        """
        own = self.own
        role = own.chosen.role if data is None else data.get("role")
        return own if role == own.chosen.role else ModelCall(self, self.roles.choose_model(role))


def _usage_data(response: Any) -> dict[str, Any]:
    """Return what events say of a response: its usage and why it ended."""
    return {
        "usage": _make_plain(getattr(response, "usage", None)),
        "finish_reason": getattr(response, "finish_reason", None),
    }


def error_data(error: Exception) -> dict[str, Any]:
    """Return what events say of an error of a provider."""
    description = describe_error(error)
    data: dict[str, Any] = {**description, "error": description}
    if isinstance(error, LLMError):
        data |= {"retryable": error.retryable, "status_code": error.status_code}
    return data


def _make_plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else value
