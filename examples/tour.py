"""An agent that looks at the current folder, on the demo model: no key is needed."""

import asyncio

from amplifier_app.demo_model import DemoModel
from amplifier_core import AmplifierSession


async def main() -> None:
    with DemoModel() as demo:  # config {} in its place talks to Claude, with ANTHROPIC_API_KEY
        plan = {
            "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
            "providers": [{"module": "provider-anthropic", "config": demo.provider_config()}],
            "tools": [{"module": "tool-filesystem"}, {"module": "tool-search"}],
        }
        async with AmplifierSession(plan) as session:
            print(await session.execute("Give me a tour of this project"))


asyncio.run(main())
