"""The hooks of a project: none runs until the user agrees to exactly those."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.approval import TerminalApproval, can_ask
from amplifier_app.commands.mount_plan import SHELL_HOOKS
from amplifier_app.notice import show_notice
from amplifier_core.approval import is_consent

if TYPE_CHECKING:
    from amplifier_modules.hooks.shell.hook_files import ShellHook


_QUESTION = "the project has these hooks: may they run, in the sandbox, until they change?"
_CHANGED = (
    "this hook of the project, or a file that it names, has changed: may it run, in the sandbox,"
    " until it changes again?"
)


async def ask_about_project_hooks(
    plan: Mapping[str, Any], folder: Path, approval: TerminalApproval
) -> None:
    """Ask in the terminal whether hooks of a project may run, once for each line and its files.

    Args:
        plan: The mount plan of the session.
        folder: The project.
        approval: What asks.
    """
    entries: list[dict[str, Any]] = [
        each for each in plan["hooks"] if each["module"] == SHELL_HOOKS
    ]
    config: Mapping[str, Any] = (entries[0].get("config") or {}) if entries else {}
    if not config.get("project_hooks") or not config.get("state_folder"):
        return
    from amplifier_modules.hooks.project_answers import remember_answers
    from amplifier_modules.hooks.shell.agreements import find_answers

    project, state = folder.resolve(), Path(config["state_folder"])  # noqa: ASYNC240
    hooks = dict(_find_unanswered(project, state))
    if not hooks:
        return
    if not can_ask():
        show_notice("hooks of `.claude` of this folder do not run until you agree to them")
        return
    is_agreed = await _ask(list(hooks.values()), _QUESTION, project, approval)
    try:
        remember_answers(hooks, project, find_answers(state), agreed=is_agreed)
    except OSError as error:
        show_notice(f"warning: your answer cannot be kept: {error}")


async def ask_about_changed_hook(folder: Path, approval: TerminalApproval, hook: ShellHook) -> bool:
    """Ask in the terminal whether a hook may run that has changed; no where nobody can be asked.

    Args:
        folder: The project.
        approval: What asks.
        hook: The hook.
    """
    if not can_ask():
        return False
    return await _ask([hook], _CHANGED, folder.resolve(), approval)  # noqa: ASYNC240


def _find_unanswered(project: Path, state: Path) -> Iterator[tuple[str, ShellHook]]:
    """Yield the hooks that nobody was asked about, with their hashes."""
    from amplifier_modules.hooks.project_answers import read_answers
    from amplifier_modules.hooks.shell.agreements import find_answers, hash_hook, read_project_hooks
    from amplifier_modules.sandbox.named_files import NamedFileError

    answers = read_answers(project, find_answers(state))
    for hook in read_project_hooks(project).hooks:
        try:
            digest = hash_hook(hook, project)
        except NamedFileError:
            continue  # it never runs, and the module says so
        if digest not in answers:
            yield digest, hook


async def _ask(
    hooks: list[ShellHook], question: str, project: Path, approval: TerminalApproval
) -> bool:
    rows = [question]
    for hook in hooks:
        rows += _describe_hook(hook, project)
    answer = await approval.request_approval("\n".join(rows), ["Allow", "Deny"], math.inf, "deny")
    return is_consent(answer)


def _describe_hook(hook: ShellHook, project: Path) -> Iterator[str]:
    """Yield a line for a hook, and one for each file that it names."""
    from amplifier_guard.question import quote_value
    from amplifier_modules.sandbox.named_files import find_named_paths

    yield f"| {hook.event} {quote_value(hook.matcher)}: {quote_value(hook.command)}"
    for path in find_named_paths([hook.command], project, is_shell=True):
        if os.path.isfile(path):
            yield f"|   {quote_value(os.path.relpath(path, project))}"
