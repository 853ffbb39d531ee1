"""The mount plan of a child session: what it mounts of its own, as its parent had mounted it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from amplifier_core.mount_plan import MAIN_MODULES, STORE, find_main_entry
from amplifier_core.mounting import MountedModule
from amplifier_core.plain_data import native_copy_of

from .rights import Rights

_SECTIONS = {"provider": "providers", "tool": "tools", "hook": "hooks"}


@dataclass(frozen=True)
class ChildPlan:
    """What a child session mounts anew; all else it shares with its parent."""

    plan: dict[str, Any]
    """The mount plan of the child."""
    remounted: tuple[MountedModule, ...]
    """The modules of the parent that the plan names."""
    providers: Mapping[str, Any]
    """The providers that are shared."""


def child_plan(
    config: Mapping[str, Any], rights: Rights, model: Any = None, context: Any = None
) -> ChildPlan:
    """Return what a child session mounts, of modules that its parent has mounted.

    Args:
        config: The parent's plan; nothing that is mounted is read from it.
        rights: What the child may do.
        model: `provider:model`, the name of a provider, or a provider; None for the parent's.
        context: A module by its id or as an entry; None for the parent's.

    Raises:
        ValueError: The model is not in one of these forms, or its provider is mounted no more.
    """
    remounted = [each for each in rights.bound_modules() if _is_needed(each, rights)]
    providers: Mapping[str, Any] = {}
    chosen: list[dict[str, Any]] = []
    if model is None:
        kept = [each for each in _list_providers(rights) if rights.is_unchanged(each)]
        remounted = [*kept, *remounted]
        own = {name for each in kept for name, _ in each.providers}
        providers = {name: each for name, each in rights.providers.items() if name not in own}
    elif isinstance(model, str):
        providers, chosen = _choose_provider(rights, model)
    plan: dict[str, Any] = {
        **{key: value for key, value in config.items() if key not in _SECTIONS.values()},
        "session": {**_without_store(config["session"]), **_main_entries(config, rights)},
        "providers": chosen,
        "tools": [],
        "hooks": [],
    }
    if isinstance(context, str):
        context = {"module": context}
    if isinstance(context, Mapping):
        plan["session"]["context"] = dict(cast("Mapping[str, Any]", context))
    for each in remounted:
        plan[_SECTIONS[each.kind]].append(each.entry)
    return ChildPlan(native_copy_of(plan), tuple(remounted), providers)


def _without_store(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section `session` as it is for a child, which its parent stores."""
    return {key: value for key, value in section.items() if key != STORE}


def _is_needed(module: MountedModule, rights: Rights) -> bool:
    """Whether a module has a tool that the child may use, or is there for its handlers."""
    return module.kind == "hook" or bool(rights.own_tools(module))


def _list_providers(rights: Rights) -> Iterable[MountedModule]:
    return (each for each in rights.modules if each.kind == "provider")


def _main_entries(config: Mapping[str, Any], rights: Rights) -> dict[str, Any]:
    """Return the loop and the context that the parent began with."""
    mounted = {each.kind: each.entry for each in rights.modules}
    return {
        name: mounted.get(name) or find_main_entry(dict(config), name)  # pyright: ignore[reportArgumentType, reportCallIssue] -- kinds are names of sections
        for name in MAIN_MODULES
    }


def _choose_provider(rights: Rights, model: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the provider of a model: one that is shared, or the entry of a module.

    Raises:
        ValueError: It is no model, or its provider is mounted no more.
    """
    name, _, default = (part.strip() for part in model.partition(":"))
    if not name or (":" in model and not default):
        raise ValueError(f"`model` is `{model}` (must be a provider, or `provider:model`)")
    module = f"provider-{name}"
    listed = [each for each in _list_providers(rights) if each.entry["module"] == module]
    listed = listed or [each for each in _list_providers(rights) if name in dict(each.providers)]
    is_own = bool(listed) and rights.is_unchanged(listed[0])
    if not default and not is_own and name in rights.providers:
        return {name: rights.providers[name]}, []
    if listed and not is_own:
        raise ValueError(_no_provider(rights, name))
    entry: dict[str, Any] = {**listed[0].entry} if listed else {"module": module}
    if default:
        entry["config"] = {**(entry.get("config") or {}), "default_model": default}
    return {}, [entry]


def _no_provider(rights: Rights, name: str) -> str:
    if name in rights.providers:
        return f"`{name}` is not the provider of its module any more; give the provider itself"
    known = ", ".join(f"`{each}`" for each in rights.providers) or "none"
    return f"no provider `{name}` is mounted any more (there are: {known})"
