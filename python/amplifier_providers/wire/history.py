"""A history that the provider would refuse cannot be sent: only a `CheckedHistory` is encoded.

Services want turns of user and assistant in alternation, the user first, and after each turn of the
assistant one result for each of its tool calls, before anything else. A history that was shortened,
cancelled, edited or written by another provider rarely has this form. It is repaired here, the same
way for all services, and what was changed is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, is_
from typing import Any, Final, Literal, final

from ..requests.ephemeral import is_ephemeral
from .content import encoded_text, result_content, seen_block
from .fields import JsonDict, arguments_of, blocks_of, fields_of
from .rules import HistoryRules, Writer
from .turn import Repairs, Result, Turn

MISSING_RESULT = "No result: the tool call was interrupted, and it is not known how far it got."
MISSING_BEGINNING = "(The beginning of this conversation is no longer available.)"
GO_ON = "(Go on.)"
REMINDER = "<system-reminder>\n{}\n</system-reminder>"
"""How a text of the system within the conversation is sent where it can only be the user's."""

_CONTENT = attrgetter("content")
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})
_CALLS = frozenset({"tool_call", "tool_use"})


@final
class _Checked:
    """Proof that a history was checked; only this module can show it."""


@final
class CheckedHistory:
    """A history that its service accepts. Only `History.check` makes one, and nothing changes it."""

    def __init__(
        self,
        proof: _Checked,
        *,
        system: Sequence[JsonDict],
        turns: Sequence[Turn],
        settled: int,
        generation: object,
        repairs: Repairs,
        refused: set[int],
    ) -> None:
        """Take what was checked."""
        del proof
        self._refused = refused
        self.system: Final = system
        """The blocks of the system prompt."""
        self.turns: Final = turns
        """The turns, in alternation, the first of the user."""
        self.settled: Final = settled
        """So many turns are the same as long as `generation` is."""
        self.generation: Final = generation
        self.repairs: Final = repairs

    def refuse_thoughts(self) -> bool:
        """Leave the thoughts of this history out of later ones; return whether it has any.

        A service knows the thoughts that it gave, and where: what an edit did to them, no history
        can tell.
        """
        parts = (part for turn in self.turns for part in turn.parts)
        thoughts = {_hash_thought(part) for part in parts if part["type"] in _THINKING}
        self._refused |= thoughts
        return bool(thoughts)


@dataclass(frozen=True)
class _Settled:
    """Where the next check of a longer history goes on."""

    message: int
    """The position of a message of the assistant that began a turn."""
    turns: int
    system: int
    ids: int
    repairs: tuple[int, ...]


class History:
    """Checks the histories of a conversation; what was checked once is not checked again.

    The messages of the last check and their lists of blocks are compared with those of the next:
    what changes something inside a block, or anything but the content of a message, must put a new
    one in its place.
    """

    def __init__(self) -> None:
        """Begin with nothing checked."""
        self._turns: _Turns | None = None
        self._messages: list[Any] = []
        self._contents: list[Any] = []
        self._refused: set[int] = set()
        """The identities of thoughts that the service refused."""

    def check(self, messages: Sequence[Any], rules: HistoryRules) -> CheckedHistory:
        """Repair a history and list what was repaired.

        Args:
            messages: `Message` models or dicts of the same shape; foreign keys are tolerated, and
                `tool_calls` of an assistant message is read where its content does not hold them.
            rules: What the service and the model accept.
        """
        turns, start = self._resume(messages, rules)
        self._turns = None  # what fails halfway is not gone on with
        for position in range(start, len(messages)):
            turns.add(position, fields_of(messages[position]))
        turns.finish()
        self._turns = turns
        kept = turns.settled.message + 1 if turns.settled else 0
        del self._messages[start:], self._contents[start:]
        self._messages += messages[start:kept]
        self._contents += map(_copy_content, _list_contents(messages[start:kept]))
        return CheckedHistory(
            _Checked(),
            system=turns.system,
            turns=turns.done,
            settled=turns.settled.turns if turns.settled else 0,
            generation=turns,
            repairs=turns.repairs,
            refused=self._refused,
        )

    def _resume(self, messages: Sequence[Any], rules: HistoryRules) -> tuple[_Turns, int]:
        """Return what is already checked, and the position of the first message that is not."""
        known = len(self._messages)
        if (
            self._turns is not None
            and self._turns.settled
            and self._turns.rules == rules
            and self._turns.refused == frozenset(self._refused)
            and len(messages) >= known
            and _are_same(messages[:known], self._messages)
            and _list_contents(messages[:known]) == self._contents
        ):
            return self._turns, self._turns.resume()
        return _Turns(rules, frozenset(self._refused)), 0


class _Turns:
    """The turns written so far, and the user turn that is still open."""

    def __init__(self, rules: HistoryRules, refused: frozenset[int]) -> None:
        self.rules = rules
        self.refused = refused
        self.system: list[JsonDict] = []
        self.done: list[Turn] = []
        self.repairs = Repairs()
        self.settled: _Settled | None = None
        self.unanswered: dict[str, JsonDict] = {}
        """Calls of the last assistant turn without a result, by the id that the history gives."""
        self.results: list[Result] = []
        self.others: list[JsonDict] = []
        self.passing = 0
        """So many of the last results and others are of this request alone."""
        self.ids: dict[str, None] = {}
        """The ids that are in use, in their order; those that rules claim among them."""

    def resume(self) -> int:
        """Forget all that follows the settled part; return the message with which it goes on."""
        settled = self.settled
        if settled is None:
            return 0
        del self.done[settled.turns :], self.system[settled.system :]
        while len(self.ids) > settled.ids:
            self.ids.popitem()
        self.repairs.truncate(settled.repairs)
        self.unanswered, self.results, self.others, self.passing = {}, [], [], 0
        return settled.message

    def add(self, position: int, message: JsonDict) -> None:
        content = message.get("content")
        before = len(self.results) + len(self.others)
        passes = is_ephemeral(message.get("metadata"))
        match message.get("role"):
            case "system" | "developer":
                self.add_system(blocks_of(content))
            case "assistant":
                self.close_user_turn()
                known = _Settled(
                    position,
                    len(self.done),
                    len(self.system),
                    len(self.ids),
                    self.repairs.measure_lengths(),
                )
                self.add_assistant(message)
                if known.turns and len(self.done) == known.turns + 1:
                    self.settled = known
            case "tool" | "function":
                metadata = fields_of(message.get("metadata"))
                failed = bool(message.get("is_error") or metadata.get("is_error"))
                self.add_result(message.get("tool_call_id"), content, failed)
            case _:
                self.add_user(blocks_of(content))
        if passes:
            self.passing += max(len(self.results) + len(self.others) - before, 0)

    def add_system(self, blocks: list[JsonDict]) -> None:
        within = self.done or self.others or self.results
        for block in blocks:
            text = self.visible_block(block, frozenset())
            if text is None:
                continue
            if within and not self.rules.system_first:
                self.others.append({"type": "system", "text": text["text"]})
            elif within:
                # In the system prompt it would change the beginning of each later request.
                self.others.append({"type": "text", "text": REMINDER.replace("{}", text["text"])})
            else:
                self.system.append(text)

    def add_user(self, blocks: list[JsonDict]) -> None:
        for block in blocks:
            kind = block.get("type")
            if kind == "tool_result":
                self.add_result(
                    block.get("tool_call_id", block.get("tool_use_id")),
                    block.get("output", block.get("content")),
                    bool(block.get("is_error")),
                )
            elif kind not in _THINKING and kind not in _CALLS:
                seen = self.visible_block(block, self.rules.user_blocks)
                self.others.extend([seen] if seen else [])

    def add_result(self, call_id: Any, output: Any, is_error: bool) -> None:
        call = self.unanswered.pop(call_id, None) if isinstance(call_id, str) else None
        if call is None:
            self.repairs.dropped.append(str(call_id))
            return
        content = result_content(output, self.rules, self.repairs.described)
        self.results.append(Result(call["id"], call["name"], content, is_error, call))

    def add_assistant(self, message: JsonDict) -> None:
        writer = Writer.of(message.get("metadata"))
        lost = len(self.repairs.thinking) + len(self.repairs.refused)
        parts: list[JsonDict | None] = []
        blocks = blocks_of(message.get("content"))
        for block in self.rules.add_metadata_blocks(blocks, fields_of(message.get("metadata"))):
            kind = block.get("type")
            if kind in _CALLS:
                parts.append(self.add_call(block))
            elif kind in _THINKING:
                parts.append(self.own_thinking(block, writer))
            elif kind in self.rules.assistant_blocks and not self.rules.is_of_provider(writer):
                self.repairs.left_out.append(str(kind))
            elif kind != "tool_result":  # valid in user messages only
                parts.append(self.visible_block(block, self.rules.assistant_blocks))
        parts.extend(self.add_call(call) for call in blocks_of(message.get("tool_calls")))
        own = [self.rules.own_part(part, writer) for part in parts if part is not None]
        self.append("assistant", self.rules.pair_parts(self.rules.make_unique(own, self.ids)))
        has_lost = len(self.repairs.thinking) + len(self.repairs.refused) > lost
        if self.done and (has_lost or not writer.name):  # who writes none may have left them out
            self.done[-1].lost_thoughts = True

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        part = self.rules.own_thinking(block, writer)
        if part is None:
            self.repairs.thinking.append(writer.name or "unknown")
        elif self.refused and _hash_thought(part) in self.refused:
            self.repairs.refused.append(writer.name or "unknown")
            return None
        return part

    def visible_block(self, block: JsonDict, known: frozenset[str]) -> JsonDict | None:
        """Return a block as the model sees it, None if nothing is left of it."""
        if block.get("type") == "text":
            return encoded_text(block)
        return seen_block(block, self.rules, known, self.repairs.described, self.repairs.left_out)

    def append(
        self,
        role: Literal["user", "assistant"],
        parts: list[JsonDict],
        results: Any = (),
        passing: int = 0,
    ) -> None:
        """Write a turn; neighbouring turns of one role become one, but for what must stay whole."""
        if not parts and not results:
            return
        if role == "assistant" and not self.done:
            self.done.append(Turn("user", [{"type": "text", "text": MISSING_BEGINNING}]))
        elif role == "assistant" and self.done[-1].role == role and self.is_whole(parts):
            self.done.append(Turn("user", [{"type": "text", "text": GO_ON}]))
        if self.done and self.done[-1].role == role:
            self.done[-1].parts += parts
            self.done[-1].results += results
            self.done[-1].passing += passing
        else:
            self.done.append(Turn(role, parts, list(results), passing=passing))

    def is_whole(self, parts: list[JsonDict]) -> bool:
        """Whether an answer right after another is none of its parts: it was asked for by itself.

        Services refuse thinking that is joined with another answer.
        """
        both = [*self.done[-1].parts, *parts]
        return self.rules.ends_with_user or any(part["type"] in _THINKING for part in both)

    def add_call(self, call: JsonDict) -> JsonDict | None:
        call_id = call.get("id")
        name = call.get("name") or call.get("tool")
        if not isinstance(call_id, str) or not isinstance(name, str):
            return None
        if call_id in self.unanswered:
            return None  # the same call again, in `content` and in `tool_calls`
        part = {
            **call,
            "type": "tool_call",
            "id": self.new_id(call_id),
            "name": self.rules.tool_names.fit_name(name),
            "input": arguments_of(call),
        }
        self.unanswered[call_id] = part
        return part

    def new_id(self, call_id: str) -> str:
        """Return a unique id of the form that the service allows."""
        number = 1
        while (wire_id := self.rules.call_ids.fit_id(call_id, number)) in self.ids:
            number += 1
        self.ids[wire_id] = None
        return wire_id

    def close_user_turn(self) -> None:
        for call_id, call in self.unanswered.items():
            self.repairs.answered.append(call_id)
            self.results.append(Result(call["id"], call["name"], MISSING_RESULT, True, call))
        self.append("user", self.others, self.results, self.passing)
        self.unanswered, self.results, self.others, self.passing = {}, [], [], 0

    def finish(self) -> None:
        self.close_user_turn()
        if not self.done or self.done[-1].role != "assistant":
            return
        if self.rules.ends_with_user:
            self.append("user", [{"type": "text", "text": GO_ON}])
            return
        last = self.done[-1]
        if last.parts[-1]["type"] == "text":  # services refuse blanks at the very end
            end = {**last.parts[-1], "text": last.parts[-1]["text"].rstrip()}
            last.parts = [*last.parts[:-1], end]


def _hash_thought(thought: JsonDict) -> int:
    return hash(repr(sorted(thought.items())))


def _are_same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(map(is_, some, others))


def _list_contents(messages: Sequence[Any]) -> list[Any]:
    try:
        return list(map(_CONTENT, messages))
    except AttributeError:  # dicts among them
        return [fields_of(message).get("content") for message in messages]


def _copy_content(content: Any) -> Any:
    return list(content) if isinstance(content, list) else content  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- blocks of any kind
