"""Images in the clipboard, by the programs that systems have for it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress

from amplifier_app.attached.image import Image, find_image

_SECONDS = 5.0
_MAX_BYTES = 32 * 1024**2
_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_OSASCRIPT = ("osascript", "-e", "get the clipboard as «class PNGf»")
_SCRIPT = (
    "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;"
    "$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;"
    "$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);[Convert]::ToBase64String($m.ToArray())}"
)
_POWERSHELL = (
    "powershell.exe",
    "-NoProfile",
    "-NonInteractive",
    "-STA",
    "-Command",
    _SCRIPT,
)
_OF_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "WSL*")
"""The variables by which the programs find the clipboard."""
_OF_MAC = re.compile(rb"data PNGf([0-9A-Fa-f]+)")


class ClipboardProblem(Exception):
    """There is no image to be had; the text says why."""


async def read_clipboard_image(environment: Mapping[str, str], system: str = sys.platform) -> Image:
    """Return the image in the clipboard.

    Args:
        environment: The environment variables, which say what kind of desktop this is.
        system: The system, as `sys.platform` names it.

    Raises:
        ClipboardProblem: There is none, or no program that reads it.
    """
    content = await _read(environment, system)
    try:
        image = find_image(content, "the clipboard")
    except ValueError as error:
        raise ClipboardProblem(str(error)) from None
    if image is None:
        raise ClipboardProblem("the clipboard has no image")
    return image


async def _read(environment: Mapping[str, str], system: str) -> bytes:
    if system == "darwin":
        found = _OF_MAC.search(await _run(*_OSASCRIPT))
        return bytes.fromhex(found[1].decode()) if found else b""
    if environment.get("WAYLAND_DISPLAY") and shutil.which("wl-paste"):
        kind = _choose_type(await _run("wl-paste", "--list-types"))
        return await _run("wl-paste", "--no-newline", "--type", kind) if kind else b""
    if environment.get("DISPLAY") and shutil.which("xclip"):
        select = ("xclip", "-selection", "clipboard", "-out", "-target")
        kind = _choose_type(await _run(*select, "TARGETS"))
        return await _run(*select, kind) if kind else b""
    if shutil.which(_POWERSHELL[0]):
        with suppress(binascii.Error):
            return base64.b64decode((await _run(*_POWERSHELL)).strip(), validate=True)
        return b""
    raise ClipboardProblem(_describe_missing(environment))


def _describe_missing(environment: Mapping[str, str]) -> str:
    if environment.get("WAYLAND_DISPLAY"):
        return "images of the clipboard need `wl-paste`: install `wl-clipboard`"
    if environment.get("DISPLAY"):
        return "images of the clipboard need `xclip`: install it"
    return "there is no clipboard here: attach an image by its path, such as `@shot.png`"


def _choose_type(offered: bytes) -> str | None:
    types = offered.decode("utf-8", "replace").split()
    return next((each for each in _TYPES if each in types), None)


async def _run(*command: str) -> bytes:
    """Return what a program writes; nothing if it fails or takes too long."""
    from amplifier_guard.shell import CHILD_VARIABLES, child_environment

    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(os.environ, (*CHILD_VARIABLES, *_OF_DESKTOPS)),
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(_SECONDS):
            return await _read_all(process)
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read_all(process: asyncio.subprocess.Process) -> bytes:
    if process.stdout is None:
        return b""
    content = bytearray()
    while piece := await process.stdout.read(65_536):
        content += piece
        if len(content) > _MAX_BYTES:
            return b""
    return bytes(content) if await process.wait() == 0 else b""
