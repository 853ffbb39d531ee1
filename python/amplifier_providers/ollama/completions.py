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
from .config import PROVIDER, OllamaConfig
from .models import LookUp, ModelFacts
from .requested_options import read_options
from .wire_format import ServerFormat

PRESET = Preset(PROVIDER, "Ollama", shown_thinking="reasoning", replay="reasoning")
_ALSO_HERE = ("default_model", "max_tokens", "temperature", "use_streaming")
_OF_THINKING = frozenset(
    {"reasoning", "reasoning_effort", "extended_thinking", "thinking_budget_tokens"}
)
_EFFORTS = {True: "medium", False: "none"}


class CompletionsFormat(ServerFormat):
    """Writes and reads as `ChatFormat` does, with what is known of the models."""

    path = "/v1/chat/completions"

    @override
    def __init__(
        self,
        config: OllamaConfig,
        facts: Callable[[str], ModelFacts],
        look_up: LookUp | None = None,
    ) -> None:
        super().__init__(config, facts, look_up)
        self._chat = ChatFormat(PRESET, _chat_settings(config), sees=self._can_see)

    @override
    def use_settings(self, settings: OllamaConfig) -> None:
        super().use_settings(settings)
        self._chat.use_settings(_chat_settings(settings))

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
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

    def _can_see(self, model: str) -> bool:
        return self._facts(model).can_do("vision") is not False


def _chat_settings(config: OllamaConfig) -> ChatSettings:
    given = {key: getattr(config, key) for key in _ALSO_HERE if key in config.model_fields_set}
    return ChatSettings(**given)
