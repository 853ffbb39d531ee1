"""What the user said about what projects bring along, by hashes, in a file for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from .settings_file import hold, read_object, write_object


def read_answers(project: Path, path: Path) -> dict[str, bool]:
    """Return whether the user agreed to things of a project, by the hashes that they were asked about.

    Args:
        project: The root of the project, links followed.
        path: The file of the answers.
    """
    found: Any = _read_all(path).get(str(project))
    if not isinstance(found, dict):
        return {}
    answers = cast("dict[str, Any]", found)
    return {digest: each for digest, each in answers.items() if isinstance(each, bool)}


def remember_answers(digests: Iterable[str], project: Path, path: Path, *, agreed: bool) -> None:
    """Remember whether the user agrees to the things of these hashes.

    Raises:
        OSError: It cannot be written.
    """
    with hold(path):
        answers = _read_all(path)
        answers[str(project)] = {**read_answers(project, path), **dict.fromkeys(digests, agreed)}
        write_object(path, answers)


def _read_all(path: Path) -> dict[str, Any]:
    try:
        return read_object(path)
    except (OSError, ValueError, RecursionError):
        return {}  # then the user is asked again
