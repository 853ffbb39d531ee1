"""A small provider for the Messages API that shares nothing with ours: what the kit tests is no habit
of our own code. Its methods are small, so that a fault of one is a subclass of a few lines."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import httpx2
from tiny_history import History

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError, NetworkError, StreamError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall, Usage
from amplifier_core.models import ModelInfo, ProviderInfo

KINDS: dict[int, type[LLMError]] = {
    401: llm_errors.AuthenticationError,
    403: llm_errors.AccessDeniedError,
    404: llm_errors.NotFoundError,
    408: llm_errors.LLMTimeoutError,
    413: llm_errors.ContextLengthError,
    429: llm_errors.RateLimitError,
}
FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
MAX_RETRIES = 3


class Reading:
    """One answer while it comes."""

    def __init__(self) -> None:
        self.blocks: dict[int, dict[str, Any]] = {}
        self.arguments: dict[int, str] = {}
        self.stop_reason: str | None = None
        self.usage: dict[str, Any] = {}
        self.error: dict[str, Any] | None = None
        self.is_over = False
        self.is_shown = False


class TinyProvider:
    """A provider in two hundred lines."""

    name = "tiny"
    follows_redirects = False

    def __init__(self, base_url: str, key: str, hooks: Any) -> None:
        self.base_url, self.key, self.hooks = base_url, key, hooks
        self.client = self.new_client()

    def new_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.base_url,
            headers={"x-api-key": self.key, "anthropic-version": "2023-06-01"},
            follow_redirects=self.follows_redirects,
            timeout=30,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # to load the authorities takes long
        )

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id="tiny", display_name="Tiny")

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return response.tool_calls or []

    async def close(self) -> None:
        client, self.client = self.client, self.new_client()
        await client.aclose()

    async def list_models(self) -> list[ModelInfo]:
        found = await self.client.get("/v1/models", params={"limit": 1000})
        if not found.is_success:
            raise self.refusal(found.status_code, found.headers, found.content)
        return [self.model(entry) for entry in found.json()["data"]]

    def model(self, entry: dict[str, Any]) -> ModelInfo:
        return ModelInfo(
            id=entry["id"],
            display_name=entry["display_name"],
            context_window=entry["max_input_tokens"],
            max_output_tokens=entry["max_tokens"],
        )

    # One call: tries until there is an answer.

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        body, names = self.encode(request)
        about = {"provider": self.name, "model": body["model"]}
        await self.hooks.emit("llm:request", about)
        status = "error"
        try:
            response = await self.tries(body, names)
            status = "ok"
            return response
        finally:
            with anyio.CancelScope(shield=True):
                await self.hooks.emit("llm:response", {**about, "status": status})

    async def tries(self, body: dict[str, Any], names: dict[str, str]) -> ChatResponse:
        attempt = 0
        while True:
            reading = self.new_reading()
            try:
                await self.read(body, names, reading)
                return self.response(reading, names)
            except LLMError as error:
                attempt += 1
                if not self.may_retry(error, reading) or attempt > MAX_RETRIES:
                    raise
                await anyio.sleep(self.wait(error, attempt))

    def new_reading(self) -> Reading:
        return Reading()

    def may_retry(self, error: LLMError, reading: Reading) -> bool:
        return error.retryable and not reading.is_shown

    def wait(self, error: LLMError, attempt: int) -> float:
        return max(error.retry_after or 0.0, 0.5 * 2**attempt)

    def encode(self, request: ChatRequest) -> tuple[dict[str, Any], dict[str, str]]:
        history = self.new_history()
        for message in request.messages:
            history.add(message.model_dump())
        body: dict[str, Any] = {
            "model": "claude-sonnet-5",
            "max_tokens": 1000,
            "stream": True,
            "messages": history.turns(),
        }
        if history.system:
            body["system"] = "\n\n".join(history.system)
        if request.tools:
            body["tools"] = [
                {
                    "name": history.wire_name(tool.name),
                    "description": tool.description or "",
                    "input_schema": tool.parameters,
                }
                for tool in request.tools
            ]
        return body, {wire: name for name, wire in history.names.items()}

    def new_history(self) -> History:
        return History(self.name)

    # One request.

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        response = None
        try:
            request = self.client.build_request("POST", "/v1/messages", json=body)
            response = await self.client.send(request, stream=True)
            if not response.is_success:
                given = await response.aread()
                raise self.refusal(response.status_code, response.headers, given)
            self.check_type(response)
            await self.read_body(response, names, reading)
        except httpx2.HTTPError as error:
            if response is None:
                raise self.lost(error) from None
            raise self.cut_off() from None
        finally:
            if response is not None:
                await self.close_response(response)
        self.check_end(reading)

    async def close_response(self, response: httpx2.Response) -> None:
        with anyio.CancelScope(shield=True):
            await response.aclose()

    def check_type(self, response: httpx2.Response) -> None:
        kind = response.headers.get("content-type", "")
        if "text/event-stream" not in kind:
            raise llm_errors.ConfigurationError(f"the service answered with `{kind}`")

    async def read_body(
        self, response: httpx2.Response, names: dict[str, str], reading: Reading
    ) -> None:
        rest = b""
        pieces = response.aiter_bytes()
        try:
            async for piece in pieces:
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    await self.take_line(line, names, reading)
            await self.take_line(rest, names, reading)
        finally:
            await self.end_pieces(response, pieces)

    async def end_pieces(self, response: httpx2.Response, pieces: Any) -> None:
        # The generators of the client end where they see that the connection is closed.
        await self.close_response(response)
        try:
            async for _ in pieces:
                pass
        except (httpx2.HTTPError, httpx2.StreamError):
            pass

    async def take_line(self, line: bytes, names: dict[str, str], reading: Reading) -> None:
        if not line.startswith(b"data:"):
            return
        try:
            event = json.loads(line[5:])
        except ValueError:
            raise StreamError("an event of the stream is no JSON", provider=self.name) from None
        await self.take(event, names, reading)

    async def take(self, event: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        index = event.get("index", 0)
        match event["type"]:
            case "message_start":
                reading.usage.update(event["message"]["usage"])
            case "content_block_start":
                reading.blocks[index] = dict(event["content_block"])
                reading.arguments[index] = ""
                await self.show(reading, "start", index, metadata=None)
            case "content_block_delta":
                await self.take_delta(event["delta"], index, reading)
            case "content_block_stop":
                block = self.block(reading, index, names)
                await self.show(reading, "end", index, block=block)
            case "message_delta":
                reading.stop_reason = event["delta"]["stop_reason"]
                reading.usage.update(event["usage"])
            case "message_stop":
                reading.is_over = True
            case "error":
                self.take_error(event["error"], reading)
            case _:
                pass

    async def take_delta(self, delta: dict[str, Any], index: int, reading: Reading) -> None:
        block = reading.blocks[index]
        if delta["type"] == "input_json_delta":
            reading.arguments[index] += delta["partial_json"]
            return
        field = delta["type"].removesuffix("_delta")
        block[field] = block.get(field, "") + delta[field]
        if field != "signature":
            await self.show(reading, "delta", index, delta=delta[field])

    def take_error(self, error: dict[str, Any], reading: Reading) -> None:
        reading.error = error

    async def show(self, reading: Reading, what: str, index: int, **data: Any) -> None:
        reading.is_shown = True
        kind = reading.blocks[index]["type"].replace("tool_use", "tool_call")
        place = {"block_type": kind, "block_index": index}
        await self.hooks.emit(f"content_block:{what}", {**place, **data})

    def check_end(self, reading: Reading) -> None:
        if reading.error is not None:
            text = self.clean(str(reading.error.get("message")))
            raise llm_errors.ProviderUnavailableError(text, provider=self.name)
        if not reading.is_over:
            raise self.cut_off()

    # What comes of it.

    def response(self, reading: Reading, names: dict[str, str]) -> ChatResponse:
        content = [self.block(reading, index, names) for index in sorted(reading.blocks)]
        calls = [
            {"id": block["id"], "name": block["name"], "arguments": block["input"]}
            | ({"error": block["error"]} if "error" in block else {})
            for block in content
            if block["type"] == "tool_call"
        ]
        return ChatResponse.model_validate(
            {
                "content": content,
                "tool_calls": calls or None,
                "usage": self.usage(reading.usage),
                "finish_reason": FINISH.get(reading.stop_reason or "", "other"),
                "metadata": {"provider": self.name, "content_blocks_emitted": True},
            }
        )

    def block(self, reading: Reading, index: int, names: dict[str, str]) -> dict[str, Any]:
        block = reading.blocks[index]
        if block["type"] != "tool_use":
            return dict(block)
        called = {"type": "tool_call", "id": block["id"], "name": self.named(block["name"], names)}
        try:
            return {**called, "input": json.loads(reading.arguments[index] or "{}")}
        except ValueError:
            return self.broken_call(called, reading.arguments[index])

    def broken_call(self, called: dict[str, Any], arguments: str) -> dict[str, Any]:
        del arguments
        return {**called, "input": {}, "error": "the arguments are no JSON"}

    def named(self, wire: str, names: dict[str, str]) -> str:
        return names.get(wire, wire)

    def usage(self, counted: Mapping[str, Any]) -> Usage:
        read = counted.get("cache_read_input_tokens", 0)
        written = counted.get("cache_creation_input_tokens", 0)
        entered = counted.get("input_tokens", 0) + read + written
        produced = counted.get("output_tokens", 0)
        return Usage(
            input_tokens=entered,
            output_tokens=produced,
            total_tokens=entered + produced,
            reasoning_tokens=counted.get("output_tokens_details", {}).get("thinking_tokens"),
            cache_read_tokens=read,
            cache_write_tokens=written,
        )

    # Errors.

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> LLMError:
        usual = llm_errors.ProviderUnavailableError if status >= 500 else None
        if 300 <= status < 400:
            usual = llm_errors.ConfigurationError
        kind = KINDS.get(status) or usual or llm_errors.InvalidRequestError
        return kind(
            self.clean(f"HTTP {status}: {body.decode(errors='replace')[:200]}"),
            provider=self.name,
            status_code=status,
            retry_after=self.retry_after(headers.get("retry-after", "")),
        )

    def retry_after(self, text: str) -> float | None:
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return float(text)
        try:
            return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
        except ValueError:
            return None

    def lost(self, error: Exception) -> LLMError:
        return NetworkError(f"no connection: {type(error).__name__}", provider=self.name)

    def cut_off(self) -> LLMError:
        return StreamError("the answer was cut off", provider=self.name)

    def clean(self, text: str) -> str:
        return text.replace(self.key, "[key]")
