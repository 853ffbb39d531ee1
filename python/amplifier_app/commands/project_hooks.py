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
    if not hooks or not can_ask():
        return  # the module says that they do not run
    is_agreed = await _ask(list(hooks.values()), project, approval)
    try:
        remember_answers(hooks, project, find_answers(state), agreed=is_agreed)
    except OSError as error:
        show_notice(f"warning: your answer cannot be kept: {error}")


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


async def _ask(hooks: list[ShellHook], project: Path, approval: TerminalApproval) -> bool:
    rows = ["the project has these hooks: may they run, in the sandbox, until they change?"]
    for hook in hooks:
        rows += _describe_hook(hook, project)
    answer = await approval.request_approval("\n".join(rows), ["Allow", "Deny"], math.inf, "deny")
    return is_consent(answer)


def _describe_hook(hook: ShellHook, project: Path) -> Iterator[str]:
    """Yield a line for a hook, and one for each file that it names."""
    from amplifier_guard.question import quote_value
    from amplifier_modules.sandbox.named_files import find_named_paths

    yield f"| {hook.event} {quote_value(hook.matcher)}: {quote_value(hook.command)}"
    for path in find_named_paths([hook.command], project):
        if os.path.isfile(path):
            yield f"|   {quote_value(os.path.relpath(path, project))}"
