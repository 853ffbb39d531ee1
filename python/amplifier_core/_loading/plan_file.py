"""A mount plan in a file, TOML or JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .._kernel.import_failure import error_text

SUFFIXES = (".json", ".toml")
"""The endings of the files that hold a mount plan."""
MAX_PLAN_BYTES = 4 << 20
"""More is a mistake: the file is something else."""


class PlanFileError(ValueError):
    """A file that cannot be read as a mount plan: the text names it, and the line of a mistake."""


def read_plan(path: Path) -> Any:
    """Read the plan in a file.

    Raises:
        PlanFileError: There is none, or it cannot be read.
    """
    if path.suffix not in SUFFIXES:
        raise PlanFileError(f"{path}: its name must end with `.toml` or `.json`")
    try:
        if not path.is_file():
            what = "it is not a regular file" if path.exists() else "there is no such file"
            raise PlanFileError(f"{path}: {what}")
        with path.open("rb") as file:
            content = file.read(MAX_PLAN_BYTES + 1)
    except OSError as error:
        raise PlanFileError(f"{path}: {error.strerror or error}") from error
    if len(content) > MAX_PLAN_BYTES:
        message = f"{path}: it is larger than {MAX_PLAN_BYTES >> 20} MiB, the most a plan may have"
        raise PlanFileError(message)
    try:
        text = content.decode("utf-8-sig")
        if not text.strip():
            raise PlanFileError(f"{path}: it is empty")
        if path.suffix == ".toml":
            import tomllib

            return tomllib.loads(text)
        return json.loads(text)
    except PlanFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"{path}{_why(error)}") from error


def _why(error: Exception) -> str:
    """Why the text is no plan, after its path: with the line of a mistake where there is one."""
    if isinstance(error, UnicodeDecodeError):
        return f": it is not UTF-8 text (byte {error.start})"
    if isinstance(error, RecursionError):
        return ": it is nested too deep"
    if isinstance(error, json.JSONDecodeError):
        return f":{error.lineno}: {error.msg} (column {error.colno})"
    text = error_text(error)
    place = re.search(r" \(at line (\d+), (column \d+)\)$", text)
    if place is None:
        return f": {text}"
    return f":{place[1]}: {text[: place.start()]} ({place[2]})"
