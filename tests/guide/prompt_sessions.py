"""A session whose prompt does not only grow, at a service with a price."""

from __future__ import annotations

from event_sessions import PLAN, Payload, Seen

from amplifier_core import AmplifierSession
from amplifier_providers.wire.events import LLM_PREFIX_CHANGED
from amplifier_testing.servers import AnthropicServer


async def of_prompts(seen: Seen) -> None:
    """Two turns with different models, which take no temperature."""
    everything = Seen()
    with AnthropicServer() as server:
        config: Payload = {
            "api_key": "key", "base_url": server.url, "default_model": "claude-opus-5", "temperature": 0.5,
            "prices": {"*": {"input": 1, "output": 1}},
        }  # fmt: skip
        provider = {"module": "provider-anthropic", "config": config}
        session = AmplifierSession({**PLAN, "providers": [provider]})
        everything.observe(session.coordinator.hooks)
        async with session:
            await session.execute("Hi")
            session.coordinator.get("providers")["anthropic"].default_model = "claude-opus-5-5"
            await session.execute("Hi again")
    for event in (LLM_PREFIX_CHANGED, "llm:response", "provider:response"):
        seen.payloads[event] += everything.payloads[event]
