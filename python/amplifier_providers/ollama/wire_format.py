"""The format of Ollama itself: the body of `POST /api/chat`, and the blocks of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from amplifier_core.message_models import ChatRequest, ResponseFormatJsonSchema

from ..wire.body import TurnWriter, WireRequest, json_bytes
from ..wire.fields import JsonDict, fields_of
from ..wire.history import CheckedHistory, History
from ..wire.options import (
    asked_length,
    asked_temperature,
    format_instructions,
    given_options,
    named_model,
    nothing_to_send,
    stop_texts,
    tool_fields,
)
from ..wire.rules import NameForm
from ..wire.schema import object_schema, resolve_reference
from ..wire.turn import SEPARATOR
from ..wire.wire_format import WireFormat
from .config import PROVIDER, OllamaConfig
from .models import LookUp, ModelFacts
from .requested_options import RequestedOptions, read_options
from .turns import OllamaRules, messages_of

_TOOL_NAMES = NameForm()


class ServerFormat(WireFormat):
    """A format of a server that is asked what its models can do."""

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
        self._config = config
        self._facts = facts
        self._look_up = look_up

    @override
    def use_settings(self, settings: OllamaConfig) -> None:
        self._config = settings

    @override
    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        if self._look_up is not None:
            await self._look_up(self._config, request, options)


class OllamaFormat(ServerFormat):
    """Writes and reads one conversation after another; what was encoded is kept."""

    path = "/api/chat"
    limit_key = "num_predict"

    @override
    def __init__(
        self,
        config: OllamaConfig,
        facts: Callable[[str], ModelFacts],
        look_up: LookUp | None = None,
    ) -> None:
        super().__init__(config, facts, look_up)
        self._history = History()
        self._writer = TurnWriter(messages_of)

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        given = given_options(options)
        model = named_model(request, given, self._config.default_model, PROVIDER)
        facts = self._facts(model)
        wishes = read_options(request, given, self._config, facts, model)
        rules = OllamaRules.of(PROVIDER, model, vision=facts.can_do("vision") is not False)
        history = self._history.check(wishes.request.messages, rules)
        if not history.turns:
            raise nothing_to_send(PROVIDER, model)
        return self._encode(wishes, history, model, given)

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        match block.get("type"):
            case "tool_call":
                given = block.get("arguments")
                arguments = block.get("raw_arguments") if given is None else given
                call_id = {"id": block["id"]} if block.get("id") else {}
                return {
                    **call_id, "function": {"name": block.get("name"), "arguments": arguments},
                }  # fmt: skip
            case "thinking":
                return {"thinking": block.get("thinking")}
            case _:
                return block

    def _encode(
        self, wishes: RequestedOptions, history: CheckedHistory, model: str, given: dict[str, Any]
    ) -> WireRequest:
        config, request = self._config, wishes.request
        # Without `truncate`, the beginning of a history that is too long would go unnoticed.
        body: JsonDict = {"model": model, "stream": config.use_streaming, "truncate": False}
        turns = self._writer.write_turns(history, PROVIDER, model)
        encoded = WireRequest(
            PROVIDER, model, history, turns, "messages", body, blocks=self._writer.blocks
        )
        encoded.thinking = wishes.thinking
        if options := self._write_options(encoded, request, given):
            body["options"] = options
        if config.keep_alive is not None:
            body["keep_alive"] = config.keep_alive
        if wishes.think is not None:
            body["think"] = wishes.think
        _add_tools(encoded, request)
        instruction = _add_form(encoded, request)
        texts = [
            *(block["text"] for block in history.system),
            *([instruction] if instruction else []),
        ]
        if texts:
            message = {"role": "system", "content": SEPARATOR.join(texts)}
            encoded.turns = [json_bytes(message), *turns]
        encoded.degradations += wishes.degradations
        return encoded

    def _write_options(
        self, encoded: WireRequest, request: ChatRequest, given: dict[str, Any]
    ) -> JsonDict:
        config = self._config
        options = {
            "num_ctx": config.num_ctx,
            "num_predict": asked_length(given, request, config, PROVIDER),
            "temperature": asked_temperature(given, request, config),
            "top_p": request.top_p,
            "stop": stop_texts(encoded, request) or None,
        }
        return {name: value for name, value in options.items() if value is not None}


def _add_tools(encoded: WireRequest, request: ChatRequest) -> None:
    tools = tool_fields(request)
    if not tools:
        return
    sent = {tool["name"]: _TOOL_NAMES.fit_name(tool["name"]) for tool in tools}
    encoded.tool_names = {wire: name for name, wire in sent.items() if wire != name}
    encoded.fields["tools"] = [_write_tool(tool, sent[tool["name"]]) for tool in tools]


def _write_tool(tool: JsonDict, name: str) -> JsonDict:
    schema = object_schema(fields_of(tool.get("parameters")))
    # A property that is only `true` or `false` cannot be read.
    properties = {key: fields_of(value) for key, value in schema["properties"].items()}
    described = {"description": tool["description"]} if tool.get("description") else {}
    parameters = {**schema, "properties": properties}
    return {"type": "function", "function": {"name": name, **described, "parameters": parameters}}


def _add_form(encoded: WireRequest, request: ChatRequest) -> str | None:
    """Hold the answer to a form; return what the model must be instructed in words."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return None
    if isinstance(wanted, ResponseFormatJsonSchema):
        encoded.fields["format"] = resolve_reference(wanted.json_schema)
        return None
    encoded.fields["format"] = "json"
    return format_instructions(wanted)  # else a model may write blanks without end
