"""Faults of what is made of a history."""

from __future__ import annotations

from planted import found_by, with_history
from tiny_history import Block, History
from tiny_provider import TinyProvider


class Unsigned(History):
    def thought(self, block: Block) -> Block:
        return {key: value for key, value in super().thought(block).items() if key != "signature"}


@found_by("a_result_follows_its_call", "the service refused the request: 400 .*signature")
@with_history(Unsigned)
class DropsSignatures(TinyProvider):
    """Drops signatures."""


class Swapped(History):
    def close_user_turn(self) -> None:
        waiting = list(self.open)
        given = [self.results.get(call_id) for call_id in waiting]
        if len(waiting) > 1 and all(given):
            texts = [result["content"] for result in given if result]
            for call_id, text in zip(waiting, texts[::-1], strict=True):
                self.results[call_id] = {**self.results[call_id], "content": text}
        super().close_user_turn()


@found_by(
    "results_of_calls_at_once_go_back_to_their_calls", "'of second' was not sent after 'of fi"
)
@with_history(Swapped)
class SwapsResults(TinyProvider):
    """Swaps the results of parallel calls."""


class Short(History):
    def turns(self) -> list[Block]:
        return super().turns()[-7:]


@found_by("a_conversation_of_many_turns_goes_on", "400 .*unexpected `tool_use_id` found")
@with_history(Short)
class Forgets(TinyProvider):
    """Sends the last messages alone."""


class Blind(History):
    def seen(self, blocks: list[Block]) -> list[Block]:
        return self.texts(blocks)


@found_by("images_of_the_user_are_sent", "the data of the image were not sent")
@with_history(Blind)
class DropsImages(TinyProvider):
    """Drops images."""


class Orphans(History):
    def add_result(self, call_id: str, blocks: list[Block]) -> None:
        if call_id in self.open:
            super().add_result(call_id, blocks)
        else:
            self.others.append(self.result(call_id, self.seen(blocks)))


@found_by("results_without_a_call_do_no_harm", "400 .*unexpected `tool_use_id` found")
@with_history(Orphans)
class SendsOrphans(TinyProvider):
    """Sends an orphan result."""


class Unanswered(History):
    def close_user_turn(self) -> None:
        self.open = {
            call_id: wire for call_id, wire in self.open.items() if call_id in self.results
        }
        super().close_user_turn()


@found_by("calls_without_a_result_do_no_harm", "400 `tool_use` ids were found without|400 messages")
@with_history(Unanswered)
class LeavesCalls(TinyProvider):
    """Sends a call without a result."""


class Empty(History):
    def texts(self, blocks: list[Block]) -> list[Block]:
        return [{"type": "text", "text": b["text"]} for b in blocks if b["type"] == "text"]


@found_by("empty_texts_do_no_harm", "400 .*non-empty")
@with_history(Empty)
class SendsEmpty(TinyProvider):
    """Sends empty text."""


class Foreign(History):
    def wire_id(self, call_id: str) -> str:
        return call_id


@found_by("what_another_provider_wrote_does_no_harm", "400 .*should match pattern")
@with_history(Foreign)
class SendsForeignIds(TinyProvider):
    """Sends the ids of another provider as they are."""


class Repeated(History):
    def unique(self, text: str) -> str:
        return text


@found_by("no_history_is_refused", "400 .*`tool_use` ids must be unique|400 tools")
@with_history(Repeated)
class SendsIdsTwice(TinyProvider):
    """Sends an id twice."""
