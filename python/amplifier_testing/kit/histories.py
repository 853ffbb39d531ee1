"""A test with random histories: trimmed, forked, compacted, reordered, and written by several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.from_thread
import pytest

from amplifier_core.llm_errors import LLMError

from ..servers import Answer, Call, RedactedThinking, Thinking
from .base import KitBase
from .bench import Bench
from .conversation import (
    IMAGE,
    call_block,
    make_assistant,
    make_foreign,
    make_result,
    make_system,
    make_user,
    request,
    text_block,
)
from .failing import fail

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Messages = list[dict[str, Any]]

_ANSWERS = (
    Answer("It is short."),
    Answer(Thinking("Hm."), "It is short."),
    Answer(Thinking("I need the file."), "I look.", Call("look", {"at": "a.py"})),
    Answer(Call("look", {"at": "first"}), Call("look", {"at": "second"})),
    Answer(Thinking("Both."), Call("look", {"at": "first"}), Call("look", {})),
    Answer(RedactedThinking(), Call("look", {"at": "b.py"})),
)
_FOREIGN_IDS = ("1", "call:1", "", "x" * 80, "functions.look:0", "é")
_FOREIGN_NAMES = ("look", "mcp.server/look", "n" * 140, "with space")
_FOREIGN_THOUGHTS = (
    {"type": "thinking", "thinking": "Hm.", "signature": "foreign"},
    {"type": "thinking", "thinking": "never signed", "signature": None},
)
_TEXTS = ("hello", "", " ", "\n", "trailing  ", "é😀", "a\tb")
_EDITS = ("insert", "trim", "fork", "delete", "compact", "swap", "again")
_GO_ON = make_user("Go on.")


class HistoryTests(KitBase):
    """What a provider makes of any history."""

    def test_no_history_is_refused(self, backend: str) -> None:
        """Whatever happened to a conversation, the service takes it."""
        pytest.importorskip("hypothesis", reason="hypothesis is not installed")
        from hypothesis import HealthCheck, given, settings

        if backend == "trio":
            pytest.importorskip("trio", reason="trio is not installed")
        with (
            self.clock.use(patches=self.patches_clocks),
            anyio.from_thread.start_blocking_portal(backend) as portal,
            portal.wrap_async_context_manager(self.bench()) as bench,
        ):
            own = portal.call(_make_rounds, bench)

            @settings(
                max_examples=self.histories,
                database=None,
                deadline=None,
                derandomize=True,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            )
            @given(_make_histories(own, with_images=self.images))
            def send(history: Messages) -> None:
                portal.call(_expect_taken, bench, history)

            send()


async def _make_rounds(bench: Bench) -> list[Messages]:
    """Return rounds as the provider under test writes them, each whole and valid."""
    rounds: list[Messages] = []
    for n, answer in enumerate(_ANSWERS):
        response = await bench.ask(answer)
        results = [
            make_result(call.id, f"result {n}")
            for call in bench.list_calls(response, len(answer.calls))
        ]
        rounds.append([make_user("Look."), make_assistant(response), *results])
    return rounds


async def _expect_taken(bench: Bench, history: Messages) -> None:
    found = await bench.ask_for_outcome("Yes.", request=request(history))
    bench.expect_no_refusal()
    if isinstance(found, LLMError):
        fail(f"the provider refused a history: {found!r}")


def _make_histories(own: list[Messages], *, with_images: bool) -> SearchStrategy[Messages]:
    from hypothesis import strategies as st

    texts = st.sampled_from(_TEXTS)
    foreign_ids = st.sampled_from(_FOREIGN_IDS)
    blocks: SearchStrategy[Any] = st.builds(text_block, texts)
    seen = st.one_of(blocks, st.just(IMAGE)) if with_images else blocks
    calls = st.builds(call_block, foreign_ids, st.sampled_from(_FOREIGN_NAMES))
    parts = st.lists(st.one_of(blocks, calls, st.sampled_from(_FOREIGN_THOUGHTS)), max_size=4)
    anything = st.one_of(
        st.builds(make_user, st.one_of(texts, st.lists(seen, max_size=3))),
        st.builds(make_foreign, st.one_of(texts, parts)),
        st.builds(make_result, foreign_ids, texts),
        st.builds(make_system, texts),
    )

    @st.composite
    def draw_history(draw: DrawFn) -> Messages:
        history: Messages = []
        for a_round in draw(st.lists(st.sampled_from(own), max_size=4)):
            history += a_round
            history += draw(st.lists(anything, max_size=2))
        for edit in draw(st.lists(st.sampled_from(_EDITS), max_size=3)):
            place = draw(st.integers(0, len(history)))
            _edit(history, edit, place, draw(anything))
        return [*history, _GO_ON]

    return draw_history()


def _edit(history: Messages, edit: str, place: int, message: dict[str, Any]) -> None:
    """Do with a history what programs, people and compactions do with it."""
    match edit:
        case "insert":
            history.insert(place, message)
        case "trim":
            del history[:place]
        case "fork":
            del history[place:]
        case "delete":
            del history[place : place + 1]
        case "compact":
            history[place // 2 : place] = [make_user("(What was said before, in short.)")]
        case "swap" if place + 1 < len(history):
            history[place], history[place + 1] = history[place + 1], history[place]
        case "again":
            history += history[place : place + 1]
        case _:
            pass
