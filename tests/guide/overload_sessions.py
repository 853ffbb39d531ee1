"""Sessions with a service that is busy, overloaded, or hidden behind a page for people."""

from __future__ import annotations

import anyio
from event_sessions import PLAN, Payload, Seen

from amplifier_core import AmplifierSession
from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.wire.events import (
    PROVIDER_CLOUDFLARE_CHALLENGE,
    PROVIDER_CONCURRENCY,
    PROVIDER_FALLBACK,
)
from amplifier_testing.servers import AnthropicServer, Fault


async def of_overload(seen: Seen) -> None:
    """Two calls at once where one may run, an overloaded model, and a challenge."""
    everything = Seen()
    faults = [Fault(pause=0.05), None, Fault(status=529), None]
    challenge = Fault(status=403, headers={"cf-mitigated": "challenge"})
    with AnthropicServer(faults=[*faults, challenge]) as server:
        config: Payload = {
            "api_key": "key", "base_url": server.url, "max_retries": 0, "default_model": "claude-opus-5",
            "max_concurrent_requests": 1, "fallback_on_overload": True, "fallback_cooldown": 0,
        }  # fmt: skip
        provider = {"module": "provider-anthropic", "config": config}
        session = AmplifierSession({**PLAN, "providers": [provider]})
        everything.observe(session.coordinator.hooks)
        async with session:
            mounted = session.coordinator.get("providers")["anthropic"]
            request = ChatRequest(messages=[Message(role="user", content="hi")])
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(mounted.complete, request)
            await session.execute("Hi")
            try:
                await mounted.complete(request)
            except ProviderUnavailableError:
                pass
            else:
                raise AssertionError("the challenge was no error")
    for event in (PROVIDER_CONCURRENCY, PROVIDER_FALLBACK, PROVIDER_CLOUDFLARE_CHALLENGE):
        seen.payloads[event] += everything.payloads[event]
