"""`provider-anthropic` against servers that answer well, badly, in pieces or not at all."""

from __future__ import annotations

import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from amplifier_app.demo_model import DemoModel
from amplifier_core import ModuleCoordinator, llm_errors
from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_core.message_models import (
    ChatRequest,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    ToolSpec,
    Usage,
)
from amplifier_modules.providers import anthropic
from amplifier_modules.providers.anthropic import AnthropicProvider
from amplifier_modules.providers.anthropic_config import AnthropicConfig, read_config
from amplifier_modules.providers.anthropic_errors import api_error

KEY = "sk-ant-very-secret"
MODEL = "claude-sonnet-4-5"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}   \n\n".encode() for event in events
    )


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


START = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": [], "stop_reason": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1,
                  "cache_creation_input_tokens": 2},
    },
}  # fmt: skip
THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Hm é"},
    {"type": "thinking_delta", "thinking": "."},
    {"type": "signature_delta", "signature": "sig"},
)
TEXT = block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hello 😀"})
CALL = block(
    2,
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    {"type": "input_json_delta", "partial_json": ""},
    {"type": "input_json_delta", "partial_json": '{"at": "\\u'},
    {"type": "input_json_delta", "partial_json": '00e9"}'},
)
END = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 20}},
    },
    {"type": "message_stop"},
]
WHOLE = sse(START, {"type": "ping"}, *THINKING, *TEXT, *CALL, *END)


@dataclass
class Answer:
    """What a server sends for one request."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    chunk: int = 1_000_000
    """Bytes a piece; each is sent on its own."""
    ending: str = "complete"
    """`complete`, `cut` (the connection breaks), `hang` (nothing more comes)."""


class Server:
    """Answers each request with the next of its answers, and keeps what was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.hung_up = threading.Event()
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def stop(self) -> None:
        self._over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._converse, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            line = reader.readline().decode().strip()
            headers: dict[str, str] = {}
            while (header := reader.readline().decode().strip()) != "":
                name, _, value = header.partition(": ")
                headers[name.lower()] = value
            body = reader.read(int(headers.get("content-length", "0")))
            self.requests.append((line, headers, body))
            try:
                self._send(connection, self.answers.pop(0))
            except OSError:
                self.hung_up.set()

    def _send(self, connection: socket.socket, answer: Answer) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        connection.sendall(
            f"HTTP/1.1 {answer.status} X\r\nconnection: close\r\n"
            f"transfer-encoding: chunked\r\n{head}\r\n".encode()
        )
        for start in range(0, len(answer.body), answer.chunk):
            piece = answer.body[start : start + answer.chunk]
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        if answer.ending == "hang":
            while not self._over.is_set():
                connection.settimeout(0.05)
                try:
                    if connection.recv(1) == b"":
                        self.hung_up.set()
                        return
                except TimeoutError:
                    pass
        elif answer.ending == "complete":
            connection.sendall(b"0\r\n\r\n")


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


Events = list[tuple[str, dict[str, Any]]]


class Hooks:
    def __init__(self) -> None:
        self.events: Events = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
async def provider(server: Server, hooks: Hooks) -> Any:
    config = AnthropicConfig(api_key=KEY, base_url=server.url, default_model=MODEL, timeout=5)
    mounted = AnthropicProvider(config, hooks)
    yield mounted
    await mounted.close()


async def test_an_answer_is_the_same_however_its_bytes_are_cut(
    server: Server, provider: AnthropicProvider
) -> None:
    for chunk in (1, 7, 1_000_000):
        server.answers = [Answer(WHOLE, chunk=chunk)]

        response = await provider.complete(REQUEST)

        assert response.model_dump(exclude={"content_blocks"}, exclude_none=True) == {
            "content": [
                {"type": "thinking", "thinking": "Hm é.", "signature": "sig"},
                {"type": "text", "text": "Hello 😀"},
                {"type": "tool_call", "id": "toolu_1", "name": "look", "input": {"at": "é"}},
            ],
            "tool_calls": [{"id": "toolu_1", "name": "look", "arguments": {"at": "é"}}],
            "usage": {
                "input_tokens": 17,
                "output_tokens": 30,
                "total_tokens": 47,
                "reasoning_tokens": 20,
                "cache_read_tokens": 5,
                "cache_write_tokens": 2,
            },
            "finish_reason": "tool_use",
            "metadata": {
                "provider": "anthropic",
                "model": "claude-sonnet-4-5-20250929",
                "requested_model": MODEL,
                "response_id": "msg_1",
                "request_id": None,
                "stop_reason": "tool_use",
                "content_blocks_emitted": True,
            },
            "text": "Hello 😀",
        }


async def test_blocks_come_also_as_dataclasses_with_their_wire_form(
    server: Server, provider: AnthropicProvider
) -> None:
    redacted = block(0, {"type": "redacted_thinking", "data": "x"})
    server.answers = [Answer(WHOLE), Answer(sse(START, *redacted, *END))]

    thinking, text, call = (await provider.complete(REQUEST)).content_blocks  # pyright: ignore
    response = await provider.complete(REQUEST)

    assert thinking == ThinkingContent(
        text="Hm é.", raw={"type": "thinking", "thinking": "Hm é.", "signature": "sig"}
    )
    assert text == TextContent(text="Hello 😀", raw={"type": "text", "text": "Hello 😀"})
    assert isinstance(call, ToolCallContent)
    assert (call.id, call.name, call.arguments) == ("toolu_1", "look", {"at": "é"})
    assert response.content == [RedactedThinkingBlock(data="x")]


async def test_events_are_emitted_while_the_answer_arrives(
    server: Server, provider: AnthropicProvider, hooks: Hooks
) -> None:
    server.answers = [Answer(WHOLE, headers={"content-type": "text/event-stream; charset=utf-8"})]

    await provider.complete(REQUEST)

    names = [name for name, _ in hooks.events]
    assert names == [
        "llm:request",
        *("content_block:start", *["content_block:delta"] * 2, "content_block:end"),
        *("content_block:start", "content_block:delta", "content_block:end"),
        *("content_block:start", *["content_block:delta"] * 3, "content_block:end"),
        "llm:response",
    ]
    asked, answered = hooks.events[0][1], hooks.events[-1][1]
    assert asked == {
        "provider": "anthropic",
        "model": MODEL,
        "message_count": 1,
        "tool_count": 0,
        "max_tokens": 16_000,
        "thinking": {"type": "enabled", "budget_tokens": 8_192},
        "stream": True,
    }
    assert answered.pop("duration_ms") >= 0
    assert answered == {
        "provider": "anthropic",
        "model": "claude-sonnet-4-5-20250929",
        "status": "ok",
        "usage": {
            "input_tokens": 17,
            "output_tokens": 30,
            "cache_read_tokens": 5,
            "cache_write_tokens": 2,
            "reasoning_tokens": 20,
        },
    }
    delta = hooks.events[6][1]
    assert (delta["block_type"], delta["block_index"], delta["delta"]) == ("text", 1, "Hello 😀")


async def test_the_request_goes_to_the_right_place_with_the_right_headers(server: Server) -> None:
    for suffix, path in (("", ""), ("/", ""), ("/v1", ""), ("/proxy/v1/", "/proxy")):
        server.answers = [Answer(WHOLE)]
        config = read_config({"api_key": KEY, "base_url": server.url + suffix, "beta_headers": "a"})
        assert config is not None
        provider = AnthropicProvider(config)
        await provider.complete(REQUEST, model=MODEL)
        await provider.close()

        line, headers, body = server.requests.pop()
        assert line == f"POST {path}/v1/messages HTTP/1.1"
        assert headers["x-api-key"] == KEY
        assert headers["anthropic-version"] == "2023-06-01"
        assert headers["anthropic-beta"] == "a"
        assert headers["content-type"] == "application/json"
        assert json.loads(body)["messages"][0]["content"][0]["text"] == "hi"


async def test_a_call_that_cannot_run_says_why_and_has_no_arguments(
    server: Server, provider: AnthropicProvider
) -> None:
    broken = block(
        0,
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"at": 1, "at": 2}'},
    )
    server.answers = [Answer(sse(START, *broken, *END))]

    response = await provider.complete(REQUEST)

    (call,) = provider.parse_tool_calls(response)
    assert (call.id, call.name, call.arguments) == ("t", "look", {})
    assert "at" in call.error  # pyright: ignore[reportAttributeAccessIssue]
    (content,) = response.content
    assert isinstance(content, ToolCallBlock)
    assert content.input == {}


async def test_blocks_that_only_the_api_knows_are_kept_and_reported(
    server: Server, provider: AnthropicProvider
) -> None:
    unknown = {"type": "hologram", "depth": 3}
    server.answers = [Answer(sse(START, *block(0, unknown), *TEXT, *END))]

    response = await provider.complete(REQUEST)

    assert response.content == [TextBlock(text="Hello 😀")]
    assert response.metadata is not None
    assert response.metadata["unknown_blocks"] == [unknown]
    assert response.degradation is not None
    assert response.degradation.requested == "content blocks `hologram`"


def api_body(kind: str, message: str, **details: Any) -> bytes:
    error = {"type": kind, "message": message, **({"details": details} if details else {})}
    return json.dumps({"type": "error", "error": error, "request_id": "req_9"}).encode()


HTML = b"<html><head><style>p {}</style><title>502 Bad</title></head><body>\n<p>Gateway</p></html>"


@pytest.mark.parametrize(
    ("status", "headers", "body", "error_class", "parts"),
    [
        (
            401,
            {"request-id": "req_1"},
            api_body("authentication_error", f"invalid x-api-key {KEY}"),
            llm_errors.AuthenticationError,
            ("401 authentication_error", "invalid x-api-key ***", "`ANTHROPIC_API_KEY`", "req_1"),
        ),
        (403, {}, api_body("permission_error", "no"), llm_errors.AccessDeniedError, ("403", "req_9")),
        (402, {}, api_body("billing_error", "pay"), llm_errors.QuotaExceededError, ("billing",)),
        (404, {}, api_body("not_found_error", "model: x"), llm_errors.NotFoundError, ("model: x",)),
        (413, {}, api_body("request_too_large", "big"), llm_errors.ContextLengthError, ("413",)),
        (
            429,
            {"retry-after": "7"},
            api_body("rate_limit_error", "slow"),
            llm_errors.RateLimitError,
            ("429 rate_limit_error", "slow"),
        ),
        (
            429,
            {},
            api_body("rate_limit_error", "spent", error_code="enforced_spend_limit_reached"),
            llm_errors.QuotaExceededError,
            ("spent",),
        ),
        (
            529,
            {},
            api_body("overloaded_error", "Overloaded"),
            llm_errors.ProviderUnavailableError,
            ("529 overloaded_error", "try again"),
        ),
        (504, {}, api_body("timeout_error", "slow"), llm_errors.LLMTimeoutError, ("504",)),
        (500, {"content-type": "text/html"}, HTML, llm_errors.ProviderUnavailableError, ("502 Bad Gateway",)),
        (503, {}, b"", llm_errors.ProviderUnavailableError, ("503",)),
        (
            400,
            {},
            api_body("invalid_request_error", "messages.0: odd\x1b[2J\nline"),
            llm_errors.InvalidRequestError,
            ("400 invalid_request_error", "messages.0: odd [2J line"),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
            llm_errors.ContextLengthError,
            ("prompt is too long",),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "Output blocked by content filtering policy"),
            llm_errors.ContentFilterError,
            ("blocked",),
        ),
        (
            400,
            {},
            api_body("invalid_request_error", "Your credit balance is too low"),
            llm_errors.QuotaExceededError,
            ("billing",),
        ),
        (418, {}, b"teapot", llm_errors.InvalidRequestError, ("418", "teapot")),
    ],
)  # fmt: skip
async def test_an_error_status_is_the_fitting_error(
    server: Server,
    provider: AnthropicProvider,
    hooks: Hooks,
    status: int,
    headers: dict[str, str],
    body: bytes,
    error_class: type[LLMError],
    parts: tuple[str, ...],
) -> None:
    server.answers = [Answer(body, status, {"content-type": "application/json", **headers})]

    with pytest.raises(LLMError) as caught:
        await provider.complete(REQUEST)

    error = caught.value
    assert type(error) is error_class
    assert (error.provider, error.model, error.status_code) == ("anthropic", MODEL, status)
    assert error.retry_after == (7.0 if "retry-after" in headers else None)
    assert error.delay_multiplier == (10.0 if status == 529 else 1.0)
    retryable = status in {429, 500, 503, 504, 529}
    assert error.retryable == (retryable and error_class is not llm_errors.QuotaExceededError)
    for part in parts:
        assert part in str(error)
    assert "\n" not in str(error)
    name, payload = hooks.events[-1]
    assert name == "llm:response"
    assert payload["status"] == "error"
    assert payload["error"] == {"type": error_class.__name__, "msg": str(error)}


OVERLOAD = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


async def test_an_error_in_a_stream_counts_by_its_type(
    server: Server, provider: AnthropicProvider
) -> None:
    for ending in ("complete", "cut"):
        server.answers = [Answer(sse(START, *TEXT, OVERLOAD), ending=ending)]
        with pytest.raises(llm_errors.ProviderUnavailableError, match="529 overloaded") as caught:
            await provider.complete(REQUEST)
        assert caught.value.status_code == 529
        assert caught.value.retryable


@pytest.mark.parametrize("ending", ["complete", "cut"])
@pytest.mark.parametrize("body", [b"", sse(START), sse(START, *CALL), WHOLE[:-40]])
async def test_a_stream_that_stops_in_the_middle_is_an_error(
    server: Server, provider: AnthropicProvider, body: bytes, ending: str
) -> None:
    server.answers = [
        Answer(body, headers={"content-type": "text/event-stream", "request-id": "req_3"}, ending=ending)
    ]  # fmt: skip

    with pytest.raises(llm_errors.StreamError, match="stopped in the middle") as caught:
        await provider.complete(REQUEST)

    assert "no tool call of it was run" in str(caught.value)
    assert "req_3" in str(caught.value)
    assert caught.value.retryable


async def test_a_connection_that_breaks_after_the_end_breaks_nothing(
    server: Server, provider: AnthropicProvider
) -> None:
    server.answers = [Answer(WHOLE, ending="cut")]
    assert (await provider.complete(REQUEST)).finish_reason == "tool_use"


async def test_silence_is_a_timeout(server: Server, provider: AnthropicProvider) -> None:
    server.answers = [Answer(sse(START, *THINKING), ending="hang")]
    with pytest.raises(llm_errors.LLMTimeoutError, match=r"no further data .* within 0.2 s"):
        await provider.complete(REQUEST.model_copy(update={"timeout": 0.2}))


async def test_no_server_is_a_network_error_that_names_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    config = AnthropicConfig(api_key=KEY, base_url=f"http://user:password@127.0.0.1:{port}")
    provider = AnthropicProvider(config)
    for call in (provider.complete(REQUEST), provider.list_models()):
        with pytest.raises(llm_errors.NetworkError) as caught:
            await call
        assert f"cannot connect to `http://127.0.0.1:{port}/v1/m" in str(caught.value)
        assert "Connection refused; check `ANTHROPIC_BASE_URL`" in str(caught.value)
        assert "password" not in "".join(traceback.format_exception(caught.value))
    await provider.close()


async def test_a_redirect_is_not_followed(server: Server, provider: AnthropicProvider) -> None:
    server.answers = [Answer(status=307, headers={"location": "http://127.0.0.1:1/elsewhere"})]
    with pytest.raises(ConfigurationError, match=r"a redirect to `http://127.0.0.1:1/elsewhere`"):
        await provider.complete(REQUEST)
    assert len(server.requests) == 1


@pytest.mark.parametrize("headers", [{"content-type": "text/html"}, {}])
async def test_a_page_in_place_of_a_stream_is_a_wrong_address(
    server: Server, provider: AnthropicProvider, headers: dict[str, str]
) -> None:
    server.answers = [Answer(b"<html>log in</html>", headers=headers)]
    with pytest.raises(ConfigurationError, match="in place of an event stream"):
        await provider.complete(REQUEST)


async def test_the_key_is_in_no_error_and_no_repr(
    server: Server, provider: AnthropicProvider
) -> None:
    location = {"location": f"http://x/?key={KEY}"}
    server.answers = [
        Answer(api_body("api_error", KEY), 500, {"content-type": "application/json"}),
        Answer(b"", 302, location),
        Answer(b"", headers={"content-type": KEY}),
        Answer(sse({"type": "error", "error": {"type": "api_error", "message": KEY}})),
        Answer(sse(START), ending="cut"),
    ]
    shown = [repr(provider), str(provider.config), repr(provider.config), str(vars(provider))]
    for _ in range(len(server.answers)):
        with pytest.raises(LLMError) as caught:
            await provider.complete(REQUEST)
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
    assert all(KEY not in text for text in shown)


async def test_a_proxy_of_the_environment_is_not_asked_for_a_local_server(
    server: Server, provider: AnthropicProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.answers = [Answer(WHOLE)]
    assert (await provider.complete(REQUEST)).content


async def test_proxy_settings_that_cannot_work_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://127.0.0.1:1")
    provider = AnthropicProvider(AnthropicConfig(api_key=KEY))
    with pytest.raises(ConfigurationError, match=r"cannot set up connections: .*`HTTPS_PROXY`"):
        await provider.complete(REQUEST)


async def test_a_cancelled_call_hangs_up_and_the_next_one_works(
    server: Server, provider: AnthropicProvider, hooks: Hooks
) -> None:
    server.answers = [Answer(sse(START, *TEXT), ending="hang"), Answer(WHOLE)]
    async with anyio.create_task_group() as group:
        group.start_soon(provider.complete, REQUEST)
        while not any(name == "content_block:end" for name, _ in hooks.events):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()

    assert await anyio.to_thread.run_sync(server.hung_up.wait, 10)
    assert (await provider.complete(REQUEST)).finish_reason == "tool_use"


async def test_a_repaired_history_is_reported_once(
    server: Server, provider: AnthropicProvider, hooks: Hooks
) -> None:
    call = ToolCallBlock(id="1", name="look", input={})
    history = [REQUEST.messages[0], Message(role="assistant", content=[call])]
    server.answers = [Answer(WHOLE), Answer(WHOLE)]

    for _ in range(2):
        await provider.complete(ChatRequest(messages=history))

    reports = [data for name, data in hooks.events if name == "provider:tool_sequence_repaired"]
    assert reports == [{"provider": "anthropic", "repair_count": 1, "tool_call_ids": ["1"]}]


async def test_all_pages_of_models_are_listed(server: Server, provider: AnthropicProvider) -> None:
    pages: list[dict[str, Any]] = [
        {"data": [{"id": MODEL, "display_name": "Sonnet"}], "has_more": True, "last_id": MODEL},
        {"data": [{"id": "x", "max_input_tokens": 5, "max_tokens": 3}], "has_more": False},
    ]
    as_json = {"content-type": "application/json"}
    server.answers = [Answer(json.dumps(page).encode(), headers=as_json) for page in pages]

    models = await provider.list_models()

    assert [(m.id, m.display_name, m.context_window, m.max_output_tokens) for m in models] == [
        (MODEL, "Sonnet", 200_000, 64_000),
        ("x", "x", 5, 3),
    ]
    assert ["thinking" in model.capabilities for model in models] == [True, False]
    assert server.requests[1][0] == f"GET /v1/models?limit=1000&after_id={MODEL} HTTP/1.1"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": 1}', b"<html>", b'{"data": [1]}'])
async def test_a_list_of_models_that_is_none_is_an_error(
    server: Server, provider: AnthropicProvider, body: bytes
) -> None:
    server.answers = [Answer(body)]
    with pytest.raises(ConfigurationError, match="in place of a list of models"):
        await provider.list_models()


async def test_a_whole_turn_with_the_demo_model_is_replayed_as_it_was_signed() -> None:
    with DemoModel(pace=0) as demo:
        config = read_config(demo.provider_config())
        assert config is not None
        provider = AnthropicProvider(config)
        tools = [ToolSpec(name="glob", parameters={}), ToolSpec(name="grep", parameters={})]
        messages = [Message(role="user", content="Where is the kettle?")]
        for _ in range(3):
            response = await provider.complete(ChatRequest(messages=messages, tools=tools))
            messages.append(
                Message(role="assistant", content=response.content, metadata=response.metadata)
            )
            if not response.tool_calls:
                break
            messages += [
                Message(role="tool", tool_call_id=call.id, content="denied")
                for call in response.tool_calls
            ]
        await provider.close()

    assert response.finish_reason == "end_turn"
    assert isinstance(response.content[0], ThinkingBlock)
    assert "denied" in (response.text or "")  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(response.usage, Usage)


Mount = Callable[..., Any]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


async def test_without_a_key_nothing_is_mounted_and_a_warning_says_so(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    environment.setenv("ANTHROPIC_API_KEY", " ")
    coordinator = ModuleCoordinator()

    assert await anthropic.mount(coordinator) is None

    assert not coordinator.get("providers")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "`ANTHROPIC_API_KEY`" in record.message


async def test_the_environment_fills_what_the_config_leaves_open(
    server: Server, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("ANTHROPIC_API_KEY", KEY)
    environment.setenv("ANTHROPIC_BASE_URL", server.url)
    coordinator = ModuleCoordinator()

    close = await anthropic.mount(coordinator, {"priority": 3, "default_model": None})

    assert close is not None
    provider: AnthropicProvider = coordinator.get("providers")["anthropic"]
    assert (provider.name, provider.priority) == ("anthropic", 3)
    assert provider.config.default_model.startswith("claude-sonnet")
    server.answers = [Answer(WHOLE)]
    assert provider.parse_tool_calls(await provider.complete(REQUEST)) == [
        ToolCall(id="toolu_1", name="look", arguments={"at": "é"})
    ]
    info = provider.get_info()
    assert (info.id, info.credential_env_vars) == ("anthropic", ["ANTHROPIC_API_KEY"])
    assert info.defaults["context_window"] == 200_000
    await close()
    await close()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"api_key": 7}, "`api_key` must be a text, found int"),
        ({"api_key": "two words"}, "`api_key` holds characters"),
        ({"base_url": "api.example.org"}, "is not an address like `https://"),
        ({"base_url": "https://"}, "`ANTHROPIC_BASE_URL` is not an address"),
        ({"base_url": "http://127.0.0.1:99999"}, "`ANTHROPIC_BASE_URL` is not an address"),
        ({"base_url": "http://[::1"}, "`ANTHROPIC_BASE_URL` is not an address"),
        ({"base_url": "http://two words"}, "`ANTHROPIC_BASE_URL` is not an address"),
        ({"max_tokens": "9"}, "`max_tokens` must be a whole number, found str"),
        ({"max_tokens": 0}, "`max_tokens` is 0, but must be at least 1"),
        ({"timeout": float("inf")}, "`timeout` is inf"),
        ({"temperature": True}, "`temperature` must be a number, found bool"),
        ({"thinking_budget_tokens": -1}, "must be at least 0"),
        ({"beta_headers": 5}, "`beta_headers` must be a list of texts"),
        ({"beta_headers": [5]}, "`beta_headers` must be a text, found int"),
        ({"enable_prompt_caching": "yes"}, "must be true or false"),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_config({"api_key": KEY, **config}, {})
    assert named in str(caught.value)
    assert "two words" not in str(caught.value)


def test_an_unknown_setting_is_a_warning_with_a_suggestion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read_config({"api_key": KEY, "max_token": 5, "raw": True, "zzz": 1}, {}) is not None
    first, second = (record.message for record in caplog.records)
    assert "unknown config key `max_token` (did you mean `max_tokens`?)" in first
    assert "`zzz` (known: `" in second or "`zzz` (known: api_key" in second


def test_an_error_without_any_detail_still_says_something() -> None:
    error = api_error({}, model=None)
    assert type(error) is llm_errors.ProviderUnavailableError
    assert str(error).startswith("Anthropic API error (without a status)")
