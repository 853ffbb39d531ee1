"""Conversations as the kernel has them: what was converted for one call is kept for the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_core import PydanticSerializationError

from amplifier_core import message_models as kernel

from ..exceptions import ArcLLMConfigError
from ..types import Message
from .messages import kernel_messages


@dataclass(frozen=True, slots=True)
class _Converted:
    """A message as it was, and what became of it."""

    role: str
    text: str
    """Its text if it is nothing else, or else all of it as JSON."""
    messages: list[kernel.Message]


class Conversation:
    """Converts the messages of one call after another; safe to share between threads.

    The encoders of the kernel go on where they were if they see the same messages again, so those
    that did not change are the same objects. Callers may change their messages: each is compared.
    """

    def __init__(self) -> None:
        """Begin with nothing converted."""
        self._known: list[_Converted] = []

    def convert_messages(self, messages: Sequence[Message]) -> list[kernel.Message]:
        """Return a conversation as the kernel has it.

        Raises:
            ArcLLMConfigError: A message says nothing that can be sent.
        """
        known, found = self._known, list[_Converted]()
        is_same = True
        for position, message in enumerate(messages):
            text = _text_of(message)
            before = known[position] if is_same and position < len(known) else None
            is_same = before is not None and before.role == message.role and before.text == text
            if before is not None and is_same:
                found.append(before)
                continue
            try:
                found.append(_Converted(message.role, text, kernel_messages(message)))
            except ArcLLMConfigError as error:
                raise ArcLLMConfigError(f"message {position}: {error.message}") from error
        self._known = found
        return [each for converted in found for each in converted.messages]


def _text_of(message: Message) -> str:
    if isinstance(message.content, str) and message.opaque is None:
        return message.content
    try:
        return message.model_dump_json()
    except (PydanticSerializationError, UnicodeEncodeError, ValueError):
        return repr(message.model_dump())  # a lone surrogate has no JSON
