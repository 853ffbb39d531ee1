"""What no encoder takes: pyright refuses each call here; nothing runs it."""

# pyright: reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

from typing import Any

from amplifier_core.message_models import Message
from amplifier_providers.wire import history as made
from amplifier_providers.wire.body import TurnWriter, WireRequest
from amplifier_providers.wire.history import CheckedHistory, History
from amplifier_providers.wire.rules import HistoryRules
from amplifier_providers.wire.turn import Repairs, Turn


def use_only_what_was_checked(writer: TurnWriter, messages: list[Message]) -> WireRequest:
    """This is how it is done; all below is refused."""
    history = History().check(messages, HistoryRules("a", "b"))
    return WireRequest("a", "b", history, writer.write_turns(history, "a", "b"), "messages", {})


def give_messages_to_the_writer(
    writer: TurnWriter, messages: list[Message], dicts: list[dict[str, Any]], turns: list[Turn]
) -> None:
    writer.write_turns(messages, "a", "b")  # pyright: ignore[reportArgumentType]
    writer.write_turns(dicts, "a", "b")  # pyright: ignore[reportArgumentType]
    writer.write_turns(turns, "a", "b")  # pyright: ignore[reportArgumentType]
    writer.write_turns(Looks(), "a", "b")  # pyright: ignore[reportArgumentType]


def give_messages_to_a_request(messages: list[Message], dicts: list[dict[str, Any]]) -> None:
    WireRequest("a", "b", messages, [], "messages", {})  # pyright: ignore[reportArgumentType]
    WireRequest("a", "b", dicts, [], "messages", {})  # pyright: ignore[reportArgumentType]


def make_one_elsewhere(turns: list[Turn]) -> None:
    rest: Any = {"settled": 0, "generation": None, "repairs": Repairs()}
    CheckedHistory(None, system=[], turns=turns, **rest)  # pyright: ignore[reportArgumentType]
    CheckedHistory(object(), system=[], turns=turns, **rest)  # pyright: ignore[reportArgumentType]
    CheckedHistory(system=[], turns=turns, settled=0, generation=0, repairs=Repairs())  # pyright: ignore[reportCallIssue]
    proof = made._Checked()  # pyright: ignore[reportPrivateUsage]
    CheckedHistory(proof, system=[], turns=turns, **rest)


def change_one(history: CheckedHistory, turns: list[Turn]) -> None:
    history.turns = turns  # pyright: ignore[reportAttributeAccessIssue]
    history.settled = 9  # pyright: ignore[reportAttributeAccessIssue]


def change_what_is_in_one(history: CheckedHistory, turns: list[Turn]) -> None:
    history.turns[0] = turns[0]  # pyright: ignore[reportIndexIssue]
    history.system[0] = {}  # pyright: ignore[reportIndexIssue]


class Own(CheckedHistory):  # pyright: ignore[reportGeneralTypeIssues]
    """One without a proof."""

    def __init__(self) -> None:
        """Prove nothing."""


class Looks:
    """What only looks like one."""

    system: list[dict[str, Any]]
    turns: list[Turn]
    settled: int
    generation: object
    repairs: Repairs
