"""Images that are pasted into a line, from the clipboard or as a path."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import DummyOutput

sys.path.insert(0, str(Path(__file__).parent))
from pictures import PIXEL, write_picture

from amplifier_app.attached import clipboard
from amplifier_app.attached.clipboard import ClipboardProblem, read_clipboard_image
from amplifier_app.attached.pasted_images import PastedImages
from amplifier_app.line_input.attachments import bind_attaching, find_path

PASTE, END_PASTE, CTRL_V = "\x1b[200~", "\x1b[201~", "\x16"


async def type_keys(*pieces: str) -> str:
    """Type into a prompt that takes images, and return its line."""
    keys = KeyBindings()
    bind_attaching(keys, PastedImages(), True)
    with create_pipe_input() as pipe:
        session: PromptSession[str] = PromptSession(
            input=pipe, output=DummyOutput(), key_bindings=keys
        )
        inserted = asyncio.Event()

        def note_inserted(_: object) -> None:
            inserted.set()

        session.default_buffer.on_text_changed += note_inserted
        typing = asyncio.ensure_future(session.prompt_async())
        for piece in pieces:
            pipe.send_text(piece)
            if piece == CTRL_V:
                await inserted.wait()
        pipe.send_text("\r")
        return await asyncio.wait_for(typing, 10)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Holds: command-83
async def test_a_pasted_path_of_an_image_is_attached(tmp_path: Path) -> None:
    path = write_picture(tmp_path / "my shot.png")
    (tmp_path / "text.png").write_text("no image")
    mark = "[image 1: 1x1]"
    escaped = str(path).replace(" ", "\\ ")
    for pasted in (str(path), f"'{path}'", f'"{path}" ', escaped, path.as_uri()):
        assert await type_keys("see ", PASTE + pasted + END_PASTE) == f"see {mark}"
    for pasted in (f"{path} and more", str(tmp_path / "text.png"), "one two", "shot.png"):
        assert await type_keys(PASTE + pasted + END_PASTE) == pasted


def test_only_an_existing_file_with_the_name_of_an_image_is_one(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    (tmp_path / "b.txt").touch()
    assert find_path(str(tmp_path / "a.png")) == tmp_path / "a.png"
    for text in (
        "",
        "a.png",
        str(tmp_path / "b.txt"),
        str(tmp_path / "c.png"),
        "it's.png",
        "\0.png",
    ):
        assert find_path(text) is None


class Programs:
    """The programs of a desktop, without their processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **output: bytes) -> None:
        self.commands: list[tuple[str, ...]] = []
        self._output = output
        monkeypatch.setattr(clipboard, "_run", self._run)
        monkeypatch.setattr(clipboard.shutil, "which", self._find)

    def _find(self, name: str) -> str | None:
        return name if any(name.startswith(key) for key in self._names()) else None

    def _names(self) -> list[str]:
        return [key.split("__")[0].replace("_", "-") for key in self._output]

    async def _run(self, *command: str) -> bytes:
        self.commands.append(command)
        is_list = command[-1] in ("--list-types", "TARGETS")
        name = command[0].removesuffix(".exe").replace("-", "_")
        return self._output.get(f"{name}__types" if is_list else name, b"")


DESKTOPS: list[tuple[str, Mapping[str, str], Mapping[str, bytes]]] = [
    ("linux", {"WAYLAND_DISPLAY": "w"}, {"wl_paste": PIXEL, "wl_paste__types": b"text/plain\nimage/png\n"}),
    ("linux", {"DISPLAY": ":0"}, {"xclip": PIXEL, "xclip__types": b"TARGETS\nimage/png\n"}),
    ("linux", {}, {"powershell": clipboard.base64.b64encode(PIXEL) + b"\r\n"}),
    ("darwin", {}, {"osascript": "«data PNGf".encode() + PIXEL.hex().encode() + "»".encode()}),
]  # fmt: skip


# Holds: command-83
@pytest.mark.parametrize(("system", "environment", "output"), DESKTOPS)
async def test_the_image_of_the_clipboard_comes_by_the_program_of_the_desktop(
    monkeypatch: pytest.MonkeyPatch, system: str, environment: Any, output: Any
) -> None:
    Programs(monkeypatch, **output)
    assert (await read_clipboard_image(environment, system)).content == PIXEL


@pytest.mark.parametrize(
    ("environment", "output", "said"),
    [
        ({"WAYLAND_DISPLAY": "w"}, {}, "images of the clipboard need `wl-paste`: install `wl-clipboard`"),
        ({"DISPLAY": ":0"}, {}, "images of the clipboard need `xclip`: install it"),
        ({}, {}, "there is no clipboard here: attach an image by its path, such as `@shot.png`"),
        ({"DISPLAY": ":0"}, {"xclip__types": b"text/plain"}, "the clipboard has no image"),
        ({}, {"powershell": b"?"}, "the clipboard has no image"),
    ],
)  # fmt: skip
async def test_without_an_image_a_line_says_why(
    monkeypatch: pytest.MonkeyPatch, environment: Any, output: Any, said: str
) -> None:
    Programs(monkeypatch, **output)
    with pytest.raises(ClipboardProblem) as problem:
        await read_clipboard_image(environment, "linux")
    assert str(problem.value) == said


async def test_ctrl_v_inserts_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    Programs(monkeypatch, xclip=PIXEL, xclip__types=b"image/png")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(clipboard.sys, "platform", "linux")
    assert await type_keys(CTRL_V) == "[image 1: 1x1]"


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script")
async def test_a_program_that_fails_or_is_missing_gives_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = clipboard._run  # pyright: ignore[reportPrivateUsage] -- what the others replace
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    assert await run("sh", "-c", "printf a; exit 0") == b"a"
    assert await run("sh", "-c", "printf a; exit 1") == b""
    assert await run("/missing") == b""
    assert b"secret" not in await run("env")
