"""Images without a source, or in a form that no service reads, become text."""

from __future__ import annotations

from typing import Any

import pytest
from test_histories_anthropic import refusal as of_anthropic
from test_histories_chat import refusal as of_chat
from test_histories_ollama import refusal as of_ollama
from test_histories_responses import refusal as of_openai

TIFF = {"type": "base64", "media_type": "image/tiff", "data": "!"}


@pytest.mark.parametrize("image", [{"type": "image"}, {"type": "image", "source": TIFF}])
def test_an_image_that_cannot_be_read_is_not_sent(image: dict[str, Any]) -> None:
    call = {"id": "1", "tool": "look", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "1", "output": [image]}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": [image, {"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": [], "tool_calls": [call]},
        {"role": "user", "content": [result]},
    ]
    assert of_anthropic(history, {}, model="claude-sonnet-4-5") is None
    assert of_openai(history, {}, model="gpt-5.5") is None
    assert of_chat("openai-chat", history, {}) is None
    assert of_ollama("native", history, {}, model="qwen3-vl:8b") is None
