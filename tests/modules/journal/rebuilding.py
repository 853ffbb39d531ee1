"""A journal of events, and the history that can be rebuilt from it alone."""

from __future__ import annotations

import json
from typing import Any

MESSAGE, REPLACED = "context:message", "context:replaced"


class Journal:
    """One line of JSON for each event of a history, as it came."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, event: str, data: dict[str, Any]) -> None:
        self.lines.append(json.dumps([event, data]))

    def numbers(self) -> list[int]:
        return [json.loads(line)[1]["number"] for line in self.lines]


def rebuilt(lines: list[str]) -> list[dict[str, Any]]:
    """Return the history that these lines tell of; a number that was seen is a repetition."""
    history: list[dict[str, Any]] = []
    last = 0
    for line in lines:
        event, data = json.loads(line)
        if data["number"] <= last:
            continue
        assert data["number"] == last + 1, "a change was not told"
        last = data["number"]
        if event == REPLACED:
            assert data["messages_removed"] == len(history)
            history = []
        else:
            history.insert(data["index"], data["message"])
    return history
