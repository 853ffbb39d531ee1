"""Turns of a checked history as messages of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..wire.body import json_bytes
from ..wire.fields import JsonDict, fields_of
from ..wire.rules import HistoryRules, IdForm, Writer
from ..wire.turn import SEPARATOR, Turn, split_result
from .presets import Preset

SHORT_IDS = IdForm(exact_length=9)
USUAL_IDS = IdForm(max_length=40)
BRIDGE = "(Noted.)"
"""What the assistant says between the result of a tool and the user, where it must say something."""


@dataclass(frozen=True)
class ChatRules(HistoryRules):
    """What a server accepts of a history."""

    replay: str = "none"
    """The field of a message that takes thinking back."""

    @classmethod
    def of(cls, preset: Preset, model: str, *, vision: bool) -> ChatRules:
        """Return the rules of a service for one of its models."""
        media = {"image"} if vision else set[str]()
        media |= {"document"} if preset.documents != "none" else set()
        return cls(
            preset.name,
            model,
            user_blocks=frozenset(media),
            result_blocks=frozenset(media),
            ends_with_user=True,
            call_ids=SHORT_IDS if preset.short_ids else USUAL_IDS,
            replay=preset.replay,
        )

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return thinking of this service, unchanged; what only its model can read, to that."""
        needs_model = self.replay in {"reasoning_details", "content"}
        if not (self.is_of_model(writer) if needs_model else self.is_of_provider(writer)):
            return None
        text = block.get("thinking")
        return {
            "type": "thinking",
            "thinking": text if isinstance(text, str) else "",
            "details": block.get("reasoning_details") or [],
        }

    def can_send(self, block: JsonDict) -> bool:
        """Whether an image or a document has an address or data, or is text."""
        source = fields_of(block.get("source"))
        is_given = source.get("type") == "text" or media_url(source) is not None
        return is_given and super().can_send(block)

    def pair_parts(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Return the parts without thinking that no field takes back, or that stands alone."""
        others = [part for part in parts if part["type"] != "thinking"]
        return parts if others and self.replay != "none" else others


class TurnMessages:
    """Writes turns as a service takes them."""

    def __init__(self, preset: Preset) -> None:
        """Write for this service."""
        self._preset = preset

    def __call__(self, turn: Turn) -> list[JsonDict]:
        """Return a turn as one message or several."""
        return (
            self._write_assistant(turn.parts)
            if turn.role == "assistant"
            else self._write_user(turn)
        )

    def _write_assistant(self, parts: list[JsonDict]) -> list[JsonDict]:
        texts = [part["text"] for part in parts if part["type"] == "text"]
        calls = [_call(part) for part in parts if part["type"] == "tool_call"]
        thoughts = [part for part in parts if part["type"] == "thinking"]
        content: Any = SEPARATOR.join(texts) if texts else self._preset.empty_content
        message: JsonDict = {"role": "assistant", "content": content}
        match self._preset.replay:
            case "content" if thoughts:
                message["content"] = [_content_part(part) for part in parts if not _is_call(part)]
            case "reasoning_details" if details := [
                detail for part in thoughts for detail in part["details"]
            ]:
                message["reasoning_details"] = details
            case "reasoning_content" | "reasoning" as field if thoughts or (
                calls and self._preset.thinking == "thinking"
            ):
                # A service that thinks by itself wants the field beside calls of others, too.
                # Some compare it with what they sent, to the byte.
                message[field] = "".join(part["thinking"] for part in thoughts)
            case _:
                pass
        if calls:
            message["tool_calls"] = calls
        return [message]

    def _write_user(self, turn: Turn) -> list[JsonDict]:
        messages: list[JsonDict] = []
        parts: list[JsonDict] = []
        for result in turn.results:
            content, media = split_result(result)
            called = {"role": "tool", "tool_call_id": result.call_id}
            messages.append({**called, "content": content})
            parts += media
        parts += turn.parts
        if not parts:
            return messages
        if messages and not self._preset.user_after_result:
            messages.append({"role": "assistant", "content": BRIDGE})
        return [*messages, {"role": "user", "content": self._write_content(parts)}]

    def _write_content(self, parts: list[JsonDict]) -> str | list[JsonDict]:
        """Return plain text where there is nothing else, as many servers take only that."""
        sent = [self._write_part(part) for part in parts]
        if all(part["type"] == "text" for part in sent):
            return SEPARATOR.join(part["text"] for part in sent)
        return sent

    def _write_part(self, part: JsonDict) -> JsonDict:
        source = fields_of(part.get("source"))
        match part["type"]:
            case "image":
                return {"type": "image_url", "image_url": {"url": media_url(source)}}
            case "document" if source.get("type") == "text":
                title = f"{part['title']}:\n" if part.get("title") else ""
                return {"type": "text", "text": f"{title}{source.get('data') or ''}"}
            case "document" if self._preset.documents == "document_url":
                return {"type": "document_url", "document_url": media_url(source)}
            case "document":
                name = part.get("title") or "document.pdf"
                return {"type": "file", "file": {"filename": name, "file_data": media_url(source)}}
            case _:
                return {"type": "text", "text": part["text"]}


def media_url(source: JsonDict) -> str | None:
    """Return the address of an image or a document, which may hold the data; None for another form."""
    if source.get("type") == "base64" and isinstance(source.get("data"), str):
        return f"data:{source.get('media_type')};base64,{source['data']}"
    url = source.get("url")
    return url if isinstance(url, str) else None


def system_text(blocks: Iterable[JsonDict]) -> str:
    """Return the text of a system prompt."""
    return SEPARATOR.join(block["text"] for block in blocks)


def _is_call(part: JsonDict) -> bool:
    return part["type"] == "tool_call"


def _content_part(part: JsonDict) -> JsonDict:
    if part["type"] == "thinking":
        thought = {"type": "text", "text": part["thinking"]}
        return {"type": "thinking", "thinking": [thought]}
    return {"type": "text", "text": part["text"]}


def _call(part: JsonDict) -> JsonDict:
    arguments = json_bytes(part["input"]).decode()
    function = {"name": part["name"], "arguments": arguments}
    return {"id": part["id"], "type": "function", "function": function}
