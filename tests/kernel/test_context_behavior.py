"""The inheritable tests of contexts pass good ones, with or without a past, and catch bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import MockContextManager
from amplifier_core.validation.behavioral import ContextBehaviorTests

TESTS = [name for name in vars(ContextBehaviorTests) if name.startswith("test_")]
EARLIER = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "What is the answer?"},
    {"role": "assistant", "content": "42"},
    {"neither": "role", "nor": "content"},
]


class Persistent:
    """A context that keeps its messages in a file, which later ones go on with."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.messages: list[dict[str, Any]] = []
        if file.exists():
            self.messages = json.loads(file.read_text())

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._save()

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        return self.messages[-10:]

    async def get_messages(self) -> list[dict[str, Any]]:
        return self.messages

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)
        self._save()

    async def clear(self) -> None:
        await self.set_messages([])

    def _save(self) -> None:
        self.file.write_text(json.dumps(self.messages))


async def failures(make: Any) -> set[str]:
    """The tests that fail, each on a context of its own."""
    failed: set[str] = set()
    for name in TESTS:
        try:
            await getattr(ContextBehaviorTests(), name)(make())
        except (Exception, pytest.fail.Exception):  # noqa: BLE001 (whatever a test raises)
            failed.add(name)
    return failed


async def test_a_context_that_keeps_its_messages_passes(tmp_path: Path):
    assert await failures(lambda: Persistent(tmp_path / "messages.json")) == set()


async def test_a_context_with_messages_from_before_passes(tmp_path: Path):
    lives = iter(range(len(TESTS)))

    def later() -> Persistent:
        file = tmp_path / f"{next(lives)}.json"
        file.write_text(json.dumps(EARLIER))
        return Persistent(file)

    assert await failures(later) == set()


async def test_a_context_without_a_past_passes():
    assert await failures(MockContextManager) == set()


class Deaf(Persistent):
    async def add_message(self, message: dict[str, Any]) -> None:
        pass


class Doubling(Persistent):
    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages += [message, message]


class Upended(Persistent):
    async def get_messages(self) -> list[dict[str, Any]]:
        return self.messages[::-1]


class Forgetful(Persistent):
    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages = [message]


class Mumbling(Persistent):
    async def get_messages(self) -> list[dict[str, Any]]:
        return [{**message, "content": "..."} for message in self.messages]


class Stubborn(Persistent):
    async def clear(self) -> None:
        pass


class HalfClear(Persistent):
    async def clear(self) -> None:
        self.messages = json.loads(self.file.read_text())[:-1]


class Absent(Persistent):
    async def get_messages(self) -> Any:
        return self.messages or None


class Stale(Persistent):
    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        return self.messages[:-1]


@pytest.mark.parametrize("past", [[], EARLIER], ids=["new", "with a past"])
@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (Deaf, "test_message_round_trip"),
        (Deaf, "test_get_messages_for_request_returns_messages"),
        (Doubling, "test_message_round_trip"),
        (Upended, "test_multiple_messages"),
        (Forgetful, "test_multiple_messages"),
        (Mumbling, "test_message_round_trip"),
        (Stubborn, "test_clear_removes_messages"),
        (Absent, "test_clear_removes_messages"),
        (Absent, "test_get_messages_never_returns_none"),
        (Stale, "test_get_messages_for_request_returns_messages"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_a_broken_context_is_caught(
    broken: type[Persistent], test: str, past: list[dict[str, Any]], tmp_path: Path
):
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(past))

    with pytest.raises((AssertionError, TypeError)):
        await getattr(ContextBehaviorTests(), test)(broken(file))


async def test_a_context_that_clears_only_what_is_new_is_caught(tmp_path: Path):
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(EARLIER))
    with pytest.raises(AssertionError):
        await ContextBehaviorTests().test_clear_removes_messages(HalfClear(file))
