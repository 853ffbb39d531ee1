"""What the arguments of a tool call cost in deltas of 32 bytes, against Anthropic's accumulator."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from model_server import messages, model_server, pieces, written
from side_by_side import Figure, Times, run, time_each

KINDS = ("edits", "file")
SIZES = {"64 kB": 64 * 1024, "128 kB": 128 * 1024, "1 MB": 1024 * 1024}
SIZES_OF_PEERS = ("64 kB", "128 kB")
"""What ends in bearable time."""
WHAT = {
    "edits": "of a list of edits",
    "file": "of the text of a file",
    "edits over HTTP": "of a list of edits over HTTP",
}


@dataclass(frozen=True)
class Growth(Figure):
    """How many times as much twice the arguments cost, on each side."""

    def row(self, reference: Sequence[Times], ours: Sequence[Times]) -> list[str]:
        """Both multiples; there is nothing to reach."""

        def multiple(rounds: Sequence[Times]) -> str:
            return f"{statistics.median(growth(times, self.case) for times in rounds):.2f}x"

        return [self.what, multiple(reference), multiple(ours), "", "", ""]


@dataclass(frozen=True)
class Projected(Figure):
    """1 MB of ours, against theirs of 128 kB grown three times more as it grew from 64 kB."""

    def other(self, reference: Times, ours: Times) -> float:
        """What 1 MB would cost them."""
        case = self.case.replace("1 MB", "128 kB")
        return reference[case] * growth(reference, case) ** 3


def growth(times: Times, case: str) -> float:
    """How many times as much a case of 128 kB costs as that of 64 kB."""
    return times[case] / times[case.replace("128 kB", "64 kB")]


async def time_call(work: Callable[[list[Any]], None], items: list[Any]) -> float:
    """CPU seconds of the work on these items."""

    async def repeat(times: int) -> None:
        for _ in range(times):
            work(items)

    return await time_each(repeat)


def decode(body: list[bytes]) -> None:
    """Feed the bytes of a stream as they come from a socket."""
    from amplifier_stream import StreamDecoder

    decoder = StreamDecoder("anthropic")
    for piece in body:
        decoder.feed(piece)
    assert decoder.finish().stop_reason == "tool_use"


def decode_and_show(body: list[bytes]) -> None:
    """The same, and what the arguments are after each event."""
    from amplifier_stream import StreamDecoder

    decoder = StreamDecoder("anthropic")
    for event in body:
        decoder.feed(event)
        decoder.partial_arguments(0)
    assert decoder.finish().stop_reason == "tool_use"


async def ours(address: str) -> Times:
    """The decoder, fed bytes."""
    import httpx2

    from amplifier_stream import StreamDecoder

    times: Times = {}
    for kind in KINDS:
        for name, size in SIZES.items():
            events = written("messages", kind, size)
            times[f"{kind} {name}"] = await time_call(decode, pieces(kind, events))
            case = f"{kind} {name} shown"
            times[case] = await time_call(decode_and_show, events)

    async with httpx2.AsyncClient(trust_env=False) as client:
        for name, size in SIZES.items():
            url = f"{address}/edits/{size}/v1/messages"

            async def repeat(count: int, url: str = url) -> None:
                for _ in range(count):
                    async with client.stream("POST", url, json={}) as response:
                        decoder = StreamDecoder("anthropic", response.status_code)
                        async for chunk in response.aiter_bytes():
                            decoder.feed(chunk)
                    assert decoder.finish().stop_reason == "tool_use"

            times[f"edits over HTTP {name}"] = await time_each(repeat)
    return times


async def peers(address: str) -> Times:
    """The accumulator of `messages.stream`, fed events that are parsed already; and all of it."""
    import anthropic
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)

    def accumulate(events: list[Any]) -> None:
        snapshot: Any = None
        buffers: dict[int, bytes] = {}
        for event in events:
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
        assert snapshot.stop_reason == "tool_use"

    times: Times = {}
    for kind in KINDS:
        for name in SIZES_OF_PEERS:
            events = [adapter.validate_python(event) for event in messages(kind, SIZES[name])]
            times[f"{kind} {name}"] = await time_call(accumulate, events)

    for name in SIZES_OF_PEERS:
        base = f"{address}/edits/{SIZES[name]}"
        async with anthropic.AsyncAnthropic(base_url=base, api_key="none", max_retries=0) as client:

            async def repeat(count: int, client: anthropic.AsyncAnthropic = client) -> None:
                for _ in range(count):
                    prompt = {"role": "user", "content": "Write."}
                    async with client.messages.stream(
                        model="claude-bench", max_tokens=100, messages=[prompt]
                    ) as stream:
                        assert (await stream.get_final_message()).stop_reason == "tool_use"

            times[f"edits over HTTP {name}"] = await time_each(repeat)
    return times


def measure() -> Times:
    """This side: the peer where it is installed, else ours."""
    side = peers if find_spec("anthropic") else ours
    with model_server() as address:
        return asyncio.run(side(address))


def figures() -> list[Figure]:
    """The rows of each kind of arguments."""
    rows: list[Figure] = []
    for kind, what in WHAT.items():
        target = 300 if "HTTP" in kind else 1000
        rows += [
            Projected(f"1 MB {what}, theirs projected", f"{kind} 1 MB", target),
            Figure(f"128 kB {what}", f"{kind} 128 kB"),
            Growth(f"128 kB over 64 kB {what}", f"{kind} 128 kB"),
        ]
    for kind in KINDS:
        whole, shown = f"{kind} 1 MB", f"{kind} 1 MB shown"
        growing = f"1 MB {WHAT[kind]} over 128 kB, both ours"
        rows += [
            Figure(growing, whole, share=8.8, against=f"{kind} 128 kB"),
            Figure(f"1 MB {WHAT[kind]} shown after each delta", shown, against=whole),
        ]
    return rows


if __name__ == "__main__":
    run(__file__, measure, "arguments in deltas of 32 bytes", figures())
