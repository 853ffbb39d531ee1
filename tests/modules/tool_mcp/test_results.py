"""What a server answers is data: bounded, harmless on a terminal, and without secrets."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mounted_servers import Mount, Mounted

from amplifier_guard import Redactor

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
ENTRY = {"command": "answers"}
LIKE_A_KEY = "sk-ant-" + "api03-Zq7Lw2Vb9Xc4Nm1Kj8Hg5Fd3Sa6Po0Iu"


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def make_server(*answers: Any) -> Callable[[], MCPServer]:
    """A server with one tool, which answers so."""
    left = list(answers)
    server = MCPServer("answers")

    @server.tool(structured_output=False)
    def answer() -> CallToolResult:
        found = left.pop(0)
        if isinstance(found, str):
            found = [TextContent(text=found)]
        return found if isinstance(found, CallToolResult) else CallToolResult(content=found)

    return lambda: server


Answer = Callable[..., Any]


@pytest.fixture
def open_server(mount: Mount, in_process: dict[str, Any]) -> Callable[..., Any]:
    """Mount a server that answers so."""

    async def open_server(*answers: Any, **settings: Any) -> Mounted:
        in_process["answers"] = make_server(*answers)
        entry = {**ENTRY, **settings.pop("entry", {})}
        mounted = await mount({"x": entry}, **settings)
        await mounted.settle()
        return mounted

    return open_server


# Holds: mcp-11
@pytest.mark.parametrize(
    ("content", "data", "expected"),
    [
        (["one", "two"], None, "one\ntwo"),
        (['{"a": 1}'], {"a": 1}, {"a": 1}),
        (["plain"], {"result": "plain"}, "plain"),
        (["1", "2"], {"result": [1, 2]}, {"result": [1, 2]}),
        (["See the data."], {"a": 1}, 'See the data.\n{"a": 1}'),
        ([], {"a": None}, {"a": None}),
    ],
)
async def test_texts_and_data_are_not_said_twice(
    open_server: Answer, content: list[str], data: Any, expected: Any
) -> None:
    blocks: list[Any] = [TextContent(text=each) for each in content]
    mounted = await open_server(CallToolResult(content=blocks, structured_content=data))

    assert await mounted.run("x__answer") == expected


# Holds: mcp-11
async def test_images_are_shown_by_what_they_are(open_server: Answer) -> None:
    image = ImageContent(data=encode(PNG), mime_type="image/webp")
    unknown = ImageContent(data=encode(b"BM"), mime_type="image/bmp")
    broken = ImageContent(data="?", mime_type="image/png")
    mounted = await open_server([TextContent(text="here:"), image, unknown, broken])

    source = {"type": "base64", "media_type": "image/png", "data": encode(PNG)}
    text = (
        "here:\n[image of type `image/bmp` with 2 bytes is left out: no model is shown it]\n"
        "[image is left out: its data is no base64]"
    )
    assert await mounted.run("x__answer") == [
        {"type": "text", "text": text},
        {"type": "image", "source": source},
    ]


# Holds: mcp-11
async def test_resources_and_sounds_are_named(open_server: Answer) -> None:
    text = TextResourceContents(uri="note://1", text="hello")
    blob = BlobResourceContents(uri="blob://1", blob=encode(b"\0\1"), mime_type="x/y")
    mounted = await open_server(
        [
            EmbeddedResource(resource=text),
            EmbeddedResource(resource=blob),
            ResourceLink(name="two", uri="note://2", description="More."),
            AudioContent(data=encode(b"123"), mime_type="audio/wav"),
        ]
    )

    assert await mounted.run("x__answer") == (
        "[resource `note://1`]\nhello\n"
        "[resource `blob://1` of type `x/y` with 2 bytes is left out: no model is shown it]\n"
        "[resource `note://2`: two -- More.]\n"
        "[audio of type `audio/wav` with 3 bytes is left out: no model is shown it]"
    )


# Holds: mcp-11
async def test_a_tool_that_has_failed_is_a_failure(open_server: Answer) -> None:
    content: list[Any] = [TextContent(text="no such file")]
    mounted = await open_server(
        CallToolResult(content=content, is_error=True), CallToolResult(content=[], is_error=True)
    )

    assert await mounted.run("x__answer") == ("tool_failed", "no such file")
    assert await mounted.run("x__answer") == (
        "tool_failed",
        "the tool has failed, and does not say why",
    )


# Holds: mcp-12
async def test_what_is_too_long_is_put_aside_and_read_in_parts(open_server: Answer) -> None:
    whole = "".join(f"{number}ä\n" for number in range(2000))
    mounted = await open_server(whole, max_result_bytes=4096)
    shown: str = await mounted.run("x__answer")
    read, note = shown.rsplit("\n[", 1)
    assert len(shown.encode()) <= 4096
    assert note.startswith(
        f"{len(whole.encode()) - len(read.encode()):,} more bytes are put aside:"
    )

    while len(read) < len(whole):
        part: str = await mounted.run("mcp_resources", uri="put-aside:1", offset=len(read.encode()))
        assert len(part.encode()) <= 4096
        read += part.rsplit("\n[", 1)[0] if "more bytes: read on" in part else part
    assert read == whole
    assert await mounted.run("mcp_resources", uri="put-aside:2") == (
        "LookupError",
        "nothing is put aside as `put-aside:2`",
    )


# Holds: mcp-13
async def test_nothing_that_a_server_says_controls_a_terminal(open_server: Answer) -> None:
    mounted = await open_server("a\x1b[31mb\u202ec")

    assert await mounted.run("x__answer") == "a\\x1b[31mb\\u{202e}c"


# Holds: mcp-13
@pytest.mark.parametrize(
    ("redact", "expected"),
    [
        ("known", f"[REDACTED:secret] [REDACTED:secret] {LIKE_A_KEY}"),
        ("all", "[REDACTED:secret] [REDACTED:secret] [REDACTED:anthropic key]"),
        ("off", f"application-of-ours 7f3a99c1d0 {LIKE_A_KEY}"),
    ],
)
async def test_secrets_are_removed_as_the_settings_say(
    open_server: Answer, redact: str, expected: str
) -> None:
    said = f"application-of-ours 7f3a99c1d0 {LIKE_A_KEY}"
    entry = {"env": {"API_TOKEN": "7f3a99c1d0"}}
    mounted = await open_server(said, redact=redact, entry=entry)
    redactor = Redactor(["application-of-ours"])
    mounted.coordinator.register_capability("guard.redactor", redactor)

    assert await mounted.run("x__answer") == expected
