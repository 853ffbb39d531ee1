"""The checks of `amplifier-core doctor`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from amplifier_app.failure import Failure

from .finding import Finding
from .plugged_checks import check_hooks, check_rules, check_servers

EXTRAS = {
    "keyring": ("keyring", "keeps keys of providers"),
    "mcp": ("mcp", "connects MCP servers"),
    "otel": ("opentelemetry.sdk", "sends spans and metrics"),
    "pdf": ("pypdf", "reads PDF files"),
    "web": ("html_to_markdown", "reads pages of the web"),
}
"""The extras of the package: what each brings, and what that is good for."""


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
        _check_model,
        _check_sandbox,
        _check_sessions,
        _check_project,
        check_rules,
        check_hooks,
        check_servers,
        _check_extras,
    )
    for check in checks:
        try:
            yield from check(folder)
        except Failure as failure:
            name = check.__name__.rpartition("check_")[2]
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
    from amplifier_app.system_keyring import KEYRING

    found = [
        f"{each.name} ({each.key_set_in(os.environ) or 'keyring'})"
        for each in PROVIDERS.values()
        if each.variables and (each.key_set_in(os.environ) or stored_key(each))
    ]
    for variable, meant in _list_misspelt():
        text = f"no provider reads the variable `{variable}`"
        yield Finding("keys", "missing", text, f"is `{meant}` meant?")
    for each in PROVIDERS.values():
        variable = each.key_set_in(os.environ)
        if variable and not _is_plain(os.environ[variable]):
            text = f"`{variable}` has white space, quotation marks or a character that no key has"
            yield Finding("keys", "broken", text, "set it anew, the key alone")
    if (problem := KEYRING.problem) is not None and not problem.is_absent:
        yield Finding("keys", "missing", f"{problem}", "set variables instead, or repair it")
    if found:
        yield Finding("keys", "ok", ", ".join(found))
        return
    advice = f"set one such as ANTHROPIC_API_KEY, or `{KEY_SET} anthropic`"
    yield Finding("keys", "missing", "no key of a provider: the demo model answers", advice)


def _list_misspelt() -> Iterator[tuple[str, str]]:
    """Yield variables that look like the key of a provider, each with the one that is meant."""
    from amplifier_app.commands.provider_choice import PROVIDERS

    known = [name for each in PROVIDERS.values() for name in each.variables]
    for variable in sorted(os.environ):
        provider, _, rest = variable.partition("_")
        names = [name for name in known if name.startswith(f"{provider}_")]
        is_like_a_key = "KEY" in rest or "TOKEN" in rest
        if (
            is_like_a_key
            and variable not in known
            and (alike := get_close_matches(variable, names))
        ):
            yield variable, alike[0]


def _is_plain(key: str) -> bool:
    text = key.strip()
    return text.isascii() and text.isprintable() and not {" ", '"', "'"} & {*text}


def _check_model(folder: Path) -> Iterator[Finding]:
    from amplifier_app.commands.provider_choice import chosen_model
    from amplifier_app.commands.provider_key import stored_key
    from amplifier_app.configuration.resolve import read_configuration

    try:
        configuration = read_configuration(os.environ)
        configuration.restrict_by(folder, os.environ)
    except Failure:
        return  # the check of the configuration says what is wrong
    text = configuration.get("model")
    choice = chosen_model(text, None, os.environ, stored_key)
    whose = "as configured" if text else "the usual one"
    model = choice.model or choice.provider.model
    name = f"{choice.provider.name}:{model}" if model else choice.provider.name
    if choice.provider.needs_key and not (
        choice.provider.key_set_in(os.environ) or stored_key(choice.provider)
    ):
        if text:
            advice = f"set {choice.provider.key_variable}"
            yield Finding("model", "broken", f"{name}, {whose}: it has no key", advice)
        else:
            yield Finding("model", "ok", "demo, a program, as there is no key")
    else:
        yield Finding("model", "ok", f"{name}, {whose}")


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
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if there != folder and there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield Finding("sessions", "ok", f"none yet; they go into {folder}")
        return
    if not there.is_dir():
        text = f"`{folder}` cannot be made: `{there}` is no folder"
        yield Finding("sessions", "broken", text, "move it away; until then nothing is stored")
        return
    if not os.access(there, os.W_OK | os.X_OK):
        advice = "make it yours; until then nothing is stored"
        yield Finding("sessions", "broken", f"`{there}` cannot be written", advice)
        return

    async def count(store: Store) -> int:
        return sum(each.parent is None for each in await store.sessions())

    stored = run_on_store(count, None)
    bytes_used = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    yield Finding("sessions", "ok", f"{stored:,} in {folder}, {bytes_used / 1e6:,.1f} MB")


def _check_project(folder: Path) -> Iterator[Finding]:
    from amplifier_modules.hooks.project_notes.note_files import AGENTS, CLAUDE, LOCAL
    from amplifier_modules.tools.skill.skill_files import find_skills

    notes = [name for name in (AGENTS, CLAUDE, LOCAL) if (folder / name).is_file()]
    if AGENTS in notes and CLAUDE in notes:
        notes[notes.index(CLAUDE)] = f"{CLAUDE} (not read beside {AGENTS})"
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


def _check_extras(_: Path) -> Iterator[Finding]:
    for extra, (module, use) in EXTRAS.items():
        try:
            is_there = find_spec(module) is not None
        except ModuleNotFoundError:  # the package around it is missing
            is_there = False
        advice = "" if is_there else f"`pip install 'amplifier-core[{extra}]'`"
        yield Finding(f"extra {extra}", "ok" if is_there else "missing", use, advice)
