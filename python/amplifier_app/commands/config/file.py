"""The user's file: made, and opened in an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from amplifier_app.commands.report import Report
from amplifier_app.configuration.files import read_user_file
from amplifier_app.configuration.places import find_user_file
from amplifier_app.configuration.template import write_template
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE


def make_file() -> Path:
    """Make the user's file, and return its path.

    Raises:
        Failure: It is there already, or cannot be made.
    """
    path = _require_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(write_template())
    except FileExistsError:
        hint = "`amplifier-core config edit` opens it"
        raise Failure(f"`{path}` exists", hint=hint, exit_code=WRONG_USAGE) from None
    except OSError as error:
        raise Failure(f"`{path}` cannot be made: {error.strerror}") from None
    return path


def edit_file(report: Report) -> None:
    """Open the user's file in their editor, made if it is not there, and check it.

    Args:
        report: Where it is said that it has no mistake.

    Raises:
        Failure: There is no editor, it fails, or the file has a mistake.
    """
    path = _require_path()
    editor = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    if not editor:
        hint = f"set EDITOR, or open `{path}` yourself"
        raise Failure("neither VISUAL nor EDITOR is set", hint=hint)
    if not path.exists():
        make_file()
    try:
        line = [*shlex.split(editor), str(path)]
        code = subprocess.run(line, check=False).returncode
    except (OSError, ValueError) as error:
        raise Failure(f"the editor `{editor}` cannot be started: {error}") from None
    if code:
        raise Failure(f"the editor `{editor}` ended with exit code {code}")
    read_user_file(path)
    report.write_lines([f"`{path}` has no mistake"])


def _require_path() -> Path:
    path = find_user_file(os.environ)
    if path is None:
        raise Failure("you have no home folder", hint="set XDG_CONFIG_HOME to a folder")
    return path
