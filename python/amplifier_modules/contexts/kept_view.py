"""What requests show of a conversation that was shortened, kept for another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from .compaction import View
from .messages import Message
from .sent_view import SentView

VIEW = "state:view"
"""The kind of its rows."""


class KeptView:
    """The shortened view of a conversation; None while requests have all of it.

    Messages that are in the conversation as they are have the numbers of their places there, as
    pairs of a first one and the one behind the last. Others are shortened, or take the place of
    what is left out.
    """

    kind: ClassVar[str] = VIEW

    __slots__ = ("_list_messages", "_shown")

    def __init__(
        self, shown: SentView, list_messages: Callable[[], tuple[list[Message], list[int]]]
    ) -> None:
        """Keep the view of a conversation.

        Args:
            shown: The view.
            list_messages: Returns the conversation, and the estimated tokens of its messages.
        """
        self._shown = shown
        self._list_messages = list_messages

    def describe(self) -> dict[str, Any] | None:
        """Return it as JSON, the same object as long as messages were only added at the end."""
        shown = self._shown
        if not shown.is_shortened:
            return None
        view = shown.view
        described = shown.described
        if described is None or described[0] is not view.lineage:
            messages, _ = self._list_messages()
            body = {
                "count": len(messages),
                "parts": _list_parts(view.messages, messages),
                "summary": view.summary,
                "results_truncated": view.results_truncated,
                "messages_removed": view.messages_removed,
                "budget": shown.budget,
            }
        elif described[1]["budget"] != shown.budget:
            body = {**described[1], "budget": shown.budget}
        else:
            return described[1]
        shown.described = view.lineage, body
        return body

    def restore(self, body: dict[str, Any]) -> None:
        """Show what was shown; nothing changes if the conversation is another one."""
        messages, tokens = self._list_messages()
        count: int = body["count"]
        if count > len(messages):
            return
        view = View(
            summary=body["summary"],
            results_truncated=body["results_truncated"],
            messages_removed=body["messages_removed"],
        )
        for part in (*body["parts"], [count, len(messages)]):
            if isinstance(part, list):
                first, end = cast("list[int]", part)
                for place in range(first, end):
                    view.add(messages[place], tokens=tokens[place])
            else:
                view.add(part)
        self._shown.show_shortened(view, body["budget"])
        self._shown.described = view.lineage, body


def _list_parts(shown: Sequence[Message], messages: Sequence[Message]) -> list[Any]:
    places = {id(message): place for place, message in enumerate(messages)}
    parts: list[Any] = []
    end = -1
    for message in shown:
        place = places.get(id(message))
        if place is None:
            parts.append(message)
        elif place == end:
            parts[-1][1] = end + 1
        else:
            parts.append([place, place + 1])
        end = -1 if place is None else place + 1
    return parts
