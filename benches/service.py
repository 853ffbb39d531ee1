"""What a service pays end to end: for a text delta, a short run, an open stream, a resting session.

Each client runs in a process of its own. The clock starts when all streams are open and stops when the
last delta was taken, so that a delta is all that is in it; what opening costs has a row of its own. The
server writes each delta by itself, and the next one when the client has done with it (`service_server.py`).
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from model_server import words
from service_clients import OURS, PEERS, Client
from service_server import SHORT, allow_many_files, service_server
from side_by_side import Figure, Times, run
from side_by_side import duration as write_duration

MANY_STREAMS = (1_000, 10)
STREAMS = {
    "1": (1, 1_000), "100": (100, 40), "TLS": (100, 40), "1000": MANY_STREAMS, "uvloop": MANY_STREAMS,
}  # fmt: skip
"""How many streams are open at once, and how many deltas each of them has."""
PATIENCE = 300
"""Seconds after which streams that do not all open, or do not end, are given up."""
RUNS = 120
AT_ONCE = 4
RESTING = 10_000
RATE = 50
"""Deltas a second of a stream that is read while it is written."""
LIMITS = {"100 kB": 100e3, "10 kB": 10e3, "4": 4}
"""What is compared with a number and not with another client."""


async def measure_streams(client: Client, port: int, streams: int, deltas: int) -> list[float]:
    """The CPU seconds to open a stream and of a delta, and the bytes of a stream that is open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def expect(state: str) -> float:
        assert await reader.readline() == f"{state}\n".encode()
        return time.process_time()

    writer.write(f"{streams} {deltas} {os.getpid()}\n".encode())
    gc.collect()
    bytes_before, start = resident_bytes(), await expect("ready")
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.stream()) for _ in range(streams)]
        begun = await expect("begun")
        writer.write(b"\n")
        written = await expect("written")
        held = resident_bytes() - bytes_before
        writer.write(b"\n")
    writer.close()
    for task in tasks:
        texts = task.result()
        assert texts in (words(deltas), ["".join(words(deltas))])
    each = streams * (deltas - 1)
    return [(begun - start) / streams, (written - begun) / each, held / streams]


def resident_bytes() -> int:
    """The memory of the process that is in use."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize()


async def measure_runs(client: Client, port: int) -> list[float]:
    """The CPU seconds of a run with a short answer, the TLS handshakes of all, and of a later run.

    A hundred at once come before the later runs: what they leave open may slow down all others.
    """
    before = await read_handshakes(port)

    async def repeat(times: int) -> None:
        for _ in range(times):
            assert await client.ask() == "".join(words(SHORT))

    async def run_all(times: int) -> None:
        await asyncio.gather(*(repeat(times // AT_ONCE) for _ in range(AT_ONCE)))

    async def time_run() -> float:
        gc.collect()
        start = time.process_time()
        await run_all(RUNS)
        return (time.process_time() - start) / RUNS

    await run_all(AT_ONCE)
    each = await time_run()
    handshakes = await read_handshakes(port) - before
    await asyncio.gather(*(client.ask() for _ in range(100)))
    return [each, handshakes, await time_run()]


async def read_handshakes(port: int) -> int:
    """How many TLS handshakes the server has seen."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"handshakes\n")
    count = int(await reader.readline())
    writer.close()
    return count


async def measure_client(name: str, what: str, port: int, tls_port: int) -> Times:
    """What one client costs, by the name of the case."""
    base = f"http://127.0.0.1:{port}/held/v1"
    if what in ("TLS", "runs"):
        base = f"https://localhost:{tls_port}/{'held' if what == 'TLS' else 'short'}/v1"
    async with (OURS | PEERS)[name](base) as client:
        if what == "runs":
            found = await measure_runs(client, port)
            cases = ("run", "handshakes", "later")
            return {f"{name} {case}": each for case, each in zip(cases, found, strict=True)}
        await measure_streams(client, port, 1, 20)
        streams, deltas = STREAMS[what]
        opening, delta, held = await measure_streams(client, port, streams, deltas)
        if streams <= 100:  # short enough to leave out what other processes did meanwhile
            again = [await measure_streams(client, port, streams, deltas) for _ in range(2)]
            delta = min(delta, *(each[1] for each in again))
    return {
        f"{name} {what}": delta,
        f"{name} {what} opening": opening,
        f"{name} {what} memory": held,
    }


async def measure_resting() -> Times:
    """The bytes of a session after a turn."""
    from amplifier_agent import Agent, ScriptedProvider, Session

    model = ScriptedProvider(["It is a short answer."], repeat=True)
    agent = Agent(model)
    sessions: list[Session[None]] = []

    async def rest(count: int) -> None:
        for _ in range(count):
            session = await agent.session().__aenter__()
            assert (await session.run("Say something.")).text == "It is a short answer."
            model.requests.clear()
            sessions.append(session)

    await rest(100)
    gc.collect()
    before = resident_bytes()
    await rest(RESTING)
    times = {"session memory": (resident_bytes() - before) / RESTING}
    for session in sessions:
        await session.__aexit__(None, None, None)
    return times


def measure_in_process(arguments: Sequence[str]) -> Times:
    """What `main` prints in a process of its own."""
    command = [sys.executable, __file__, "client", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def measure() -> Times:
    """This side: the peers where they are installed, else ours and what they are compared with."""
    is_ours = find_spec("pydantic_ai") is None
    times: Times = {**LIMITS, **measure_in_process(["", "resting"])} if is_ours else {}
    with service_server() as (port, tls_port, authorities):
        os.environ["SSL_CERT_FILE"] = authorities
        # What is compared is measured right after each other: the load of the machine changes.
        for what in (*STREAMS, "runs"):
            for name in OURS if is_ours else PEERS:
                if not is_left_out(name, what):
                    times |= measure_in_process([name, what, str(port), str(tls_port)])
    return times


def is_left_out(name: str, what: str) -> bool:
    """Whether a client does not do that, or need not."""
    if what == "uvloop":
        return name in PEERS or find_spec("uvloop") is None
    return (name == "sockets" and what in ("TLS", "runs")) or (name, what) == (
        "Agent.stream",
        "runs",
    )


def main(name: str, what: str, *ports: str) -> None:
    """Measure one client, and print its times."""
    allow_many_files()
    factory = None
    if what == "uvloop":
        from uvloop import new_event_loop as factory
    with asyncio.Runner(loop_factory=factory) as runner:
        if what == "resting":
            times = runner.run(measure_resting())
        else:
            times = runner.run(measure_client(name, what, *map(int, ports)))
    json.dump(times, sys.stdout)


def write_size(count: float) -> str:
    """Write a number of bytes: `12.3 kB`."""
    return f"{count / 1e3:.3g} kB"


def write_streams(seconds: float) -> str:
    """Write how many streams one core carries where a delta takes so long."""
    return f"{1 / (RATE * seconds):.0f}"


def compare(
    what: str,
    client: str,
    other: str,
    case: str,
    share: float | None = None,
    shown: Callable[[float], str] = write_duration,
) -> Figure:
    """Make a row for one case of two clients; those of `OURS` are measured beside each other."""
    title, peer = f"{what}: {client}, against {other}", f"{other} {case}"
    if other in OURS:
        return Figure(title, f"{client} {case}", share=share, against=peer, shown=shown)
    return Figure(title, f"{client} {case}", share=share, peer=peer, shown=shown)


def compare_all(
    what: str,
    client: str,
    case: str,
    shares: Mapping[str, float],
    shown: Callable[[float], str] = write_duration,
) -> list[Figure]:
    """Make the rows of one of our clients against all others; `shares` has the targets."""
    others = ("httpx2", "sockets", *PEERS)
    return [compare(what, client, other, case, shares.get(other), shown) for other in others]


PLACES = {"1": "1 stream", "100": "100 streams", "1000": "1,000 streams", "TLS": "100 streams, TLS"}
DELTA_FIGURES = [
    figure
    for case, place in PLACES.items()
    for figure in (
        *compare_all(f"delta, {place}", "Agent.stream", case, {"httpx2": 1.6}),
        compare(f"delta, {place}", "Agent.run", "httpx2", case),
        compare(f"delta, {place}", "arcllm.stream", "httpx2", case),
    )
]
CORE = "streams of 50 deltas/s a core"
CORE_FIGURES = [
    compare(CORE, "Agent.stream", "httpx2", "1000", shown=write_streams),
    compare(f"{CORE}, uvloop", "Agent.stream", "httpx2", "uvloop", shown=write_streams),
    *(
        Figure(
            f"delta, 1,000 streams: {client} on uvloop, against asyncio",
            f"{client} uvloop",
            against=f"{client} 1000",
        )
        for client in ("Agent.stream", "Agent.run", "arcllm.stream", "httpx2", "sockets")
    ),
]
RUN_FIGURES = [
    *compare_all("run over TLS", "Agent.run", "run", {"httpx2": 2, "openai-agents": 0.3}),
    compare("run over TLS", "arcllm.stream", "httpx2", "run"),
    Figure(
        "TLS handshakes of 124 runs",
        "Agent.run handshakes",
        share=1,
        against="4",
        shown="{:g}".format,
    ),
    *compare_all("run over TLS, after 100 at once", "Agent.run", "later", {}),
    *compare_all("opening, 1,000 streams", "Agent.stream", "1000 opening", {}),
    *compare_all("opening, 100 streams, TLS", "Agent.stream", "TLS opening", {}),
]
MEMORY_FIGURES = [
    Figure(
        "memory of a stream",
        "Agent.stream 1000 memory",
        share=1,
        against="100 kB",
        shown=write_size,
    ),
    *compare_all("memory of a stream", "Agent.stream", "1000 memory", {}, write_size),
    compare("memory of a stream", "Agent.run", "httpx2", "1000 memory", shown=write_size),
    compare("memory of a stream", "arcllm.stream", "httpx2", "1000 memory", shown=write_size),
    Figure("memory of a session", "session memory", share=1, against="10 kB", shown=write_size),
]
FIGURES = [*DELTA_FIGURES, *CORE_FIGURES, *RUN_FIGURES, *MEMORY_FIGURES]

if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        main(*sys.argv[2:])
    else:
        run(__file__, measure, "a service", FIGURES, rounds_by_default=3)
