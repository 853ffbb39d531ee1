"""A provider of the kernel, bare: one call is one request, without retries, hooks and waits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_core.models import ModelInfo
from amplifier_core.suggest import suggest_or_list
from amplifier_providers.answers.output_type import is_native
from amplifier_providers.prices.allowance import admitted_by
from amplifier_providers.running.closing import closing
from amplifier_providers.running.loop_end import running_loop

from ..convert.conversation import Conversation
from ..convert.options import kernel_request
from ..convert.response import llm_response
from ..exceptions import ArcLLMConfigError
from ..step import Call, Piece, Step
from ..types import LLMResponse
from .errors import translate_errors
from .names import PROVIDERS, ProviderName
from .settings import check_address
from .streamed import Deltas
from .wires import Wire, wire_of

if TYPE_CHECKING:
    from amplifier_providers.wire.provider import WireProvider
    from amplifier_stream import StreamChunk


def open_provider(
    name: str, model: str | None, settings: Mapping[str, Any], called: str | None = None
) -> Step:
    """Return the step that asks a provider; nothing is sent, and no connection is made.

    Args:
        name: The name of the provider, one of `PROVIDERS`.
        model: The model that answers; None for that of the settings, or the provider's own.
        settings: What the provider is set to: `api_key`, `base_url`, `timeout`, `max_tokens`, …;
            what is missing may come from the environment.
        called: The name that it has in the configuration; None for its own.

    Raises:
        ArcLLMConfigError: The provider or a setting is unknown, a value cannot be used, the address
            is neither HTTPS nor local, or a key, an address or the model is missing.
    """
    entry = PROVIDERS.get(name)
    if entry is None:
        raise ArcLLMConfigError(f"unknown provider `{name}`{suggest_or_list(str(name), PROVIDERS)}")
    entry = replace(entry, name=called or name)
    values = {**settings, **({"default_model": model} if model else {})}
    with translate_errors(entry):
        wire = wire_of(entry, values)
        check_address(entry.name, wire.address)
        known = wire.make()
        model = known.get_model_info().id
    if not model:
        raise ArcLLMConfigError(
            f"no model of `{entry.name}` is named (such as `{entry.name}:NAME`)"
        )
    return ProviderStep(entry, model, wire, known)


class ProviderStep:
    """The step that asks a provider; safe to share between threads and event loops.

    Connections belong to one event loop: each loop has a provider of its own.
    """

    asks_allowance = True
    """Whether each request is sent only within the allowance of its call."""

    def __init__(self, entry: ProviderName, model: str, wire: Wire, known: WireProvider) -> None:
        """Take how the provider is reached.

        Args:
            entry: The provider.
            model: The model that answers.
            wire: Its address, and how it is made.
            known: A provider that is not asked, only what it knows of the model.
        """
        self._entry = entry
        self._model = model
        self._wire = wire
        self._known = known
        self._providers: WeakKeyDictionary[Any, WireProvider] = WeakKeyDictionary()
        self._lock = Lock()
        self._conversation = Conversation()

    @property
    def name(self) -> str:
        """The provider that answers."""
        return self._entry.name

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return self._model

    @cached_property
    def holds_to_schema(self) -> bool:
        """Whether the service holds its model to a schema."""
        return is_native(self._wire.make())

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer.

        Raises:
            ArcLLMAPIError: The service refused the call, cannot be reached, or broke off.
            ArcLLMParseError: It called a tool with arguments that cannot be read.
            ArcLLMConfigError: What is asked cannot be sent.
        """
        request, keywords = self._request(call)
        with translate_errors(self._entry), admitted_by(call.allowance):
            answer = await self.provider().complete(request, **keywords)
        return llm_response(answer, self._entry.name)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response.

        Closed early, it closes its connection. The errors are those of `complete`; one may come
        after a part of the answer.
        """
        request, keywords = self._request(call)
        deltas = Deltas()
        with translate_errors(self._entry):
            async with closing(self.provider().chunks(request, **keywords)) as chunks:
                # Not for longer: whoever reads the stream may make other calls meanwhile.
                with admitted_by(call.allowance):
                    first = await anext(chunks)
                if (piece := self._piece_of(first, deltas)) is not None:
                    yield piece
                async for chunk in chunks:
                    if (piece := self._piece_of(chunk, deltas)) is not None:
                        yield piece

    def _piece_of(self, chunk: StreamChunk | ChatResponse, deltas: Deltas) -> Piece | None:
        if isinstance(chunk, ChatResponse):
            return llm_response(chunk, self._entry.name)
        return deltas.make_delta(chunk)

    def get_model_info(self) -> ModelInfo:
        """Return what the model can do."""
        return self._known.get_model_info()

    def input_cost(self, tokens: int) -> Decimal | None:
        """Return what so many tokens of a request cost that no cache knows; None if not known."""
        return self._known.input_cost(tokens)

    async def close(self) -> None:
        """Close the connections of this event loop; a later call opens new ones."""
        with self._lock:
            provider = self._providers.pop(running_loop(), None)
        if provider is not None:
            await provider.close()

    def _request(self, call: Call) -> tuple[ChatRequest, dict[str, Any]]:
        return kernel_request(call, self._conversation.convert_messages(call.messages))

    def provider(self) -> WireProvider:
        """Return the kernel's provider for the event loop that runs here."""
        loop = running_loop()
        with self._lock:
            provider = self._providers.get(loop)
            if provider is None:
                for other in list(self._providers):
                    # What a loop of asyncio has open refers to the loop, which would stay for ever.
                    if getattr(other, "is_closed", bool)():
                        del self._providers[other]
                provider = self._providers[loop] = self._wire.make()
        return provider
