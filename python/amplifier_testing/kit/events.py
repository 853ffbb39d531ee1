"""Tests of the events of blocks that a provider emits."""

from __future__ import annotations

from typing import Any, cast

import pytest

from amplifier_core.message_models import ChatResponse

from ..servers import Fault
from .base import KitBase
from .bench import Bench
from .conversation import MIXED
from .failing import fail, write_fault
from .recorder import DELTA, END, START
from .streams import LATE, LONG


class EventTests(KitBase):
    """What hooks hear of an answer."""

    def test_block_events_add_up_to_the_answer(self, backend: str) -> None:
        """Each block begins once and ends once, and its deltas are its text."""

        async def check() -> None:
            async with self.bench() as bench:
                response = await bench.ask(MIXED)
                says_so = bool((response.metadata or {}).get("content_blocks_emitted"))
                emitted = bench.hooks.count(START) + bench.hooks.count(END)
                if says_so and not emitted:
                    fail("`content_blocks_emitted` is true, and no event of a block was emitted")
                if not emitted:
                    pytest.skip("`complete` of the provider emits no events of blocks")
                if not says_so:
                    fail(
                        "events of blocks were emitted, and `content_blocks_emitted` in the metadata"
                        " of the response does not say so: the loop would emit them again"
                    )
                bench.expect_order("the events of a whole answer")
                _expect_blocks(bench, response)

        self.run(check, backend)

    def test_a_call_that_fails_is_over_for_its_hooks(self, backend: str) -> None:
        """Each `llm:request` has its `llm:response`, and no block ends that never began."""

        async def check() -> None:
            for fault in (*LATE, Fault(status=400), Fault(error_after=0)):
                async with self.bench() as bench:
                    await bench.ask_for_error(LONG, fault=fault, then=Fault(status=401))
                    bench.expect_order(
                        f"the events of an answer that failed ({write_fault(fault)})"
                    )

        self.run(check, backend)


def _expect_blocks(bench: Bench, response: ChatResponse) -> None:
    ends = [data for event, data in bench.hooks.events if event == END]
    from_events = [_summarize_block(_block_of(data)) for data in ends]
    blocks = [_summarize_block(block.model_dump()) for block in response.content]
    if from_events != blocks:
        fail(f"the events ended the blocks {from_events}, the response has {blocks}")
    for data, block in zip(ends, response.content, strict=True):
        deltas = [
            each.get("delta") or ""
            for event, each in bench.hooks.events
            if event == DELTA and each["block_index"] == data["block_index"]
        ]
        text = getattr(block, "text", None) or getattr(block, "thinking", None)
        if block.type in {"text", "thinking"} and deltas and "".join(deltas) != text:
            fail(f"the deltas of a block are {''.join(deltas)!r}, the block is {text!r}")


def _block_of(data: dict[str, Any]) -> dict[str, Any]:
    block: Any = data.get("block") or {}
    if not isinstance(block, dict):
        fail(f"`block` of `{END}` is a `{type(block).__name__}`, not a dict")
    return cast("dict[str, Any]", block)


def _summarize_block(block: dict[str, Any]) -> tuple[Any, ...]:
    match block.get("type"):
        case "text":
            return ("text", block.get("text"))
        case "thinking":
            return ("thinking", block.get("thinking") or block.get("text"))
        case "tool_call":
            return ("tool_call", block.get("id"), block.get("name"), block.get("input"))
        case other:
            return (other,)
