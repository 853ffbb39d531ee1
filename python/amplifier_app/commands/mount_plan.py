"""The mount plan of `amplifier-core run`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.provider_choice import DEMO
from amplifier_app.failure import Failure
from amplifier_core.known_modules import Own, list_other_sources
from amplifier_core.mount_plan import LISTS, MAIN_MODULES, STORE

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules

GUARD = "hooks-guard"
"""The module that every turn requires."""
APPROVAL = "hooks-approval"
"""The module that decides what a person is asked."""
SHELL_HOOKS = "hooks-shell"
"""The module that runs hooks of the user and of the project."""
PROJECT_NOTES = "hooks-project-notes"
"""The module that gives the model the notes of the user and of the project."""
SERVERS = "tool-mcp"
"""The module that has the tools of MCP servers."""
TASKS = "tool-task"
"""The module that has tasks done by sub-agents."""

SYSTEM_PROMPT = """\
You are an agent that works in the folder `{folder}` for the person who runs you in a terminal.
Look before you answer: use the tools, several at once where they do not depend on each other.
Paths are relative to the folder; nothing outside it can be read. Report only what you saw, with
exact figures, in Markdown that is short enough to be read in a terminal."""
"""The system prompt."""


def mount_plan(
    folder: Path,
    provider: Mapping[str, Any],
    model: str | None = None,
    hooks: Iterable[Mapping[str, Any]] = (),
    block_chars: int = 0,
    *,
    named: NamedModules | None = None,
    provider_module: str = "provider-anthropic",
    store: Mapping[str, Any] | None = None,
    mode: str | None = None,
    has_project_notes: bool = True,
    server_files: Sequence[Path] = (),
) -> dict[str, Any]:
    """The modules of one run: the streaming loop, a context, a provider, tools, and hooks.

    The plan is strict, and a turn has limits here, which a plain mount plan does not have: model
    calls, seconds without content, bytes of an answer and of each result of a tool.

    The limits (`MESSAGE_MAX_CHARS`, `TOOL_TIMEOUT`, `MAX_CONTENT_BLOCKS`, `THINKING_MODE_ENABLED`),
    retries and rates come from the environment, and from nowhere in the folder.

    Args:
        folder: Where the tools look.
        provider: The config of the provider; what it lacks comes from the environment.
        model: The model to use instead of the provider's default.
        hooks: More hooks of our own, as a mount plan has them.
        block_chars: How many characters of a prompt may be a block from standard input, in addition
            to its usual limit.
        named: The modules that the user names.
        provider_module: The provider, unless the user names another.
        store: What stores the session; None to keep nothing.
        mode: The mode of the approvals; None for that of the config.
        has_project_notes: Whether the model gets the notes of the user and of the project.
        server_files: Files of MCP servers that the user names.

    Raises:
        Failure: A setting in the environment, or the plan of the user, cannot be used.
    """
    from amplifier_app.commands.settings import (
        approval_settings,
        guard_settings,
        loop_settings,
        mcp_settings,
        provider_settings,
        shell_hook_settings,
        tool_settings,
    )
    from amplifier_guard import LimitError, Limits
    from amplifier_modules.tools.skill.skill_files import has_skills

    try:
        thinks = Limits.load().thinking_mode_enabled
    except LimitError as error:
        raise Failure(str(error), hint="correct the environment variable") from error
    config = {**provider_settings(os.environ), **provider}
    if provider_module == DEMO.module_id:
        config = dict(provider)  # it asks no service, which the others could be for
    if model is not None:
        config["default_model"] = model
    if thinks and provider_module == "provider-ollama":
        config.setdefault("enable_thinking", True)  # unasked, older servers mix thoughts into texts
    loop = loop_settings(os.environ)
    tools = {"root": str(folder), **tool_settings(os.environ)}
    shell_hooks = shell_hook_settings(os.environ, folder)
    servers = mcp_settings(os.environ, folder, server_files)
    plan: dict[str, Any] = {
        "session": {
            "orchestrator": _make_own_entry("loop-streaming", loop),
            "context": _make_own_entry("context-simple"),
            "strict": True,
        },
        "providers": [_make_own_entry(provider_module, config)],
        "tools": [
            _make_own_entry("tool-bash", {"root": str(folder)}),
            _make_own_entry("tool-filesystem", tools),
            _make_own_entry("tool-search", tools),
            *(
                [_make_own_entry("tool-skill", {"root": str(folder)})]
                if has_skills(folder, os.environ)
                else []
            ),
            *([] if servers is None else [_make_own_entry(SERVERS, servers)]),
        ],
        "hooks": [
            _make_own_entry(GUARD, guard_settings(os.environ, block_chars)),
            _make_own_entry(APPROVAL, approval_settings(os.environ, is_kept=store is not None)),
            *([] if shell_hooks is None else [_make_own_entry(SHELL_HOOKS, shell_hooks)]),
            *([_make_own_entry(PROJECT_NOTES)] if has_project_notes else []),
            *(_make_own_entry(hook["module"], hook.get("config")) for hook in hooks),
        ],
    }
    plan = plan if named is None else named.build_plan(plan, GUARD, model)
    if mode is not None:
        plan["hooks"] = [_with_mode(each, mode) for each in plan["hooks"]]
    plan["tools"] = list(map(_with_agent_files, plan["tools"]))
    if server_files:
        plan["tools"] = _with_server_files(plan["tools"], server_files)
    plan["session"] = {name: each for name, each in plan["session"].items() if name != STORE}
    if store is not None:
        plan["session"][STORE] = dict(store)
    return plan


def _with_mode(entry: dict[str, Any], mode: str) -> dict[str, Any]:
    if entry.get("module") != APPROVAL:
        return entry
    chosen = {"mode": mode, "goes_on_in_mode": False}
    return {**entry, "config": {**(entry.get("config") or {}), **chosen}}


def _with_agent_files(entry: dict[str, Any]) -> dict[str, Any]:
    """Let our `tool-task` offer the sub-agents that files describe, unless its config says more."""
    if entry.get("module") != TASKS or list_other_sources(TASKS):
        return entry
    return {**entry, "config": {"agent_files": True, **(entry.get("config") or {})}}


def _with_server_files(tools: list[dict[str, Any]], files: Sequence[Path]) -> list[dict[str, Any]]:
    """The tools with the servers of files, also where those of a plan take the usual place."""
    for place, entry in enumerate(tools):
        if entry.get("module") == SERVERS:
            config: dict[str, Any] = entry.get("config") or {}
            listed = [*config.get("server_files", ()), *map(str, files)]
            config = {**config, "server_files": list(dict.fromkeys(listed))}
            return [*tools[:place], {**entry, "config": config}, *tools[place + 1 :]]
    return [*tools, _make_own_entry(SERVERS, {"server_files": list(map(str, files))})]


def _make_own_entry(module_id: str, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The entry of a module that comes from our own table, whatever else is importable."""
    return {"module": module_id, "source": Own.TABLE, "config": dict(config or {})}


def replaced_modules(plan: Mapping[str, Any]) -> Iterator[str]:
    """Name in a line each what has the id of a module of a plan and was ignored."""
    mains = [plan["session"][name] for name in MAIN_MODULES]
    entries: list[Any] = [*mains, *(entry for name in LISTS for entry in plan[name])]
    for entry in entries:
        if isinstance(entry, str) or entry.get("source") is not Own.TABLE:
            continue  # the user named it, and gets what the loader finds
        for other in list_other_sources(entry["module"]):
            place = f" ({other.place})" if other.place else ""
            yield f"`{entry['module']}` is our own; ignored: {other.origin} `{other.name}`{place}"
