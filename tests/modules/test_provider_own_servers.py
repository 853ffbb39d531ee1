"""Which servers are the user's own, on this machine: nobody starts them while a call waits."""

from __future__ import annotations

import os
from errno import ECONNREFUSED, ECONNRESET

import pytest

from amplifier_providers.services import is_here
from amplifier_providers.wire.errors import unreachable_error
from amplifier_providers.wire.service import Service


@pytest.mark.parametrize(
    ("service", "url", "expected"),
    [
        ("ollama", "http://127.0.0.1:11434/api/chat", True),
        ("vllm", "http://localhost:8000/v1", True),
        ("lm-studio", "http://[::1]:1234/v1", True),
        ("llama-cpp", "http://127.8.9.1/v1", True),
        ("ollama", "http://10.0.0.2:11434", False),
        ("ollama", "https://ollama.com/api/chat", False),
        ("openai-chat", "http://localhost:8000/v1", False),
        ("anthropic", "http://127.0.0.1:1/v1", False),
    ],
)
def test_a_server_is_here(service: str, url: str, expected: bool) -> None:
    assert is_here(service, url) is expected


@pytest.mark.parametrize(
    ("name", "number", "was_reached", "retryable"),
    [
        ("ollama", ECONNREFUSED, False, False),
        ("ollama", ECONNREFUSED, True, True),
        ("ollama", ECONNRESET, False, True),
        ("openai", ECONNREFUSED, False, True),
    ],
)
def test_only_a_server_of_ones_own_that_does_not_run_is_not_asked_again(
    name: str, number: int, was_reached: bool, retryable: bool
) -> None:
    service = Service(name, name, "chat", "KEY", "ADDRESS")
    error = unreachable_error(
        service, "http://127.0.0.1:9/v1", os.strerror(number), model=None, was_reached=was_reached
    )
    assert error.retryable is retryable
