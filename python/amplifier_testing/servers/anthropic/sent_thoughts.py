"""Which thoughts a server sent, and where among its calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..serving.reading import Json, read_text

_Mark = tuple[str, str]
"""A thought, a call by its id, or text."""


@dataclass
class SentAnswers:
    """The answers of a server that hold tool calls, by the ids of these calls."""

    _by_call: dict[str, tuple[str, list[_Mark]]] = field(
        default_factory=dict[str, tuple[str, list[_Mark]]]
    )

    def remember(self, model: str, content: Iterable[Json]) -> None:
        """Keep where the thoughts of an answer were."""
        marks = _list_marks(content)
        for kind, name in marks:
            if kind == "call":
                self._by_call[name] = (model, marks)

    def are_thoughts_kept(self, model: str, content: Iterable[Json]) -> bool:
        """Return whether the thoughts of an answer are all there, where they were.

        True for an answer of another server or of another model: whose thoughts they are is
        the matter of their signatures.
        """
        marks = _list_marks(content)
        for kind, name in marks:
            if kind == "call" and name in self._by_call:
                by, sent = self._by_call[name]
                # Other parts may be left out, as a call that could not run or an empty text.
                kept = [mark for mark in sent if mark[0] == "thought" or mark in marks]
                here = [mark for mark in marks if mark[0] == "thought" or mark in sent]
                return by != model or kept == here
        return True


def _list_marks(content: Iterable[Json]) -> list[_Mark]:
    marks: list[_Mark] = []
    for block in content:
        match block["type"]:
            case "thinking":
                marks.append(("thought", read_text(block["thinking"])))
            case "redacted_thinking":
                marks.append(("thought", read_text(block["data"])))
            case "tool_use":
                marks.append(("call", read_text(block["id"])))
            case "text":
                if block["text"] and (not marks or marks[-1] != ("text", "")):
                    marks.append(("text", ""))
            case _:
                pass
    return marks
