"""Sessions that emit the events of providers over the Responses API."""

from __future__ import annotations

from event_sessions import PLAN, Payload, Seen

from amplifier_core import AmplifierSession
from amplifier_providers.responses.provider import EVENTS
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer


def _response(status: str, response_id: str = "resp_1") -> Payload:
    part = {"type": "output_text", "text": "Hello.", "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": status}
    details = {"incomplete_details": {"reason": "max_output_tokens"}}
    return {
        "id": response_id,
        "object": "response",
        "status": status,
        "model": "gpt-5.5",
        "output": [{**item, "content": [part]}] if status in {"completed", "incomplete"} else [],
        **(details if status == "incomplete" else {}),
    }


async def of_responses(seen: Seen) -> None:
    """Answers that are cut, made in the background, or go on with one that is lost.

    The blocks of each API have keys of their own, so only the events of these providers count.
    """
    lost = {"code": "previous_response_not_found", "message": "Previous response not found."}
    sessions: list[tuple[Payload, list[tuple[int, Payload]]]] = [
        ({}, [(200, _response("incomplete")), (200, _response("completed"))] * 2),
        (
            {"background": True, "poll_interval": 0.001},
            [(200, _response("queued")), (200, _response("completed"))] * 2,
        ),
        (
            {"enable_state": True},
            [
                (200, _response("completed")),
                (400, {"error": {**lost, "type": "invalid_request_error"}}),
                (200, _response("completed", "resp_2")),
            ],
        ),
    ]
    everything = Seen()
    for settings, replies in sessions:
        with RecordingServer() as server:
            server.replies += [Reply.json(body, status) for status, body in replies]
            config = {"api_key": "key", "base_url": server.url, "use_streaming": False}
            provider = {"module": "provider-openai", "config": {**config, **settings}}
            session = AmplifierSession({**PLAN, "providers": [provider]})
            everything.observe(session.coordinator.hooks)
            async with session:
                await session.execute("Hi")
                await session.execute("Again")
    for event in EVENTS:
        seen.payloads[event] += everything.payloads[event]
