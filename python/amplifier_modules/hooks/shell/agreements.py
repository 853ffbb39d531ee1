"""The hooks of projects, and the hashes by which the user agrees to them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from amplifier_modules.hooks.approval.rule_files import PROJECT_FILES
from amplifier_modules.hooks.settings_file import read_object
from amplifier_modules.sandbox.named_files import hash_named_files

from .hook_files import HookFormatError, ShellHook, WrittenHooks, read_hooks

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


def find_answers(state: Path) -> Path:
    """Return the file of what the user said about the hooks of projects."""
    return state / _ANSWERS


def hash_hook(hook: ShellHook, project: Path) -> str:
    """Return the hash of a hook of a project: the line, and each file of the project that it names.

    Args:
        hook: The hook.
        project: The root of the project, links followed.

    Raises:
        NamedFileError: It names too much, or a file that cannot be read.
    """
    described = [hook.event, hook.matcher, hook.command, hook.timeout]
    files = hash_named_files([hook.command], project, is_shell=True)
    return hashlib.sha256(json.dumps([described, files]).encode()).hexdigest()
