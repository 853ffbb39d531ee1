"""A provider over HTTP: what all of them do the same way around their wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from amplifier_core import world
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_core.session_capabilities import OBSERVABILITY_EVENTS, SESSION_COST

from ..prices.admission import Payer
from ..prices.input_bound import InputCounts
from ..prices.pricing import Pricing
from ..prompt.call_prompt import ProviderPrompts
from ..prompt.prompt import PromptReader
from ..prompt.watch import COMPACTIONS, prompts_of
from ..requests.model_window import limits_of, messages_budget
from ..retries import Retries
from ..setting_attributes import SettingAttribute, changed_setting
from .call import Call, Wire
from .client import ServiceClient
from .errors import note_hint
from .events import Emitter
from .load import Load
from .overload import Overload
from .repair_report import RepairReport
from .sender import Sender
from .service import Service
from .settings import HttpSettings
from .wire_format import WireFormat

if TYPE_CHECKING:
    import httpx2

    from amplifier_stream import StreamChunk

_WATCH = "prompt-prefix"
"""The name of the handler that follows compactions."""
_LONGEST_ANSWER = 8_192
"""Tokens of an answer of a model of which nothing is known."""


def new_call_id() -> str:
    """Return an id for a call that the service gave none."""
    return f"call_{world.random_bytes(12).hex()}"


class WireProvider:
    """A provider for one service.

    It says what the models can do, its `WireFormat` how requests are written and answers read, and a
    `Call` makes each call. The blocks of an answer are emitted as `content_block:*` events as they
    arrive; responses have `content_blocks_emitted` in their metadata where hooks got them. Every
    failure is one of `llm_errors`.
    """

    asks_allowance = True
    """Whether each request is sent only within what its call may use."""
    hides_thoughts = True
    """Whether it keeps back itself the thoughts that nobody asked for."""
    own_events: ClassVar[tuple[str, ...]] = ()
    """The events of this provider alone."""
    default_model = SettingAttribute[str | None]()
    """Model of requests that name none."""
    max_tokens = SettingAttribute[int | None]()
    """Tokens of the answers of requests that name no limit."""
    temperature = SettingAttribute[float | None]()
    """Randomness of the answers of requests that name none."""
    short_names: ClassVar[Mapping[str, str]] = {}
    """Short names of models for `fallback_model`."""

    def __init__(
        self,
        service: Service,
        settings: HttpSettings,
        client: ServiceClient,
        wire_format: WireFormat,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        sender: Sender | None = None,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            service: Who is called.
            settings: Its settings.
            client: How it is reached.
            wire_format: How its requests are written and its answers read.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            sender: What sends its requests; None for the usual.
            new_id: Returns the id of a call that comes without one.
        """
        self.service = service
        self.name = service.name
        self.settings = settings
        self.priority = settings.priority
        self.wire_format = wire_format
        self.hooks = hooks
        self._client = client
        self.use_http_client(settings.http_client)
        self._retries = retries or Retries(service.name, settings, hooks)
        self._retries.endpoint = client.endpoint
        self.pricing = Pricing(service.name, client.shown_url, settings.prices)
        """The prices of its calls, and what they have cost so far."""
        emitter = Emitter(hooks)
        self._load = Load(
            service.name, settings, client.endpoint, emitter.emit, sleep=self._retries.wait
        )
        client.on_headers = self._load.note
        payer = Payer(
            self.pricing,
            InputCounts(),
            wire_format.limit_key,
            wire_format.priced_as,
        )
        rule = wire_format.cache_rule
        reader = PromptReader(reads_settings=rule is not None and rule.reads_settings)
        self._wire = Wire(
            service.name,
            settings,
            wire_format,
            sender or Sender(client, settings, wire_format),
            emitter,
            payer,
            self._retries,
            self._load,
            Overload(settings, client.endpoint, service.module_name, self.short_names),
            RepairReport(service.name, emitter.emit),
            new_id,
            ProviderPrompts(hooks, client.endpoint, rule, reader),
        )

    def __repr__(self) -> str:
        """Show the base URL, never the key."""
        return f"{type(self).__name__}(base_url={self._client.shown_url!r})"

    @property
    def reasoning(self) -> str | None:
        """Effort of requests that name none."""
        return self.settings.reasoning or self.settings.reasoning_effort

    @reasoning.setter
    def reasoning(self, effort: str | None) -> None:
        module = self.service.module_name
        changed = changed_setting(self.settings, "reasoning", effort, module)
        if effort is None:
            changed = changed_setting(changed, "reasoning_effort", None, module)
        self.use_settings(changed)

    @property
    def tool_tags(self) -> tuple[str, ...]:
        """Tags in which its models write calls as text; empty where they make calls of their own."""
        return self._find_tool_tags()

    @tool_tags.setter
    def tool_tags(self, tags: tuple[str, ...]) -> None:
        self.use_settings(self.settings.model_copy(update={"tool_tags": tags}))

    def use_settings(self, settings: Any) -> None:
        """Encode requests with these settings from now on; how calls are made stays as it is."""
        self.settings = self._wire.settings = settings
        self.wire_format.use_settings(settings)

    def use_http_client(self, client: httpx2.AsyncClient | None) -> None:
        """Send requests by a client of the program's own; None for the connections that all share."""
        self._client.http_client = client

    @property
    def reports_cost(self) -> bool:
        """Whether responses say what they cost, as a budget of `cost` needs."""
        return self.unpriced_model is None

    @property
    def unpriced_model(self) -> str | None:
        """The model of the settings if no price of it is known, else None."""
        model = self.get_model_info().id
        return None if self.pricing.can_price(self.priced_as(model, None)) else model

    def input_cost(self, tokens: int) -> Decimal | None:
        """Return what so many tokens of a request cost that no cache knows; None if not known."""
        return self.pricing.input_cost(tokens, self.priced_as(self.get_model_info().id, None))

    def longest_answer(self, model: str) -> int:
        """Return the tokens of the longest answer of a model where a request names no limit."""
        return self._find_limits(model)[1] or _LONGEST_ANSWER

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        """Send `request` and return the whole answer.

        Args:
            request: The conversation and the tools.
            **options: `model`, `max_tokens`, `temperature`, `reasoning` or `reasoning_effort`,
                `extended_thinking`, `thinking_budget_tokens`, `extra_headers`, `retry_shown` and what the provider's encoder takes
                besides;
                they override request and settings. Others are ignored.

        Raises:
            LLMError: The call failed, after the retries that the settings allow. A stream that is
                cut off is a `StreamError`: a partial answer never becomes a response, and is not
                retried once a part of it was shown, unless `retry_shown` says so.
        """
        return await Call(self._wire, request, options, self.longest_answer).complete()

    def chunks(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[StreamChunk | ChatResponse]:
        """Yield text, thinking and calls as they arrive, at the end the whole `ChatResponse`.

        A block that the service takes back is one chunk that is `dropped`. Hooks get no events of
        blocks, so that whoever iterates can tell them. The arguments and errors are those of
        `complete`; once a chunk was yielded nothing is retried.
        """
        options["retry_shown"] = False
        return Call(self._wire, request, options, self.longest_answer).chunks()

    async def list_models(self) -> list[ModelInfo]:
        """Return the models that the key may use.

        Raises:
            LLMError: The service cannot be reached or refuses the key.
        """
        try:
            entries = await self._retries.call(self._model_entries, None)
        except LLMError as error:
            note_hint(error)
            raise
        if self.settings.filtered:
            known = [entry for entry in entries if self._is_known(str(entry.get("id") or ""))]
            entries = known or entries
        return [self._model_info(entry) for entry in entries]

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        raise NotImplementedError

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None."""
        raise NotImplementedError

    def model_defaults(self, model: str | None, max_tokens: int | None) -> dict[str, Any]:
        """Return the `defaults` of `get_info`: the model of the settings, and its sizes."""
        known = self.get_model_info(model)
        return {
            "model": model,
            "max_tokens": max_tokens,
            "context_window": known.context_window,
            "max_output_tokens": known.max_output_tokens,
        }

    def request_budget(self, request: ChatRequest | None = None) -> int | None:
        """Return how many tokens the messages of a request may have; None if that is not known.

        Args:
            request: The request, whose model and `max_output_tokens` count; None for those of the
                settings.
        """
        window, output = self._find_limits(request.model if request else None)
        if window is None:
            return None
        asked = request.max_output_tokens if request else None
        return messages_budget(window, output, asked)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of `response` in the order the model made them.

        A call that cannot be run has an attribute `error` that says why, and no arguments.
        """
        return list(response.tool_calls or [])

    async def mount(self, coordinator: Any, name: str) -> Callable[[], Awaitable[None]]:
        """Mount the provider under a name, with its cost and the names of its events.

        Returns:
            The callable that ends what the session has begun.
        """
        await coordinator.mount("providers", self, name=name)
        register = getattr(coordinator, "register_contributor", None)
        if register is not None:
            register(SESSION_COST, self.name, self.pricing.describe_cost)
            if self.own_events:
                register(OBSERVABILITY_EVENTS, self.name, lambda: list(self.own_events))
        hooks = getattr(coordinator, "hooks", None)
        prompts = prompts_of(hooks)

        def note_compaction(event: str, data: dict[str, Any]) -> None:
            del event, data
            prompts.note_compaction()

        watched = COMPACTIONS if hasattr(hooks, "on") else ()
        removes = [hooks.on(event, note_compaction, name=_WATCH) for event in watched]  # pyright: ignore[reportOptionalMemberAccess]

        async def leave() -> None:
            for remove in removes:
                remove()
            await self.release()

        return leave

    async def release(self) -> None:
        """End the answers that are still read; the connections stay for further sessions."""
        await self._client.release()

    async def close(self) -> None:
        """End the answers that are still read, and close the connections if nobody shares them.

        A later call opens new ones. A session only calls `release`.
        """
        await self._client.close()

    # What a provider of its own defines.

    def priced_as(self, asked: str, answered: str | None) -> tuple[str, ...]:
        """Return the names under which a model may have a price, the best known first."""
        return self.wire_format.priced_as(asked, answered)

    def _find_limits(self, model: str | None) -> tuple[int | None, int | None]:
        """Return the context window and the longest answer of a model; that of the settings if None."""
        return limits_of(self.get_model_info(model))

    def _find_tool_tags(self) -> tuple[str, ...]:
        """Return the tags of calls, which the settings name."""
        return self.settings.tool_tags

    async def _model_entries(self) -> list[dict[str, Any]]:
        """Return the entries of the service's list of models."""
        raise NotImplementedError

    def _is_known(self, model: str) -> bool:
        """Whether a model is one that is known to work here."""
        del model
        return True

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        """Return what an entry of the list of models says."""
        return self.get_model_info(str(entry.get("id") or ""))
