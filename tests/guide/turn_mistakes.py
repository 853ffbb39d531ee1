"""The mistakes of the guide with cancellation, steering, goals and roles."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from mistakes import mistake, model

from amplifier_agent import Agent, ScriptedProvider, hook, tool
from amplifier_core import AmplifierSession, HookResult

# cancellation and steering


@mistake("cancellation", "a cancelled session of the kernel that is not reset")
def _() -> str:
    async def main() -> str:
        provider = {"module": "provider-scripted", "config": {"script": ["Hi"]}}
        main = {"orchestrator": "loop-streaming", "context": "context-simple"}
        async with AmplifierSession({"session": main, "providers": [provider]}) as session:
            session.coordinator.cancellation.request_immediate()
            return await session.execute("go")

    return asyncio.run(main())


@mistake("cancellation", "a tool that swallows its cancellation")
def _() -> str:
    async def main() -> str:
        over = asyncio.Event()

        @tool
        async def stubborn() -> str:
            """Go on, whatever happens."""
            session.cancel()
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue
            return "done"

        scripted = model({"tool": "stubborn", "arguments": {}}, "ok")
        async with Agent(scripted, tools=[stubborn]).session() as session:
            status = (await session.run("go")).status
            over.set()
            return status

    return asyncio.run(main())


def _steer(text: str, times: int = 1, loop: Any = None) -> None:
    async def main() -> None:
        async with Agent(model(), loop=loop).session() as session:
            for _ in range(times):
                session.steer(text)

    asyncio.run(main())


class Loop:
    async def execute(self, prompt: str, **mounted: Any) -> str:
        return "Hi"


@mistake("steering", "a loop that cannot be paused")
def _() -> Any:
    async def main() -> None:
        async with Agent(ScriptedProvider([]), loop=Loop()).session() as session:
            session.pause()

    asyncio.run(main())


mistake("steering", "a text that is no `str`")(lambda: _steer(cast("Any", 1)))
mistake("steering", "an empty text")(lambda: _steer(" "))
mistake("steering", "a loop that takes no messages")(lambda: _steer("Stop", loop=Loop()))
mistake("steering", "more than 100 that wait")(lambda: _steer("Stop", times=101))


# goals and roles


def _fast(role: str, provider: str, **options: Any) -> str:
    config = {"models": {role: provider}}
    loop = {"module": "loop-streaming", "config": config}
    return Agent(model(), loop=loop, **options).run_sync("go").text


@hook("provider:request")
def _misspelt(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="modify", data={**data, "role": "fsat"})


@mistake("goals", "something else in the session state")
def _() -> None:
    async def main() -> None:
        async with Agent(model()).session() as session:
            session.session.coordinator.session_state["goal"] = 3
            await session.run("go")

    asyncio.run(main())


mistake("goals", "an empty goal")(lambda: Agent(model()).run_sync("go", goal=" "))
mistake("goals", "a loop that is not ours")(
    lambda: Agent(model(), loop=Loop()).run_sync("go", goal="done")
)
mistake("roles", "a provider that is not mounted")(lambda: _fast("fast", "grok"))
mistake("roles", "a hook that chooses a role without a model")(
    lambda: _fast("fast", "scripted", hooks=[_misspelt])
)
mistake("roles", "a role that looks misspelt")(lambda: _fast("fats", "scripted"))
