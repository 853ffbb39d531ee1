"""The bearer token of a server over HTTP: from a variable, from a file, or a new one."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path

from amplifier_agent.serving.http_access import check_token
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core import world

VARIABLE = "AMPLIFIER_MCP_TOKEN"
_BYTES = 32


def find_token(file: str | None, environment: Mapping[str, str]) -> tuple[str, bool]:
    """Return the token, and whether nobody knows it yet.

    Args:
        file: The file that has it, or is to have it; None for none.
        environment: The variables of the process.

    Raises:
        Failure: The file cannot be used, or the token is none.
    """
    if file is not None:
        return _read_file(Path(file).expanduser()), False
    if given := environment.get(VARIABLE, "").strip():
        return _check(given, f"the variable `{VARIABLE}`"), False
    return _make_token(), True


def _make_token() -> str:
    return base64.urlsafe_b64encode(world.random_bytes(_BYTES)).rstrip(b"=").decode()


def _read_file(path: Path) -> str:
    new = _make_token()
    try:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            with path.open(encoding="utf-8") as file:
                if os.name != "nt" and os.fstat(file.fileno()).st_mode & 0o077:
                    raise Failure(
                        f"the token file `{path}` can be read by others",
                        hint=f"`chmod 600 {path}`",
                        exit_code=WRONG_USAGE,
                    ) from None
                return _check(file.read(4096), f"the file `{path}`")
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{new}\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Failure(
            f"the token file `{path}` cannot be used: {reason}",
            hint="check `--token-file`",
            exit_code=WRONG_USAGE,
        ) from None
    return new


def _check(token: str, where: str) -> str:
    try:
        return check_token(token)
    except ValueError as error:
        hint = "remove it, and one is made"
        raise Failure(f"{where}: {error}", hint=hint, exit_code=WRONG_USAGE) from None
