"""What a session costs around its orchestrator: create, initialize, execute and clean up."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from side_by_side import Figure, Times, run, time_each

MODULES = Path(__file__).with_name("modules")

CONFIG: dict[str, Any] = {
    "session": {
        "orchestrator": {"module": "bench-orchestrator"},
        "context": {"module": "bench-context"},
    },
    "providers": [{"module": "bench-provider"}],
}


class GivenModules:
    """A loader that has every module at hand: what remains is the session itself."""

    def __init__(self) -> None:
        import amplifier_module_bench_context as context
        import amplifier_module_bench_orchestrator as orchestrator
        import amplifier_module_bench_provider as provider

        self.modules = {
            "bench-orchestrator": orchestrator,
            "bench-context": context,
            "bench-provider": provider,
        }

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> Callable[[Any], Awaitable[Any]]:
        module = self.modules[module_id]

        async def mount(coordinator: Any) -> Any:
            return await module.mount(coordinator, config or {})

        return mount

    def enqueue_on_session_ready(self, module_id: str, ready: Any) -> None:
        """No module here has anything to do then."""

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None:
        """There is no queue."""


async def one_session(loader: GivenModules | None) -> None:
    """The life of a session of one turn.

    Args:
        loader: Has the modules at hand; without it the session finds and imports them.
    """
    from amplifier_core import AmplifierSession

    session = AmplifierSession(CONFIG)
    if loader is not None:
        session.coordinator.loader = loader
    await session.initialize()
    answer = await session.execute("What is the answer?")
    await session.cleanup()
    if answer != "What is the answer?":
        raise AssertionError(f"the orchestrator echoes its prompt, but the answer was `{answer}`")


async def sessions(loader: GivenModules | None) -> float:
    """The cost of one session."""

    async def repeat(times: int) -> None:
        for _ in range(times):
            await one_session(loader)

    return await time_each(repeat)


def measure() -> Times:
    """Both ways to come by the modules."""
    sys.path.insert(0, str(MODULES))
    return {
        "given": asyncio.run(sessions(GivenModules())),
        "found": asyncio.run(sessions(None)),
    }


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "session",
        [
            Figure("modules given by the loader", "given", times_faster=40),
            Figure("modules found and imported", "found", times_faster=40),
        ],
    )
