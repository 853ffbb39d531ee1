"""Time, ids and randomness are those of the world in use; without one, of the system."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import world
from amplifier_core._retry_config import RetryConfig, compute_delay
from amplifier_core.correlation import new_request_id

PLAN = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


class Counted(world.World):
    """A world in which each answer follows from the one before."""

    def __init__(self, seconds: float = 1_767_225_600.25) -> None:
        self.seconds = seconds
        self.drawn = 0

    def time(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds / 2

    def random(self) -> float:
        return 0.75

    def random_bytes(self, count: int) -> bytes:
        self.drawn += 1
        return bytes([self.drawn]) * count


@pytest.mark.parametrize("count", [-1, 2**20 + 1, 2**40])
def test_an_unreasonable_number_of_random_bytes_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"`count` is {count:,} \(must be from 0 to 1,048,576\)"):
        world.random_bytes(count)


# Holds: world-2
def test_the_functions_read_the_world_in_use_and_then_the_earlier_one() -> None:
    outer, inner = Counted(1.0), Counted(2.0)

    with world.use(outer):
        with world.use(inner):
            assert (world.time(), world.monotonic(), world.random()) == (2.0, 1.0, 0.75)
        assert (world.time(), world.random_bytes(2)) == (1.0, b"\x01\x01")
    assert abs(world.time() - time.time()) < 60


# Holds: world-2
def test_a_world_is_left_when_its_context_fails() -> None:
    with pytest.raises(ValueError, match="broken"), world.use(Counted()):
        raise ValueError("broken")

    assert world.time() != Counted().time()


# Holds: world-1
def test_the_system_is_the_world_without_one_in_use() -> None:
    before = time.time(), time.monotonic()
    found = world.time(), world.monotonic()
    after = time.time(), time.monotonic()

    assert all(first <= at <= last for first, at, last in zip(before, found, after, strict=True))
    assert 0 <= world.random() < 1
    assert len(world.random_bytes(9)) == 9
    assert world.random_bytes(16) != world.random_bytes(16)


def test_other_threads_read_the_same_world() -> None:
    found: list[float] = []
    with world.use(Counted()):
        thread = threading.Thread(target=lambda: found.append(world.time()))
        thread.start()
        thread.join()

    assert found == [Counted().time()]


@given(st.binary(min_size=16, max_size=16))
def test_a_uuid_is_that_of_its_random_bytes(content: bytes) -> None:
    class Fixed(world.World):
        def random_bytes(self, count: int) -> bytes:
            assert count == 16
            return content

    with world.use(Fixed()):
        assert world.new_uuid() == str(uuid.UUID(bytes=content, version=4))


async def test_outside_returns_values_and_the_results_of_what_can_be_awaited() -> None:
    async def later() -> str:
        return "later"

    assert await world.outside("now", lambda: "now") == "now"
    assert await world.outside("later", later) == "later"
    with pytest.raises(ZeroDivisionError):
        await world.outside("never", lambda: 1 // 0)


async def test_a_replay_answers_without_a_call() -> None:
    class Replay(world.World):
        async def outside(self, name: str, call: Callable[[], Any]) -> Any:
            return f"recorded {name}"

    with world.use(Replay()):
        assert await world.outside("http", lambda: pytest.fail("it was called")) == "recorded http"


async def stamps(engine: Any) -> list[str]:
    """Return the time stamp of an event."""
    coordinator = engine.ModuleCoordinator(session=None)
    found: list[str] = []

    async def note(event: str, data: dict[str, Any]) -> None:
        found.append(data["timestamp"])

    coordinator.hooks.register("tool:pre", note, name="note")
    await coordinator.hooks.emit("tool:pre", {})
    return found


# Holds: world-1
@given(seconds=st.floats(min_value=0, max_value=4e9))
async def test_time_stamps_are_of_the_world_in_use(engine: Any, seconds: float) -> None:
    with world.use(Counted(seconds)):
        found = await stamps(engine)

    expected = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    assert found == [expected]


async def test_time_stamps_are_of_the_system_without_a_world_in_use(engine: Any) -> None:
    with world.use(Counted()):
        pass
    before = datetime.now(UTC)
    (found,) = await stamps(engine)

    assert before <= datetime.fromisoformat(found) <= datetime.now(UTC)


# Holds: world-1
async def test_a_lasting_injection_has_the_time_of_the_world(engine: Any) -> None:
    from amplifier_core.models import HookResult
    from amplifier_core.testing import MockContextManager

    context = MockContextManager()
    coordinator = engine.ModuleCoordinator(session=None)
    await coordinator.mount("context", context)
    with world.use(Counted()):
        injection = HookResult(action="inject_context", context_injection="remember")
        await coordinator.process_hook_result(injection, "tool:post", "hook")

    assert context.messages[0]["metadata"]["timestamp"] == "2026-01-01T00:00:00.250000+00:00"


# Holds: world-1
def test_ids_are_of_the_world_in_use(engine: Any) -> None:
    hooks = engine.HookRegistry()
    with world.use(Counted()):
        session = engine.AmplifierSession(PLAN)
        hooks.register("tool:pre", lambda event, data: None)
        hooks.observe(lambda event, data: None)
        request_id = new_request_id()

    def number(digits: str) -> str:
        return str(uuid.UUID(bytes=bytes.fromhex(digits) * 16, version=4))

    assert session.session_id == number("01")
    assert hooks.list_handlers()["tool:pre"] == [f"_auto_tool:pre_{number('02')}"]
    assert request_id == number("04")
    assert engine.AmplifierSession(PLAN).session_id != number("05")


def test_what_a_world_raises_is_raised_where_it_is_read(engine: Any) -> None:
    class Broken(world.World):
        def random_bytes(self, count: int) -> bytes:
            raise OSError("no randomness")

    with world.use(Broken()), pytest.raises(OSError, match="no randomness"):
        engine.AmplifierSession(PLAN)


# Holds: world-1
def test_a_retry_is_spread_by_the_world() -> None:
    config = RetryConfig(jitter=True, initial_delay=2.0)

    with world.use(Counted()):
        assert compute_delay(config, 0) == 2.0 * 1.25


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_wait_is_that_of_the_world_in_use(backend: str) -> None:
    class Patient(world.World):
        waited: ClassVar[list[float]] = []

        async def sleep(self, seconds: float) -> None:
            self.waited.append(seconds)

    with world.use(Patient()):
        anyio.run(world.sleep, 3_600.0, backend=backend)
    assert Patient.waited == [3_600.0]


def test_a_wait_of_the_system_ends_where_it_is_cancelled() -> None:
    async def cancel() -> bool:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await world.sleep(3_600.0)
        return scope.cancelled_caught

    assert [anyio.run(cancel, backend=backend) for backend in ("asyncio", "trio")] == [True, True]
