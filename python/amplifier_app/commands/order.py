"""The request to `amplifier-core run`, and the folder and system prompt that its options name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_app.attached.attaching import Attached
    from amplifier_app.commands.named_modules import NamedModules
    from amplifier_app.sessions.resume import StoredSession


@dataclass(frozen=True)
class Order:
    """A prompt with its folder, model, system prompt and hooks."""

    prompt: str
    folder: Path
    model: str | None = None
    system: str | None = None
    """The system prompt, instead of that of the command."""
    block_chars: int = 0
    """How many characters of the prompt are a block from standard input."""
    hooks: tuple[Mapping[str, Any], ...] = ()
    """Hook modules to mount in addition to the guard."""
    named: NamedModules | None = None
    """The modules that the user names."""
    goal: str | None = None
    """The turn goes on until this is reached."""
    provider: str = "anthropic"
    """The provider that answers, unless the user names another as a module."""
    is_kept: bool = False
    """Whether the session is stored."""
    name: str | None = None
    """The name that the session gets when it opens."""
    stored: StoredSession | None = None
    """The session that goes on; None for a new one."""
    mode: str | None = None
    """The mode of `hooks-approval`; None for that of the settings, or the usual one."""
    is_mode_asked: bool = False
    """Whether the mode was asked for now: then it counts whatever a session was left in."""
    goes_on: bool = False
    """Whether the turn is the one that was not finished: then there is no prompt."""
    has_project_notes: bool = True
    """Whether the model gets the notes of the user and of the project."""
    attached: tuple[Attached, ...] = ()
    """The files and images of the prompt; in a conversation, of the first one."""
    server_files: tuple[Path, ...] = ()
    """Files of MCP servers that the user names."""
    added_folders: tuple[str, ...] = ()
    """Folders beside that one which the tools may use, too."""


def named_folder(directory: str, *, may_be_missing: bool = False) -> Path:
    """The folder to work in, absolute.

    Args:
        directory: The path, as the user gives it.
        may_be_missing: Whether it need not be there yet.

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
    except (FileNotFoundError, NotADirectoryError) as error:
        if may_be_missing and isinstance(error, FileNotFoundError):
            return _find_place_for(path)
        message = f"the folder `{directory}` does not exist"
        hint = "check the path given to `--directory`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the folder `{directory}` cannot be read: {reason}"
        raise Failure(message, hint="choose another", exit_code=WRONG_USAGE) from None
    return folder


def _find_place_for(path: Path) -> Path:
    """Where a missing folder is to be made, absolute.

    Raises:
        Failure: A link on the way leads to nothing; a folder is never made at the end of one.
    """
    for each in (path, *path.parents):
        if each.is_symlink() and not each.exists():
            hint = "pass a folder to `--directory`"
            raise Failure(f"`{each}` is a link to nothing", hint=hint, exit_code=WRONG_USAGE)
    return path.resolve()


def make_folder(folder: Path) -> None:
    """Make the folder to work in and those above it, and say so, if it is not there.

    Raises:
        Failure: It cannot be made.
    """
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder `{folder}` cannot be made: {error.strerror or error}"
        raise Failure(message, hint="choose another", exit_code=WRONG_USAGE) from None
    from amplifier_app.notice import show_notice

    show_notice(f"made the folder `{folder}`, which was not there")


def named_added_folders(folders: Iterable[str], project: Path) -> tuple[str, ...]:
    """The folders of `--add-dir`, absolute.

    Raises:
        Failure: One may not be used.
    """
    import os
    from pathlib import Path

    found: list[str] = []
    for each in folders:
        from amplifier_modules.tools.added_folders import FolderRefusedError, judge_folder

        try:
            named = Path.cwd() / Path(each).expanduser()
            found.append(judge_folder(str(named), project, os.environ))
        except FolderRefusedError as error:
            raise Failure(f"`--add-dir`: {error}", exit_code=WRONG_USAGE) from None
    return tuple(found)


def named_server_files(files: Iterable[str]) -> tuple[Path, ...]:
    """The files of `--mcp-config`, absolute.

    Raises:
        Failure: One cannot be read, or holds no MCP servers.
    """
    from pathlib import Path

    found: list[Path] = []
    for file in files:
        from amplifier_modules.tools.mcp.server_files import ServerFileError, read_server_file

        try:
            path = Path(file).expanduser().absolute()
            read_server_file(path)
        except (OSError, RuntimeError, ServerFileError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"the file `{file}` cannot be used: {reason}"
            hint = "check the path given to `--mcp-config`"
            raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
        found.append(path)
    return tuple(found)


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
