"""The checks of `amplifier-core doctor`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from amplifier_app.failure import Failure

State: TypeAlias = Literal["ok", "missing", "broken"]

EXTRAS = {
    "keyring": ("keyring", "keeps keys of providers"),
    "mcp": ("mcp", "connects MCP servers"),
    "otel": ("opentelemetry.sdk", "sends spans and metrics"),
    "pdf": ("pypdf", "reads PDF files"),
    "web": ("html_to_markdown", "reads pages of the web"),
}
"""The extras of the package: what each brings, and what that is good for."""


@dataclass(frozen=True)
class Finding:
    """What a check has found."""

    name: str
    state: State
    text: str
    advice: str = ""
    """What to do; empty where nothing is to be done."""


def list_findings(folder: Path) -> Iterator[Finding]:
    """Yield what the checks find, each as it is found.

    Args:
        folder: The project.
    """
    checks: tuple[Callable[[Path], Iterator[Finding]], ...] = (
        _check_version,
        _check_engine,
        _check_configuration,
        _check_keys,
        _check_sandbox,
        _check_sessions,
        _check_project,
        _check_servers,
        _check_extras,
    )
    for check in checks:
        try:
            yield from check(folder)
        except Failure as failure:
            name = check.__name__.removeprefix("_check_")
            yield Finding(name, "broken", str(failure), failure.hint or "")


def _check_version(_: Path) -> Iterator[Finding]:
    try:
        ours = version("amplifier-core")
    except PackageNotFoundError:
        ours = "from a checkout"
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    yield Finding("version", "ok", f"{ours}, Python {platform.python_version()}, {system}")


def _check_engine(_: Path) -> Iterator[Finding]:
    from amplifier_app.commands.model_choice import require_engine

    require_engine()
    yield Finding("engine", "ok", "the Rust extension is loaded")


def _check_configuration(folder: Path) -> Iterator[Finding]:
    from amplifier_app.configuration.places import find_user_file
    from amplifier_app.configuration.resolve import read_configuration

    path = find_user_file(os.environ)
    configuration = read_configuration(os.environ)
    if path is not None and path.exists():
        yield Finding("configuration", "ok", str(path))
    else:
        advice = "`amplifier-core config init` makes it"
        yield Finding("configuration", "missing", f"there is no {path}", advice)
    configuration.restrict_by(folder, os.environ)
    for warning in configuration.warnings:
        yield Finding("configuration", "missing", warning, "take it out of the project's file")


def _check_keys(_: Path) -> Iterator[Finding]:
    from amplifier_app.commands.provider_choice import PROVIDERS
    from amplifier_app.commands.provider_key import KEY_SET, stored_key

    found = [
        f"{each.name} ({each.key_set_in(os.environ) or 'keyring'})"
        for each in PROVIDERS.values()
        if each.variables and (each.key_set_in(os.environ) or stored_key(each))
    ]
    if found:
        yield Finding("keys", "ok", ", ".join(found))
        return
    advice = f"set one such as ANTHROPIC_API_KEY, or `{KEY_SET} anthropic`"
    yield Finding("keys", "missing", "no key of a provider: the demo model answers", advice)


def _check_sandbox(folder: Path) -> Iterator[Finding]:
    from amplifier_modules.sandbox.command import Tier
    from amplifier_modules.sandbox.layers import find_layer_obstacle
    from amplifier_modules.sandbox.runner import describe_remedy
    from amplifier_modules.sandbox.sandbox import Sandbox
    from amplifier_modules.sandbox.tiers import find_tier

    found = find_tier()
    reasons = "; ".join(found.reasons)
    if found.tier is Tier.NONE:
        text = f"none: a person is asked about each command ({reasons})"
        yield Finding("sandbox", "missing", text, describe_remedy())
        return
    program = " by bubblewrap" if found.bubblewrap else ""
    text = f"{found.tier.value}{program}{f' ({reasons})' if reasons else ''}"
    yield Finding("sandbox", "ok", text)
    if sys.platform != "linux":
        return
    from amplifier_modules.changes.place import choose_folder, find_changes_folder

    usual = find_changes_folder()
    store = choose_folder(folder, usual)
    obstacle: str | None = f"there is no place for them on the disk of `{folder}`"
    if store is not None:
        with TemporaryDirectory(prefix="amplifier-") as temporary:
            sandbox = Sandbox(str(folder), temporary, found.tier, bubblewrap=found.bubblewrap)
            try:
                obstacle = find_layer_obstacle(sandbox, str(folder), str(store))
            finally:
                sandbox.close()
    if obstacle is None:
        yield Finding("undo", "ok", "exact: changes of commands go into layers")
    else:
        text = f"by a private git tree, which leaves out what git ignores: {obstacle}"
        yield Finding("undo", "missing", text)


def _check_sessions(_: Path) -> Iterator[Finding]:
    from amplifier_app.sessions.opening import run_on_store
    from amplifier_modules.stores import Store
    from amplifier_modules.stores.sqlite import SqliteStore

    folder = Path(SqliteStore().folder)
    if not folder.exists():
        yield Finding("sessions", "ok", f"none yet; they go into {folder}")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        advice = "make it yours; until then nothing is stored"
        yield Finding("sessions", "broken", f"`{folder}` cannot be written", advice)
        return

    async def count(store: Store) -> int:
        return sum(each.parent is None for each in await store.sessions())

    stored = run_on_store(count, None)
    bytes_used = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    yield Finding("sessions", "ok", f"{stored:,} in {folder}, {bytes_used / 1e6:,.1f} MB")


def _check_project(folder: Path) -> Iterator[Finding]:
    from amplifier_app.commands.settings import shell_hook_settings
    from amplifier_modules.hooks.project_notes.note_files import AGENTS, CLAUDE, LOCAL
    from amplifier_modules.tools.skill.skill_files import find_skills

    notes = [name for name in (AGENTS, CLAUDE, LOCAL) if (folder / name).is_file()]
    if notes:
        yield Finding("project", "ok", f"notes: {', '.join(notes)}")
    else:
        advice = "`/init` in a conversation drafts AGENTS.md"
        yield Finding("project", "missing", f"no notes in {folder}", advice)
    found = find_skills(folder, os.environ)
    if found.skills:
        yield Finding("skills", "ok", f"{len(found.skills):,}: {', '.join(sorted(found.skills))}")
    for problem in found.problems:
        yield Finding("skills", "broken", str(problem), "correct the file")
    hooks = shell_hook_settings(os.environ, folder)
    if hooks is not None and "project_hooks" in hooks:
        text = "the project has hooks, which run after your yes"
        yield Finding("hooks", "ok", text)


def _check_servers(folder: Path) -> Iterator[Finding]:
    from amplifier_app.commands.mcp.listed_servers import list_servers

    servers, problems = list_servers(folder.resolve())
    if connected := [each.entry.name for each in servers if each.is_connected]:
        yield Finding("MCP servers", "ok", ", ".join(connected))
    if waiting := [each.entry.name for each in servers if each.state == "not asked"]:
        text = f"of the project, and nobody was asked: {', '.join(waiting)}"
        yield Finding("MCP servers", "missing", text, "`amplifier-core mcp ask` asks about them")
    for problem in problems:
        yield Finding("MCP servers", "broken", problem, "correct it")


def _check_extras(_: Path) -> Iterator[Finding]:
    for extra, (module, use) in EXTRAS.items():
        try:
            is_there = find_spec(module) is not None
        except ModuleNotFoundError:  # the package around it is missing
            is_there = False
        advice = "" if is_there else f"`pip install 'amplifier-core[{extra}]'`"
        yield Finding(f"extra {extra}", "ok" if is_there else "missing", use, advice)
