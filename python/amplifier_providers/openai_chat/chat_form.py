"""What another library needs to call a model: requests and answers in the form of Chat Completions.

class Library(BaseProvider):
    name = "library"

    async def complete(self, request, **options):
        form = ChatForm.of(request)
        return form.build_response(await call(messages=form.messages, tools=form.tools))
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from amplifier_core.llm_errors import StreamError
from amplifier_core.message_models import ChatRequest, ChatResponse, Usage

from ..wire.body import WireRequest
from ..wire.response import build_response
from ..wire.usage import gross_usage
from .config import ChatSettings
from .presets import Preset
from .wire_format import ChatFormat

_PRESET = Preset("chat", "another library", thinking="none")


@dataclass(frozen=True)
class ChatForm:
    """One request in the form of Chat Completions, and the way back from its answer."""

    messages: list[dict[str, Any]]
    """The conversation: each call has its result, and no two turns of one role follow another."""
    tools: list[dict[str, Any]]
    """The tools, each `{"type": "function", "function": {…}}`; empty without tools."""
    body: dict[str, Any]
    """All of the request, such as `temperature`, but for the model."""
    _encoded: WireRequest

    @classmethod
    def of(cls, request: ChatRequest) -> ChatForm:
        """Return the form of a request.

        Raises:
            InvalidRequestError: There is nothing to send.
        """
        wire_format = ChatFormat(_PRESET, ChatSettings(use_streaming=False), names_model=False)
        encoded = wire_format.encode(request, {"model": request.model or "any"})
        body = encoded.body
        body.pop("stream")
        return cls(body["messages"], body.get("tools", []), body, encoded)

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The tools, each with `name`, `parameters` and perhaps a `description`."""
        return [tool["function"] for tool in self.tools]

    def build_response(
        self, answer: Mapping[str, Any] | BaseModel, usage: Any = None
    ) -> ChatResponse:
        """Return the response of an answer.

        Args:
            answer: The body of an answer, with `choices`, or its message alone, with `content` and
                `tool_calls`; or the model of one.
            usage: What the call used, as a mapping or object with the counts of `Usage`; None for
                what the answer says.

        Raises:
            TypeError: It is no such thing.
            StreamError: It cannot be read.
        """
        from amplifier_stream import StreamDecoder

        decoder = StreamDecoder("chat")
        decoder.feed(json.dumps(_make_body(answer)).encode())
        result = decoder.finish(body_is_whole=True)
        if result.error is not None or result.truncated:
            problem = (result.error or {}).get("message") or "it is not whole"
            raise StreamError(f"the answer cannot be read: {problem}")
        counted = gross_usage(result.usage)
        if usage is not None:
            counted = Usage.model_validate(usage, from_attributes=True)
        names = self._encoded.tool_names
        blocks = [
            {**each, "name": names.get(each["name"], each["name"])} if "name" in each else each
            for each in result.blocks
        ]
        return build_response(
            [result],
            [(block, block) for block in blocks],
            provider="chat",
            requested_model=self._encoded.model,
            are_emitted=False,
            usage=counted,
            details={},
            degradations=self._encoded.degradations,
        )


def _make_body(answer: Any) -> dict[str, Any]:
    """Return an answer as the body of one."""
    given = answer.model_dump(exclude_none=True) if isinstance(answer, BaseModel) else answer
    body = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    if "choices" in body or "error" in body:
        return body
    content: Any = body.get("content")
    if not body.keys() & {"content", "tool_calls"} or not isinstance(content, str | list | None):
        found = f"with {', '.join(f'`{key}`' for key in body)}" if body else ""
        raise TypeError(
            f"the answer is a `{type(answer).__name__}` {found}".rstrip()
            + " (must be a mapping with `choices`, or with `content` and `tool_calls`)"
        )
    reason = "tool_calls" if body.get("tool_calls") else "stop"
    return {"choices": [{"index": 0, "message": body, "finish_reason": reason}]}
