"""The editor of the user, with what is typed in it."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from amplifier_app.failure import Failure

_USUAL = "vi"


async def edit_text(text: str, environment: Mapping[str, str]) -> str:
    """Open a text in the editor, and return what was saved; it has the terminal meanwhile.

    Args:
        text: What is edited.
        environment: The environment variables, which name the editor.

    Raises:
        Failure: There is no editor, it failed, or what it saved is no text.
    """
    named = environment.get("VISUAL") or environment.get("EDITOR") or _USUAL
    with tempfile.TemporaryDirectory(prefix="amplifier-") as folder:
        path = Path(folder, "prompt.md")
        _write(path, text)
        try:
            process = await asyncio.create_subprocess_exec(*shlex.split(named), str(path))
        except (OSError, ValueError) as error:
            hint = "set VISUAL or EDITOR"
            raise Failure(f"the editor `{named}` cannot be started", hint=hint) from error
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
        if code:
            raise Failure(f"the editor `{named}` ended with exit code {code}: nothing is changed")
        try:
            return _read(path)
        except (OSError, ValueError) as error:
            raise Failure(f"what `{named}` has saved cannot be read: {error}") from error


def _write(path: Path, text: str) -> None:
    path.write_text(f"{text}\n" if text else "", "utf-8", errors="replace")


def _read(path: Path) -> str:
    return path.read_text("utf-8").removesuffix("\n").replace("\r\n", "\n")


def is_there() -> bool:
    """Whether the terminal can be lent to an editor here."""
    return os.name == "posix"
