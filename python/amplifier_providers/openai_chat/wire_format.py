"""The format of Chat Completions: the body of `POST /chat/completions`, and the blocks of its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from amplifier_core.message_models import ChatRequest

from ..requests.openai_models import ModelProfile, model_profile
from ..requests.requested_thinking import requested_thinking
from ..wire.body import TurnWriter, WireRequest, json_bytes
from ..wire.fields import JsonDict, fields_of
from ..wire.history import CheckedHistory, History
from ..wire.options import (
    asked_length,
    asked_temperature,
    given_options,
    named_model,
    note_unsent_choice,
    nothing_to_send,
    stop_texts,
    tool_fields,
    unknown_choice,
)
from ..wire.rules import NameForm
from ..wire.schema import object_schema
from ..wire.wire_format import WireFormat
from .answer_form import add_answer_form
from .config import ChatSettings
from .presets import Preset
from .thinking import add_thinking
from .turns import ChatRules, TurnMessages, system_text

_TOOL_NAMES = NameForm()
_MAX_STOPS = 4
PATH = "/chat/completions"


class ChatFormat(WireFormat):
    """Writes and reads one conversation after another; what was encoded is kept."""

    def __init__(
        self,
        preset: Preset,
        settings: ChatSettings,
        *,
        sees: Callable[[str], bool] | None = None,
        path: str = PATH,
        names_model: bool = True,
    ) -> None:
        """Encode for a service.

        Args:
            preset: What its requests look like, with the settings that say so.
            settings: The settings of the requests.
            sees: Whether a model takes images; None if the preset says it.
            path: Where requests go, after the base URL.
            names_model: Whether the body names the model; not where the address does.
        """
        super().__init__()
        self.path = path
        self.limit_key = preset.limit_key
        self._preset = preset
        self._settings = settings
        self._sees = sees
        self._names_model = names_model
        self._history = History()
        self._writer = TurnWriter(TurnMessages(preset))

    @override
    def use_settings(self, settings: ChatSettings) -> None:
        self._settings = settings

    def profile_of(self, model: str) -> ModelProfile:
        """Return what a model of OpenAI can do, as far as its name says it."""
        return model_profile(model)

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        given = given_options(options)
        provider = self._preset.name
        model = named_model(request, given, self._settings.default_model, provider)
        vision = self._preset.vision if self._sees is None else self._sees(model)
        rules = ChatRules.of(self._preset, model, vision=vision)
        history = self._history.check(request.messages, rules)
        if not history.turns:
            raise nothing_to_send(provider, model)
        return self._encode(request, history, model, given)

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        shown_thinking = self._preset.shown_thinking
        match block.get("type"):
            case "tool_call":
                arguments = block.get("raw_arguments")
                if not isinstance(arguments, str):
                    arguments = json.dumps(block.get("arguments"), ensure_ascii=False)
                call_id = {"id": block["id"]} if block.get("id") else {}
                function = {"name": block.get("name"), "arguments": arguments}
                return {**call_id, "type": "function", "function": function}
            case "text" if block.get("refusal"):
                return {"type": "refusal", "refusal": block["refusal"]}
            case "thinking" if shown_thinking == "content":
                thought = {"type": "text", "text": block.get("thinking")}
                return {"type": "thinking", "thinking": [thought]}
            case "thinking":
                raw = {shown_thinking: block.get("thinking")}
                details = block.get("reasoning_details")
                return {**raw, "reasoning_details": details} if details else raw
            case _:
                return block

    def _encode(
        self, request: ChatRequest, history: CheckedHistory, model: str, options: dict[str, Any]
    ) -> WireRequest:
        preset, settings = self._preset, self._settings
        body: JsonDict = {"model": model} if self._names_model else {}
        turns = self._writer.write_turns(history, preset.name, model)
        encoded = WireRequest(
            preset.name, model, history, turns, "messages", body, blocks=self._writer.blocks
        )
        encoded.thinking = requested_thinking(
            options, request.reasoning_effort, settings, provider=preset.name
        )
        limit = asked_length(options, request, settings, preset.name)
        for name, value in (
            (preset.limit_key, limit),
            ("temperature", asked_temperature(options, request, settings)),
            ("top_p", request.top_p),
        ):
            if value is not None:
                body[name] = value
        if stops := stop_texts(encoded, request):
            body["stop"] = stops[:_MAX_STOPS]
            if len(stops) > _MAX_STOPS:
                encoded.degrade(
                    f"{len(stops)} texts that end the answer",
                    f"the first {_MAX_STOPS}",
                    "services take no more",
                )
        self._add_tools(encoded, request)
        add_thinking(encoded, preset, self.profile_of(model), limit)
        instruction = add_answer_form(encoded, request, preset.output)
        system = system_text([*history.system, *([{"text": instruction}] if instruction else [])])
        if system:
            message = {"role": preset.system_role, "content": system}
            encoded.turns = [json_bytes(message), *turns]
        body["stream"] = settings.use_streaming
        if settings.use_streaming and preset.include_usage:
            body["stream_options"] = {"include_usage": True}
        body.update(settings.extra_body)
        return encoded

    def _add_tools(self, encoded: WireRequest, request: ChatRequest) -> None:
        tools = tool_fields(request)
        if not tools:
            note_unsent_choice(encoded, request.tool_choice)
            return
        body = encoded.fields
        sent = {tool["name"]: _TOOL_NAMES.fit_name(tool["name"]) for tool in tools}
        encoded.tool_names = {wire: name for name, wire in sent.items() if wire != name}
        choice = self._write_choice(request.tool_choice, sent, encoded.model)
        if isinstance(choice, dict) and not self._preset.named_choice:
            # The only tool that is offered is the one that must be called.
            name = choice["function"]["name"]
            tools = [tool for tool in tools if sent[tool["name"]] == name]
            choice = "required"
        body["tools"] = [_write_tool(tool, sent[tool["name"]]) for tool in tools]
        if choice is not None:
            body["tool_choice"] = choice
        if self._settings.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = self._settings.parallel_tool_calls

    def _write_choice(self, choice: Any, sent: dict[str, str], model: str) -> str | JsonDict | None:
        match choice:
            case None:
                return None
            case "auto" | "none" | {"type": "auto" | "none"}:
                return choice if isinstance(choice, str) else choice["type"]
            case "any" | "required" | {"type": "any" | "required"}:
                return self._preset.any_choice
            case (
                str(name)
                | {"type": "tool", "name": str(name)}
                | {"type": "function", "name": str(name)}
                | {"function": {"name": str(name)}}
            ) if name in sent:
                return {"type": "function", "function": {"name": sent[name]}}
            case _:
                raise unknown_choice(choice, list(sent), self._preset.name, model)


def _write_tool(tool: JsonDict, name: str) -> JsonDict:
    function: JsonDict = {"name": name}
    if tool.get("description"):
        function["description"] = tool["description"]
    function["parameters"] = object_schema(fields_of(tool.get("parameters")))
    return {"type": "function", "function": function}
