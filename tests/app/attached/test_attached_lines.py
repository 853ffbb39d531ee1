"""Lines of a conversation, and prompts of the command line, that attach files and images."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pictures import PIXEL, write_picture

from amplifier_app.attached.attaching import Attached
from amplifier_app.attached.files import read_image_file
from amplifier_app.attached.image import Image
from amplifier_app.attached.pasted_images import PastedImages
from amplifier_app.attached.unseen import are_images_unseen, has_image
from amplifier_app.commands.chat.chat import Chat
from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.model_choice import AnsweringProvider
from amplifier_app.commands.order import Order
from amplifier_app.commands.provider_choice import PROVIDERS, USUAL
from amplifier_app.commands.turn import Turn
from amplifier_app.line_input.lines import Typing
from amplifier_modules.tools.filesystem.image_file import make_image_block
from amplifier_testing.servers import ChatServer

BLOCK = make_image_block("image/png", PIXEL)
FILE = '<file path="a.py" characters="4" lines="1">\none\n</file>'


class ScriptedLines:
    """Lines that a script types, one after the other."""

    def __init__(self, script: Callable[[ScriptedLines], Awaitable[None]]) -> None:
        self.stdout, self.stderr = io.StringIO(), io.StringIO()
        self._script = script
        self._ended = asyncio.Semaphore(0)
        self._take: Callable[[str], None] = print

    async def run(self, typing: Typing) -> bool:
        self._take = typing.take
        await self._script(self)
        return True

    def type(self, line: str) -> None:
        self._take(line)

    def fold(self, text: str) -> str:
        return text

    async def end_turn(self) -> None:
        await asyncio.wait_for(self._ended.acquire(), 20)

    def show_prompt(self) -> None:
        self._ended.release()

    def suspend(self) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.py").write_text("one\n")
    write_picture(folder / "shot.png")
    return folder


async def converse(
    model: Any,
    folder: Path,
    script: Callable[[ScriptedLines], Awaitable[None]],
    images: PastedImages | None = None,
    attached: Sequence[Attached] = (),
) -> None:
    config = {"base_url": model.url, "api_key": "sk-ant-scripted"}
    order = Order("", folder, block_chars=600_000, attached=tuple(attached))
    lines: Any = ScriptedLines(script)
    commands = CommandTable(order.named)
    chat = Chat(order, AnsweringProvider(USUAL, config), lines, commands, images)
    assert await chat.run() == 0


def read_prompt(request: dict[str, Any]) -> list[Any]:
    """The last message of the user, as it is sent but for where a cache begins."""
    content = request["messages"][-1]["content"]
    return [
        {key: value for key, value in each.items() if key != "cache_control"} for each in content
    ]


# Holds: command-84
async def test_a_line_is_sent_with_what_it_attaches(model: Any, folder: Path, say: Any) -> None:
    say("One.", "Two.", "Three.")
    images = PastedImages()
    mark = images.add(Image("image/png", PIXEL))
    given = [Attached("given.png", read_image_file(str(folder / "shot.png")))]

    async def script(lines: ScriptedLines) -> None:
        for line in ("Hi", f"Compare @a.py with {mark}", "See @me and me@a.py"):
            lines.type(line)
            await lines.end_turn()

    await converse(model, folder, script, images, given)
    assert [read_prompt(request) for request in model.requests] == [
        [{"type": "text", "text": "Hi"}, BLOCK],
        [
            {"type": "text", "text": f"Compare @a.py with {mark}"},
            {"type": "text", "text": FILE},
            BLOCK,
        ],
        [{"type": "text", "text": "See @me and me@a.py"}],
    ]


# Holds: command-84
async def test_while_the_model_works_a_file_steers_and_an_image_waits(
    model: Any, folder: Path, say: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    hold = threading.Event()
    said = model.said({"type": "text", "text": "One moment"})
    first = model.reply(*said[:3], hold, *said[3:])
    say("Read.", "Seen.")

    async def script(lines: ScriptedLines) -> None:
        lines.type("Hi")
        assert await asyncio.to_thread(first.arrived.wait, 20)
        lines.type("Mind @a.py")
        lines.type("See @shot.png")
        hold.set()
        await lines.end_turn()
        await lines.end_turn()

    try:
        await converse(model, folder, script)
    finally:
        hold.set()
    assert [read_prompt(request) for request in model.requests[1:]] == [
        [{"type": "text", "text": f"Mind @a.py\n\n{FILE}"}],
        [{"type": "text", "text": "See @shot.png"}, BLOCK],
    ]
    assert "a line with an image waits until the turn is over" in capfd.readouterr().err


async def test_a_file_that_cannot_be_attached_is_a_line_and_no_turn(
    model: Any, folder: Path, say: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    say("Never.")
    (folder / "x.bin").write_bytes(b"\0")

    async def script(lines: ScriptedLines) -> None:
        for line in ("See @x.bin", "a" * 50_001):
            lines.type(line)
            await lines.end_turn()

    await converse(model, folder, script)
    written = capfd.readouterr().err
    assert "the file `x.bin` is neither text nor an image (PNG, JPEG, GIF, WebP)" in written
    assert "the line has 50,001 characters (at most 50,000)" in written
    assert model.requests == []


# Holds: command-84
async def test_a_line_says_that_a_model_sees_no_images(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from amplifier_app.commands.conversation import Conversation

    with ChatServer(["Read."], preset="template") as server:
        config = {"base_url": server.url, "api_key": "k", "default_model": "m"}
        answering = AnsweringProvider(PROVIDERS["deepseek"], config)
        order = Order("", folder, model="m", provider="deepseek")

        class Silent:
            failure = None

            def __getattr__(self, name: str) -> Any:
                return lambda *_, **__: None

        output: Any = Silent()
        conversation = Conversation(order, answering, output)
        prompt = [{"type": "text", "text": "See"}, BLOCK]
        outcome = await Turn(conversation, prompt, lambda _: None).end()
        await conversation.close()
    assert (outcome.status, outcome.text) == ("completed", "Read.")
    said = "the model sees no images: it was told that one was there"
    assert capfd.readouterr().err.count(said) == 1


def test_what_says_that_images_are_unseen() -> None:
    unseen = {"requested": "content blocks `document`, `image`"}
    assert are_images_unseen({"metadata": {"degradations": [{}, unseen]}})
    assert are_images_unseen({"degradation": unseen})
    for response in (None, {}, {"degradation": None}, {"degradation": {"requested": "thinking"}}):
        assert not are_images_unseen(response)
    assert has_image([BLOCK])
    assert not any(map(has_image, ("text", None, [{"type": "text", "text": "a"}])))


# Holds: command-82, command-84
def test_the_command_line_attaches_files_and_images_and_nothing_that_is_piped_in(
    keyed: Any, model: Any
) -> None:
    model.reply(*model.said({"type": "text", "text": "Done."}))
    (keyed.folder / "a.py").write_text("one\n")
    write_picture(keyed.folder.parent / "shot.png")
    outside = keyed.folder.parent / "outside.txt"
    outside.write_text("secret")
    prompt = f"Compare @a.py @{outside}"
    done = keyed("-i", str(keyed.folder.parent / "shot.png"), prompt, input=b"piped @a.py\n")
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    text, image, file = read_prompt(model.requests[0])
    assert text["text"].startswith(f"{prompt}\n\n<standard-input ")
    assert (image, file["text"]) == (BLOCK, FILE)
    assert f"`@{outside}` leads out of the folder: it stays text" in done.stderr
