"""Strict servers of the four provider dialects, for the tests of providers.

A server listens on a loopback port that the system chooses. It judges each request by the rules of
the vendor and refuses what the vendor would refuse, with the vendor's error; what it accepts it
answers from a script, as a stream or as one body. It keeps what it was asked and what it refused,
and does wrong what it is asked to do wrong.

    import pytest

    from amplifier_testing.servers import Answer, AnthropicServer, Call, Fault, Thinking

    @pytest.fixture
    def server():
        with AnthropicServer() as running:
            yield running
            assert running.refusals == []

    async def test_a_call_and_its_result(server):
        server.answers = [
            Answer(Thinking("I need the file."), Call("read_file", {"path": "a.py"})),
            "It is empty.",
        ]
        server.faults = [Fault(status=429, headers={"retry-after": "0.01"})]
        text = await run_my_provider(base_url=server.url)
        assert text == "It is empty."
        assert len(server.requests) == 3

`judge` of each dialect is the judgement alone, without HTTP:

    from amplifier_testing.servers.anthropic import judge

    refusal = judge({"model": "claude-sonnet-5", "messages": []})
    assert refusal.message == "max_tokens: Field required"

A subclass of `ModelServer` with three methods is a server of a dialect of one's own.

A server is also a program: `python -m amplifier_testing.servers.anthropic` prints its base
address and serves until Ctrl+C.
"""

from __future__ import annotations

from .anthropic import AnthropicModel, AnthropicServer
from .chat import ChatServer, Preset
from .ollama import OllamaModel, OllamaServer
from .openai.models import OpenAIModel
from .responses import ResponsesServer
from .serving.answer import (
    Answer,
    Block,
    Call,
    Declined,
    Part,
    Recorded,
    RedactedThinking,
    Script,
    Text,
    Thinking,
    Usage,
)
from .serving.exchange import SeenRequest, Stream, Window, encode_event
from .serving.fault import Fault, http_date
from .serving.issued import Issued
from .serving.refusal import Refusal, ServiceErrors
from .serving.server import ModelServer

__all__ = [
    "Answer",
    "AnthropicModel",
    "AnthropicServer",
    "Block",
    "Call",
    "ChatServer",
    "Declined",
    "Fault",
    "Issued",
    "ModelServer",
    "OllamaModel",
    "OllamaServer",
    "OpenAIModel",
    "Part",
    "Preset",
    "Recorded",
    "RedactedThinking",
    "Refusal",
    "ResponsesServer",
    "Script",
    "SeenRequest",
    "ServiceErrors",
    "Stream",
    "Text",
    "Thinking",
    "Usage",
    "Window",
    "encode_event",
    "http_date",
]
