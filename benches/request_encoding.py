"""What a request of 5,000 messages costs to encode when one of them is new, against `orjson.dumps`.

Our side encodes what a loop hands over: models of messages, which are checked and repaired; what was
sent before is kept. `orjson` writes the finished body, which has to be built first.
"""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from typing import Any

from side_by_side import Figure, Times, run

COUNT = 5_000
ROUNDS = 40


def conversation() -> list[dict[str, Any]]:
    """Questions, calls, results and answers in the form that a context keeps."""
    messages: list[dict[str, Any]] = []
    for number in range(COUNT // 4):
        arguments = {"path": f"src/{number}.py", "limit": 100}
        call = {"type": "tool_call", "id": f"c{number}", "name": "read_file", "input": arguments}
        text = {"type": "text", "text": "I read it. " * 8}
        messages += [
            {"role": "user", "content": f"Question {number}: what does file {number} say? " * 3},
            {"role": "assistant", "content": [text, call]},
            {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": "def f():\n    return 1\n" * 20,
            },
            {"role": "assistant", "content": [{"type": "text", "text": "It returns one. " * 10}]},
        ]
    return messages


def body_of_messages(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The body for Anthropic Messages."""
    messages: list[dict[str, Any]] = []
    for message in history:
        content = message["content"]
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            content = [{"type": "tool_result", "tool_use_id": call_id, "content": content}]
        elif isinstance(content, str):
            content = [{"type": "text", "text": content}]
        else:
            content = [
                {**block, "type": "tool_use"} if block["type"] == "tool_call" else block
                for block in content
            ]
        messages.append({"role": message["role"].replace("tool", "user"), "content": content})
    return {"model": "bench", "max_tokens": 100, "messages": messages, "stream": True}


def body_of_responses(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The body for OpenAI Responses."""
    items: list[dict[str, Any]] = []
    for message in history:
        content = message["content"]
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            items.append({"type": "function_call_output", "call_id": call_id, "output": content})
        elif isinstance(content, str):
            part = {"type": "input_text", "text": content}
            items.append({"type": "message", "role": "user", "content": [part]})
        else:
            for block in content:
                if block["type"] == "text":
                    part = {"type": "output_text", "text": block["text"], "annotations": []}
                    items.append({"type": "message", "role": "assistant", "content": [part]})
                else:
                    arguments = json.dumps(block["input"])
                    call = {"call_id": block["id"], "name": block["name"], "arguments": arguments}
                    items.append({"type": "function_call", **call})
    return {"model": "bench", "input": items, "stream": True, "store": False}


def body_of_chat(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The body for Chat Completions."""
    messages: list[dict[str, Any]] = []
    for message in history:
        content = message["content"]
        if isinstance(content, list):
            texts = [block["text"] for block in content if block["type"] == "text"]
            calls = [
                {
                    "id": block["id"],
                    "type": "function",
                    "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
                }
                for block in content
                if block["type"] == "tool_call"
            ]
            more = {"tool_calls": calls} if calls else {}
            messages.append({"role": "assistant", "content": "".join(texts), **more})
        else:
            messages.append(message)
    return {"model": "bench", "messages": messages, "stream": True}


def body_of_ollama(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The body for Ollama's own API."""
    messages: list[dict[str, Any]] = []
    for message in history:
        content = message["content"]
        if message["role"] == "tool":
            messages.append({"role": "tool", "tool_name": "read_file", "content": content})
        elif isinstance(content, str):
            messages.append(message)
        else:
            texts = [block["text"] for block in content if block["type"] == "text"]
            calls = [
                {"function": {"name": block["name"], "arguments": block["input"]}}
                for block in content
                if block["type"] == "tool_call"
            ]
            more = {"tool_calls": calls} if calls else {}
            messages.append({"role": "assistant", "content": "".join(texts), **more})
    return {"model": "bench", "messages": messages, "stream": True}


BODIES = {
    "messages": body_of_messages,
    "responses": body_of_responses,
    "chat": body_of_chat,
    "ollama": body_of_ollama,
}


def new_message(number: int) -> dict[str, Any]:
    """The message that a request has more than the one before it."""
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": f"new {number}"}


def orjson_side() -> Times:
    """The time of writing the finished body."""
    import orjson

    times: Times = {}
    for dialect, build in BODIES.items():
        history = conversation()
        best = float("inf")
        for number in range(ROUNDS):
            history.append(new_message(number))
            body = build(history)
            started = time.process_time()
            orjson.dumps(body)
            best = min(best, time.process_time() - started)
        times[dialect] = best
    return times


def our_side() -> Times:
    """The time from the request to the bytes of its body."""
    from amplifier_core.message_models import ChatRequest, Message
    from amplifier_providers import anthropic, ollama, openai, openai_chat

    times: Times = {}
    modules = {
        "messages": anthropic, "responses": openai, "chat": openai_chat, "ollama": ollama,
    }  # fmt: skip
    for dialect, module in modules.items():
        encode = encoder(module)
        messages = [Message(**message) for message in conversation()]
        encode(ChatRequest(messages=messages))
        best = float("inf")
        for number in range(ROUNDS):
            messages.append(Message(**new_message(number)))
            request = ChatRequest(messages=messages)
            started = time.process_time()
            body = encode(request)
            best = min(best, time.process_time() - started)
        expected = len(json.dumps(BODIES[dialect](conversation()), separators=(",", ":")))
        if not 0.9 < len(body) / expected < 1.15:
            raise AssertionError(f"the body for {dialect} is not the one of the other side")
        times[dialect] = best
    return times


def encoder(module: Any) -> Any:
    """What turns a request into the body of a provider."""
    import asyncio

    class Place:
        hooks = None
        provider: Any = None

        async def mount(self, point: str, provider: Any, name: str | None = None) -> None:
            self.provider = provider

    place = Place()
    config = {"api_key": "none", "base_url": "http://127.0.0.1:9", "default_model": "bench"}
    asyncio.run(module.mount(place, config))
    return lambda request: place.provider.wire_format.encode(request, {}).to_bytes()


def measure() -> Times:
    """This side: orjson where the peers are installed, else ours."""
    return orjson_side() if find_spec("pydantic_ai") else our_side()


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "a request of 5,000 messages, one of them new",
        [Figure(f"orjson.dumps, {dialect}", dialect, share=1.3) for dialect in BODIES],
    )
