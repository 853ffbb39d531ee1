"""What the user said about the hooks of projects, each by its hash."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from amplifier_modules.hooks.approval.rule_files import PROJECT_FILES
from amplifier_modules.hooks.settings_file import read_object, write_object

from .hook_files import HookFormatError, WrittenHooks, read_hooks

_ANSWERS = "project-hooks.json"


def read_project_hooks(project: Path) -> WrittenHooks:
    """Return the hooks of all files of a project together; what cannot be used is a problem."""
    together = WrittenHooks()
    for name in PROJECT_FILES:
        path = project / name
        try:
            content = read_object(path)
            if content.get("disableAllHooks") is True:
                continue
            found = read_hooks(content.get("hooks", {}), f"`{path}`", of_project=True)
        except FileNotFoundError:
            continue
        except HookFormatError as error:
            together.problems.append(f"no hook of the file runs: {error}")
            continue
        except (OSError, ValueError, RecursionError) as error:
            together.problems.append(f"`{path}` has no hooks that can be read: {error}")
            continue
        together.hooks += found.hooks
        together.problems += found.problems
    together.hooks = list(dict.fromkeys(together.hooks))
    return together


def read_answers(project: Path, state: Path) -> dict[str, bool]:
    """Return whether the user agreed to the hooks of a project, by the hashes that they were asked about."""
    found: Any = _read_all(state / _ANSWERS).get(str(project))
    if not isinstance(found, dict):
        return {}
    answers = cast("dict[str, Any]", found)
    return {digest: each for digest, each in answers.items() if isinstance(each, bool)}


def remember_answers(digests: Iterable[str], project: Path, state: Path, *, agreed: bool) -> None:
    """Remember whether the user agrees to the hooks of these hashes.

    Raises:
        OSError: It cannot be written.
    """
    path = state / _ANSWERS
    answers = _read_all(path)
    answers[str(project)] = {**read_answers(project, state), **dict.fromkeys(digests, agreed)}
    write_object(path, answers)


def _read_all(path: Path) -> dict[str, Any]:
    try:
        return read_object(path)
    except (OSError, ValueError, RecursionError):
        return {}  # then the user is asked again
