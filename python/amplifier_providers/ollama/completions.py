"""The format of the Chat Completions of Ollama."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from amplifier_core.message_models import ChatRequest

from ..openai_chat import ChatSettings, Preset
from ..openai_chat.wire_format import ChatFormat
from ..wire.body import WireRequest
from ..wire.fields import JsonDict
from ..wire.options import given_options, named_model
from ..wire.wire_format import WireFormat
from .config import PROVIDER, OllamaConfig
from .models import LookUp, ModelFacts
from .requested_options import read_options

PRESET = Preset(PROVIDER, "Ollama", shown_thinking="reasoning", replay="reasoning")
_ALSO_HERE = ("default_model", "max_tokens", "temperature", "use_streaming")
_OF_THINKING = frozenset(
    {"reasoning", "reasoning_effort", "extended_thinking", "thinking_budget_tokens"}
)
_EFFORTS = {True: "medium", False: "none"}


class CompletionsFormat(WireFormat):
    """Writes and reads as `ChatFormat` does, with what is known of the models."""

    path = "/v1/chat/completions"

    def __init__(
        self,
        config: OllamaConfig,
        facts: Callable[[str], ModelFacts],
        look_up: LookUp | None = None,
    ) -> None:
        """Encode for a server.

        Args:
            config: The settings of the requests.
            facts: Returns what is known of a model.
            look_up: Asks the server about the model of a request; None to ask nothing.
        """
        super().__init__()
        self._look_up = look_up
        self._config = config
        self._facts = facts
        self._chat = ChatFormat(PRESET, _chat_settings(config), sees=self._sees)

    @override
    def use_settings(self, settings: OllamaConfig) -> None:
        self._config = settings
        self._chat.use_settings(_chat_settings(settings))

    @override
    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        if self._look_up is not None:
            await self._look_up(self._config, request, options)

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        """Encode `request`; the arguments and errors are those of `OllamaFormat`."""
        given = given_options(options)
        model = named_model(request, given, self._config.default_model, PROVIDER)
        wishes = read_options(request, given, self._config, self._facts(model), model)
        kept = {key: value for key, value in given.items() if key not in _OF_THINKING}
        if (think := wishes.think) is not None:
            kept["reasoning_effort"] = think if isinstance(think, str) else _EFFORTS[think]
        asked = wishes.request.model_copy(update={"reasoning_effort": None})
        encoded = self._chat.encode(asked, kept)
        encoded.thinking = wishes.thinking
        encoded.degradations += wishes.degradations
        return encoded

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        return self._chat.raw_block(block)

    def _sees(self, model: str) -> bool:
        return self._facts(model).can("vision") is not False


def _chat_settings(config: OllamaConfig) -> ChatSettings:
    given = {key: getattr(config, key) for key in _ALSO_HERE if key in config.model_fields_set}
    return ChatSettings(**given)
