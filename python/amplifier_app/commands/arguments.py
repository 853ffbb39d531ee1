"""The folder and the prompt that the command line names."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure

if TYPE_CHECKING:
    from pathlib import Path


def named_folder(directory: str) -> Path:
    """The folder to work in, absolute.

    Raises:
        Failure: There is no such folder, or it cannot be read.
    """
    from pathlib import Path

    path = Path(directory).expanduser()
    try:
        folder = path.resolve(strict=True)
        if not folder.is_dir():
            hint = "pass a folder to `--directory`"
            raise Failure(f"`{directory}` is a file", hint=hint, exit_code=2)
        next(folder.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        message = f"the folder `{directory}` does not exist"
        hint = "check the path given to `--directory`"
        raise Failure(message, hint=hint, exit_code=2) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the folder `{directory}` cannot be read: {reason}"
        raise Failure(message, hint="choose another", exit_code=2) from None
    return folder


def given_prompt(prompt: str | None) -> str:
    """The prompt, from the command line or from standard input.

    Raises:
        Failure: It is missing, empty or unreadable.
    """
    if prompt == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"standard input is not UTF-8 text (byte {error.start})"
            raise Failure(message, hint="convert it first") from None
        except (OSError, AttributeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is closed"
            message = f"standard input cannot be read: {reason}"
            raise Failure(message, hint="pass the prompt as an argument") from None
        if not text.strip():
            raise Failure("standard input is empty", hint="pipe the prompt into it", exit_code=2)
    else:
        text = os.fsencode(prompt or "").decode("utf-8", "replace")
        if not text.strip():
            hint = "put it in quotes, or pass `-` to read it from standard input"
            raise Failure("no prompt given", hint=hint, exit_code=2)
    return text
