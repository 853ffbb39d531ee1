"""Who wrote the messages of random conversations: models of all providers, in the words of each.

The strict servers sign with one secret, so that what is written here is theirs in each run.
"""

from __future__ import annotations

from typing import Any

from conversations import Writer

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    OllamaServer,
    ResponsesServer,
)

SECRET = b"equal in each run"
ANTHROPIC = AnthropicServer(secret=SECRET)
RESPONSES = ResponsesServer(secret=SECRET)
OLLAMA = OllamaServer()
CHAT = {
    name: ChatServer(preset=name, secret=SECRET)
    for name in ("openai", "mistral", "deepseek", "deepseek-reasoner", "openrouter", "template")
}

CLAUDES = (
    "claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-6", "claude-sonnet-5-5",
    "claude-opus-4-1", "claude-3-5-haiku-latest",
)  # fmt: skip
GPTS = ("gpt-5.5", "gpt-5", "gpt-5-mini-2025-08-07", "gpt-4.1", "o3-mini", "o4-mini", "gpt-4o")


def _signed(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": ANTHROPIC.sign(text)}


def _hidden(text: str) -> dict[str, Any]:
    return {"type": "redacted_thinking", "data": ANTHROPIC.redact(text)}


def _reasoned(text: str) -> dict[str, Any]:
    item = {
        "type": "reasoning",
        "id": f"rs_{text}",
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": RESPONSES.encrypt(f"rs_{text}", text),
        "status": None,
    }
    return {"type": "thinking", "thinking": text, "item": item}


def _led_to_a_message(text: str) -> dict[str, Any]:
    return {**_reasoned(text), "led_to": "message"}


def _foreign(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "of another service"}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text}


def _detailed(text: str) -> dict[str, Any]:
    signature = CHAT["openrouter"].sign(text)
    detail = {"type": "reasoning.text", "text": text, "signature": signature, "index": 0}
    return {"type": "thinking", "thinking": text, "reasoning_details": [detail]}


_SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {"query": "a"},
}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "a"},
}
SAID = {
    "type": "text",
    "text": "Said.",
    "item": {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "Said.", "annotations": [], "logprobs": []},
        ],
    },
}
CALLED = {
    "type": "tool_call",
    "id": "call_9",
    "name": "look",
    "input": {"at": "a"},
    "item": {
        "type": "function_call",
        "id": "fc_9",
        "call_id": "call_9",
        "name": "look",
        "arguments": '{"at": "a"}',
        "status": "completed",
    },
}
_DECLINED = {"type": "text", "refusal": "No."}

OF_ANTHROPIC = (
    Writer("anthropic", CLAUDES[0], _signed, (_SEARCH, _FOUND)),
    Writer("anthropic", CLAUDES[3], _hidden),
    Writer(None, CLAUDES[0], _signed),
)
OF_OPENAI = (
    Writer("openai", GPTS[0], _reasoned, (SEARCH, SAID)),
    Writer("openai", GPTS[5], _led_to_a_message, (SAID, CALLED)),
    Writer(None, GPTS[0], _reasoned),
    Writer("azure-openai", GPTS[0], _reasoned, (SEARCH, SAID, CALLED)),
)
OF_SERVICES = {
    "openai-chat": Writer("openai-chat", "gpt-4o", _plain, (_DECLINED,)),
    "openrouter": Writer("openrouter", "anthropic/claude-sonnet-4.5", _detailed),
    "deepseek": Writer("deepseek", "deepseek-v4", _plain),
    "mistral": Writer("mistral", "magistral", _plain),
    "groq": Writer("groq", "llama", _foreign),
    "vllm": Writer("vllm", "qwen", _plain),
    "ollama": Writer("ollama", "qwen3-vl:8b", _plain),
}
EVERYBODY = (*OF_ANTHROPIC, *OF_OPENAI, *OF_SERVICES.values())


def mostly(*own: Writer) -> tuple[Writer, ...]:
    """Everybody, half of them these."""
    return (*own * (len(EVERYBODY) // len(own)), *EVERYBODY)
