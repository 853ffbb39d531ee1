"""An agent that describes the current folder with the demo model; no key is needed."""

import asyncio

from amplifier_app.demo_model import DemoModel
from amplifier_core import AmplifierSession


async def main() -> None:
    with DemoModel() as demo:  # for Claude, set ANTHROPIC_API_KEY and use the config {}
        plan = {
            "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
            "providers": [{"module": "provider-anthropic", "config": demo.provider_config()}],
            "tools": [{"module": "tool-filesystem"}, {"module": "tool-search"}],
        }
        async with AmplifierSession(plan) as session:
            print(await session.execute("Give me a tour of this project"))


asyncio.run(main())
