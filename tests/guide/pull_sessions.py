"""A session whose model is downloaded first."""

from __future__ import annotations

from event_sessions import PLAN, Payload, Seen

from amplifier_core import AmplifierSession
from amplifier_providers.wire.events import PROVIDER_PULL_PROGRESS
from amplifier_testing.servers import OllamaModel, OllamaServer


async def of_a_download(seen: Seen) -> None:
    """A turn with a model that the server lacks."""
    everything = Seen()
    with OllamaServer(pullable=[OllamaModel("new:latest")]) as server:
        config: Payload = {"host": server.url, "default_model": "new", "auto_pull": True}
        provider = {"module": "provider-ollama", "config": config}
        session = AmplifierSession({**PLAN, "providers": [provider]})
        everything.observe(session.coordinator.hooks)
        async with session:
            await session.execute("Hi")
    seen.payloads[PROVIDER_PULL_PROGRESS] += everything.payloads[PROVIDER_PULL_PROGRESS]
