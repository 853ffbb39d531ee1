"""`read_file` of an image: the model sees it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools.filesystem import ReadFile
from amplifier_modules.tools.filesystem.image_file import MAX_IMAGE_BYTES

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
IMAGES = {
    "image/png": PIXEL,
    "image/jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(20),
    "image/gif": b"GIF89a" + bytes(20),
    "image/webp": b"RIFF\x1a\0\0\0WEBPVP8L" + bytes(20),
}


async def read(folder: Path, content: bytes) -> ToolResult:
    (folder / "a.txt").write_bytes(content)
    return await ReadFile(PathPolicy(folder)).execute({"path": "a.txt"})


# Holds: sink-71
@pytest.mark.parametrize("media_type", IMAGES)
async def test_an_image_is_known_by_its_first_bytes(tmp_path: Path, media_type: str) -> None:
    content = IMAGES[media_type]
    output = {"path": "a.txt", "bytes": len(content), "media_type": media_type}
    data = base64.b64encode(content).decode()
    assert await read(tmp_path, content) == ToolResult(
        output=output,
        content=[
            TextBlock(text=json.dumps(output)),
            ImageBlock(source={"type": "base64", "media_type": media_type, "data": data}),
        ],
    )


@pytest.mark.parametrize("content", [b"GIF8", b"RIFF\0\0\0\0WAVE", b"\x89PNG", b"", b"JFIF"])
async def test_other_files_are_read_as_text(tmp_path: Path, content: bytes) -> None:
    result = await read(tmp_path, content)
    assert result.content is None
    assert result.success is (b"\0" not in content)


async def test_an_image_that_is_too_large_says_so(tmp_path: Path) -> None:
    at_most = await read(tmp_path, PIXEL.ljust(MAX_IMAGE_BYTES, b"\0"))
    assert at_most.success
    too_large = await read(tmp_path, PIXEL.ljust(MAX_IMAGE_BYTES + 9, b"\0"))
    assert too_large.error == {
        "message": (
            "`a.txt` has 3,932,169 bytes; an image may have 3,932,160 (make it smaller first)"
        ),
        "type": "ImageTooLargeError",
    }


# Holds: sink-71
async def test_the_model_sees_the_image_and_hooks_hear_of_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(PIXEL)
    heard: list[Any] = []

    @hook("artifact:read", "tool:post")
    def note(_event: str, data: dict[str, Any]) -> None:
        heard.append(
            data.get("result") or {key: data[key] for key in ("path", "bytes", "media_type")}
        )

    call = {"tool": "read_file", "arguments": {"path": "a"}}
    model = ScriptedProvider([call, "A pixel."])
    agent = Agent(model, tools=["tool-filesystem"], directory=tmp_path, hooks=[note])
    await agent.run("look")

    output = {"path": "a", "bytes": len(PIXEL), "media_type": "image/png"}
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PIXEL).decode()}
    assert model.requests[-1].messages[-1].content == [
        TextBlock(text=json.dumps(output)),
        ImageBlock(source=source),
    ]
    assert heard[0] == output
    assert source["data"] not in str(heard[1])
