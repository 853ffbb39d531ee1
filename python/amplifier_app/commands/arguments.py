"""The folder and the system prompt that the command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

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
            raise Failure(f"`{directory}` is a file", hint=hint, exit_code=WRONG_USAGE)
        next(folder.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        message = f"the folder `{directory}` does not exist"
        hint = "check the path given to `--directory`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the folder `{directory}` cannot be read: {reason}"
        raise Failure(message, hint="choose another", exit_code=WRONG_USAGE) from None
    return folder


def given_system(text: str | None, file: str | None) -> str | None:
    """The system prompt from `--system` or `--system-file`; None without them.

    Raises:
        Failure: Both are given, or the file is empty or unreadable.
    """
    if file is None:
        return text
    if text is not None:
        message = "`--system` and `--system-file` are both given"
        raise Failure(message, hint="choose one", exit_code=WRONG_USAGE)
    from pathlib import Path

    try:
        found = Path(file).expanduser().read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file `{file}` is not UTF-8 text (byte {error.start})"
        raise Failure(message, hint="convert it first", exit_code=WRONG_USAGE) from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the file `{file}` cannot be read: {reason}"
        hint = "check the path given to `--system-file`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
    if not found.strip():
        hint = "write the system prompt into it"
        raise Failure(f"the file `{file}` is empty", hint=hint, exit_code=WRONG_USAGE)
    return found
