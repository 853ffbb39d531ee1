"""A prompt may be a list of blocks: text, images and documents."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core import HookResult
from amplifier_core.message_models import ImageBlock, TextBlock, UnknownBlock
from amplifier_modules.tools.filesystem.image_file import MAX_IMAGE_BYTES

sys.path.insert(0, str(Path(__file__).parent))
from stored_elsewhere import IMAGE, SIDES

TEXT = {"type": "text", "text": "What is this?"}
BLOCKS = [TEXT, IMAGE]
SOURCE: dict[str, Any] = dict(IMAGE["source"])  # type: ignore[arg-type]
PIXEL: str = SOURCE["data"]
WIRES = ("anthropic", "openai", "azure-openai", "openai-chat", "ollama")

TOO_LARGE = (
    "the image in block 0 of `prompt` has 3,932,161 bytes; an image may have 3,932,160 (make it"
    " smaller first)"
)


def find_content(result: Any, position: int = 0) -> Any:
    return result.messages[position]["content"]


# Holds: agent-81
@pytest.mark.parametrize("name", WIRES)
async def test_an_image_arrives_also_when_the_stored_session_goes_on(
    name: str, tmp_path: Path
) -> None:
    side = SIDES[name]
    with side.serve() as server:
        server.answers = ["A pixel.", "Grey."]
        provider = {"module": side.module, "config": side.configure(server)}
        store = {"module": "store-sqlite", "config": {"folder": str(tmp_path)}}
        agent = Agent(plan={"providers": [provider]}, store=store)
        async with agent.session(session_id="chat") as session:
            first = await session.run(BLOCKS)
        async with agent.session(session_id="chat") as session:
            second = await session.run("Which colour?")
        asked = [each.body for each in server.requests if each.method == "POST"]
        assert (first.text, second.text, server.refusals) == ("A pixel.", "Grey.", [])
        assert [json.dumps(body).count(PIXEL) for body in asked[-2:]] == [1, 1]
        assert find_content(second) == BLOCKS


# Holds: agent-81
async def test_models_and_dictionaries_in_other_forms_mean_the_same() -> None:
    url = f"data:image/png;base64,{PIXEL}"
    ours = [TextBlock(text="What is this?"), ImageBlock(source=SOURCE)]
    others = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": url},
    ]
    for prompt in (ours, others, tuple(BLOCKS)):
        model = ScriptedProvider(["A pixel."])
        assert find_content(await Agent(model).run(prompt)) == BLOCKS


async def test_a_stream_and_a_document_are_taken_too() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "once"}
    document = UnknownBlock.model_validate({"type": "document", "source": source, "title": "a.txt"})
    async with Agent(ScriptedProvider(["Read."])).stream([document]) as stream:
        async for _ in stream:
            pass
    assert find_content(stream.result) == [{"type": "document", "source": source, "title": "a.txt"}]


# Holds: agent-82
async def test_hooks_read_the_text_and_what_they_change_replaces_it() -> None:
    read: list[str] = []

    @hook("prompt:submit")
    def change(event: str, data: dict[str, Any]) -> HookResult:
        del event
        read.append(data["prompt"])
        return HookResult(action="modify", data={"prompt": "What is [REDACTED]?"})

    result = await Agent(ScriptedProvider(["A pixel."]), hooks=[change]).run(BLOCKS)
    assert read == ["What is this?\n\n[image: image/png]"]
    assert find_content(result) == [{"type": "text", "text": "What is [REDACTED]?"}, IMAGE]


# Holds: agent-82
async def test_the_limit_of_a_prompt_counts_its_text_and_not_its_images() -> None:
    guard = {"module": "hooks-guard", "config": {"message_max_chars": 50}}
    taken = await Agent(ScriptedProvider(["A pixel."]), hooks=[guard]).run(BLOCKS)
    refused = await Agent(ScriptedProvider([]), hooks=[guard]).run([{**TEXT, "text": "a" * 51}])
    assert len(PIXEL) > 50
    assert (taken.status, refused.status) == ("completed", "denied")


class PlainLoop:
    """A loop of somebody else, which knows only text."""

    name = "plain"

    async def execute(self, prompt: str, context: Any, **_: Any) -> str:
        await context.add_message({"role": "user", "content": prompt})
        return prompt


# Holds: agent-82
async def test_a_loop_of_others_gets_the_text(caplog: pytest.LogCaptureFixture) -> None:
    loop: Any = PlainLoop()
    result = await Agent(ScriptedProvider([]), loop=loop).run(BLOCKS)
    assert find_content(result) == "What is this?\n\n[image: image/png]"
    assert "the loop `plain` takes text only" in caplog.text


async def test_the_blocks_are_of_one_turn() -> None:
    async with Agent(ScriptedProvider(["A pixel.", "Bye."])).session() as session:
        await session.run(BLOCKS)
        result = await session.run("Bye")
    assert [find_content(result, at) for at in (0, 2)] == [BLOCKS, "Bye"]


def image(data: str, media_type: Any = "image/png") -> list[dict[str, Any]]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return [{"type": "image", "source": source}]


WRONG: list[tuple[Any, type[Exception], str]] = [
    (3, TypeError, "`prompt` is a `int` (must be text or a list of blocks)"),
    (TEXT, TypeError, "`prompt` is a `dict` (must be text or a list of blocks)"),
    ([3], TypeError, "block 0 of `prompt` is a `int` (must be a mapping)"),
    ([{"type": "text"}], TypeError, "`text` of block 0 of `prompt` must be text"),
    ([TEXT, {"type": "image"}], TypeError, "`source` of block 1 of `prompt` must be a mapping"),
    ([], ValueError, "`prompt` has no block with a text, an image or a document"),
    (
        [{"type": "tool_call", "id": "1", "name": "a", "input": {}}],
        ValueError,
        "block 0 of `prompt` has the type `tool_call` (must be `text`, `image` or `document`)",
    ),
    (image("!"), ValueError, "the data of the image in block 0 of `prompt` is not base64"),
    (image(""), ValueError, "the image in block 0 of `prompt` is empty"),
    (image(PIXEL, 3), TypeError, "`media_type` of the image in block 0 of `prompt` must be text"),
    (
        image(base64.b64encode(bytes(MAX_IMAGE_BYTES + 1)).decode()),
        ValueError,
        TOO_LARGE,
    ),
]


# Holds: agent-81
@pytest.mark.parametrize(("prompt", "kind", "said"), WRONG)
async def test_a_wrong_block_is_refused_before_anything_is_asked(
    prompt: Any, kind: type[Exception], said: str
) -> None:
    model = ScriptedProvider(["never"])
    with pytest.raises(kind) as refusal:
        await Agent(model).run(prompt)
    assert (str(refusal.value), model.requests) == (said, [])
