"""A server as a program."""

from __future__ import annotations

import signal
import subprocess
import sys

import httpx2
import pytest

PACKAGE = "amplifier_testing.servers"
MESSAGE = {
    "model": "claude-sonnet-5",
    "max_tokens": 5,
    "messages": [{"role": "user", "content": "hi"}],
}


@pytest.mark.parametrize(
    ("dialect", "path", "headers", "body"),
    [
        ("anthropic", "/v1/messages", {"x-api-key": "k", "anthropic-version": "2023-06-01"},
         MESSAGE),
        ("responses", "/responses", {"authorization": "Bearer k"},
         {"model": "gpt-5", "input": "hi"}),
        ("chat", "/chat/completions", {"authorization": "Bearer k"},
         {"model": "gpt-5", "messages": MESSAGE["messages"]}),
        ("ollama", "/api/chat", {}, {"model": "qwen3:8b", "messages": MESSAGE["messages"]}),
    ],
)  # fmt: skip
def test_a_server_prints_its_address_and_serves_until_it_is_interrupted(
    dialect: str, path: str, headers: dict[str, str], body: dict[str, object]
) -> None:
    command = [sys.executable, "-W", "error", "-m", f"{PACKAGE}.{dialect}", "--answer", "By hand"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            response = httpx2.post(url + path, headers=headers, json=body)
        finally:
            process.send_signal(signal.SIGINT)

        assert response.status_code == 200
        assert "By hand" in response.text
        assert process.wait(10) == 0
