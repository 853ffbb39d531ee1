"""From the arguments of an agent to a mount plan, and to the objects that no plan can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast

from amplifier_core.known_modules import Own, list_other_sources
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.suggest import suggest_or_list
from amplifier_modules import MODULES
from amplifier_modules.spending.budget import SharedBudget
from amplifier_modules.tool.function_tool import FunctionTool, check_seconds, tool

from .arguments import check_budget
from .function_hook import Hook
from .mcp_module import MODULE as MCP_MODULE
from .mcp_module import merge_servers

if TYPE_CHECKING:
    import httpx2

    from amplifier_core import ContextManager, Orchestrator, Provider, Tool
    from amplifier_modules.spending.budget import Budget
    from amplifier_modules.stores import Store

    from .approvals import Approvals

Module: TypeAlias = "str | Mapping[str, Any]"
"""A module by its id, or as the entry of a mount plan."""

_OUR_LOOP, _OUR_CONTEXT = "loop-streaming", "context-simple"
_WITH_ROOT = frozenset({"tool-bash", "tool-filesystem", "tool-search"})
"""Our tools that work in a folder."""
_PROJECT_NOTES = "hooks-project-notes"
USUAL_TOOLS = 20
"""How many tools requests describe in full where nobody says otherwise."""


class AgentOptions(TypedDict, total=False):
    """What an agent can be given, but for its `output`."""

    model: str | Provider | None
    tools: Sequence[Tool | Callable[..., object] | Module]
    system: str | Callable[[], Any] | None
    hooks: Sequence[Hook | Module]
    context: ContextManager | Module | None
    loop: Orchestrator | Module | None
    budget: Budget | None
    approvals: Approvals | None
    approval_timeout: float | None
    directory: str | Path | None
    http_client: httpx2.AsyncClient | None
    store: Store | Module | None
    project_notes: bool
    deferred_tools: int | None
    plan: Mapping[str, Any] | None


@dataclass(frozen=True)
class Parts:
    """A mount plan, and what is mounted or set besides."""

    plan: dict[str, Any]
    provider: Any = None
    tools: tuple[Any, ...] = ()
    hooks: tuple[Hook, ...] = ()
    context: Any = None
    loop: Any = None
    system: str | Callable[[], Any] | None = None
    approvals: Any = None
    approval_timeout: float | None = None
    directory: Path | None = None
    http_client: httpx2.AsyncClient | None = None
    store: Store | None = None
    budget: Budget | None = None


def parts_of(options: AgentOptions) -> Parts:
    """Sort the arguments of an agent.

    Raises:
        TypeError: One is of the wrong type.
        ValueError: One cannot be used.
        ConfigurationError: There is no such provider.
    """
    plan = _copy_plan(options.get("plan"))
    session = cast("dict[str, Any]", plan["session"])
    session["strict"] = True
    provider = _put_model(plan, options.get("model"), has_plan=options.get("plan") is not None)
    loop = _put_main_module(plan, "orchestrator", options.get("loop"), _OUR_LOOP, "execute")
    context = _put_main_module(plan, "context", options.get("context"), _OUR_CONTEXT, "add_message")
    tools = [_put_tool(each, plan) for each in _read_list("tools", options.get("tools", ()))]
    hooks = [_put_hook(each, plan) for each in _read_list("hooks", options.get("hooks", ()))]
    _put_project_notes(plan, options.get("project_notes", False))
    budget = options.get("budget")
    check_budget(budget)
    # No plan can hold the account of a shared one: its turns are given it.
    if budget is not None and not isinstance(budget, SharedBudget):
        _configure(session, "orchestrator", {"budget": budget.config()})
    _put_deferred_tools(session, options.get("deferred_tools", USUAL_TOOLS))
    seconds = options.get("approval_timeout")
    check_seconds(seconds, "an agent", "approval_timeout")
    seconds = None if seconds == inf else seconds
    if seconds is not None:
        _configure(session, "orchestrator", {"approval_timeout": seconds})
    system = options.get("system")
    if system is not None and not isinstance(system, str) and not callable(system):
        found = type(system).__name__
        raise TypeError(f"`system` is a `{found}` (must be text, or a function that returns it)")
    if options.get("approvals") is not None:
        from .approvals import check_approvals

        check_approvals(options.get("approvals"))
    return Parts(
        plan=plan,
        provider=provider,
        tools=tuple(each for each in tools if each is not None),
        hooks=tuple(each for each in hooks if each is not None),
        context=context,
        loop=loop,
        system=system,
        approvals=options.get("approvals"),
        approval_timeout=seconds,
        directory=_resolve_folder(plan, options.get("directory")),
        http_client=_check_client(options.get("http_client"), provider),
        store=_put_store(plan, options.get("store")),
        budget=budget,
    )


def copy_options(options: AgentOptions) -> AgentOptions:
    """Return a copy of checked arguments, which later changes of lists and mappings do not reach."""
    plan = options.get("plan")
    return {
        **options,
        "tools": plan_copy(list(options.get("tools", ()))),
        "hooks": plan_copy(list(options.get("hooks", ()))),
        "context": plan_copy(options.get("context")),
        "loop": plan_copy(options.get("loop")),
        "plan": None if plan is None else plan_copy(dict(plan)),
    }


def plan_copy(plan: Any) -> Any:
    """Copy the dicts and lists of a mount plan, which is faster than to copy any object."""
    # Each session is made of a copy. Most values are no containers, and need no call.
    if issubclass(type(plan), dict):
        copy = {**plan}
        for key, value in plan.items():
            if type(value) not in _LEAVES:
                copy[key] = plan_copy(value)
        return copy
    if issubclass(type(plan), list):
        return [plan_copy(value) for value in plan] if plan else []
    return plan


_LEAVES = frozenset({str, bool, Own})


def _copy_plan(plan: Mapping[str, Any] | None) -> dict[str, Any]:
    if plan is not None and not isinstance(plan, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise TypeError(f"`plan` is a `{type(plan).__name__}` (must be a mapping)")
    copy = plan_copy(dict(plan or {}))
    section: Any = copy.get("session") or {}
    if not isinstance(section, Mapping):
        raise TypeError(f'`plan["session"]` is a `{type(section).__name__}` (must be a mapping)')
    copy["session"] = dict(cast("Mapping[str, Any]", section))
    for name in ("providers", "tools", "hooks"):
        listed = copy.get(name) or ()
        if not isinstance(listed, list | tuple):
            raise TypeError(f'`plan["{name}"]` is a `{type(listed).__name__}` (must be a list)')
        copy[name] = list(cast("Sequence[Any]", listed))
    return copy


def _put_model(plan: dict[str, Any], model: Any, *, has_plan: bool) -> Any:
    """Put a model's name into the plan, or return the provider."""
    if model is None:
        if not has_plan:
            message = (
                'an agent needs a `model`, such as `"anthropic:claude-sonnet-4-5"` or `"demo"`'
            )
            raise TypeError(message)
        return None
    if not isinstance(model, str):
        if isinstance(model, type) or not callable(getattr(model, "complete", None)):
            found = model.__name__ if isinstance(model, type) else type(model).__name__
            raise TypeError(
                f"`model` is `{found}`, which is no provider (must be text such as `a:b`, or an"
                " object with `name` and `complete`)"
            )
        if not isinstance(getattr(model, "name", None), str):
            found = type(model).__name__
            raise TypeError(f'`{found}` has no `name`; give it one, such as `name = "echo"`')
        plan["providers"] = []
        return model
    name, _, default = model.partition(":")
    if not name.strip() or (":" in model and not default.strip()):
        raise ValueError(f"`model` is `{model}` (must be a provider, or `provider:model`)")
    entry: dict[str, Any] = {"module": f"provider-{name.strip()}"}
    _check_provider(entry["module"], model.strip())
    if default:
        entry["config"] = {"default_model": default.strip()}
    plan["providers"] = [entry, *plan["providers"][1:]]
    return None


def _check_provider(module_id: str, model: str) -> None:
    """Refuse a provider that nobody has: often it is the name of a model.

    Raises:
        ConfigurationError: There is none.
    """
    if module_id in MODULES or list_other_sources(module_id):
        return
    from .model_names import unknown_provider

    raise ConfigurationError(f"`model` is `{model}`, but {unknown_provider(model)}")


def _make_default_entry(plan: dict[str, Any], slot: str, module_id: str) -> Any:
    """Return our own loop or context for a plan that names none, with what it says of it."""
    session, section = plan["session"], plan.get(slot)
    if session.get(f"{slot}_source"):
        return module_id
    entry: dict[str, Any] = {"module": module_id, "source": Own.TABLE}
    if isinstance(section, dict) and section.keys() == {"config"}:
        entry["config"] = plan.pop(slot)["config"]
    return entry


def _put_main_module(plan: dict[str, Any], slot: str, given: Any, default: str, method: str) -> Any:
    """Put the loop or the context into the plan, or return the object."""
    session = plan["session"]
    if given is None or isinstance(given, str | Mapping):
        if given is not None:
            session[slot] = _make_entry(slot, given)
        elif slot not in session:
            session[slot] = _make_default_entry(plan, slot, default)
        return None
    if isinstance(given, type) or not callable(getattr(given, method, None)):
        name = {"orchestrator": "loop"}.get(slot, slot)
        found = given.__name__ if isinstance(given, type) else type(given).__name__
        raise TypeError(f"`{name}` is `{found}`, which has no method `{method}`")
    # What the plan must name, until the object takes its place.
    session[slot] = {"module": default, "source": Own.TABLE}
    return given


def _make_entry(name: str, module: Any) -> dict[str, Any]:
    if isinstance(module, str):
        return {"module": module}
    entry = plan_copy(dict(cast("Mapping[str, Any]", module)))
    if not isinstance(entry.get("module"), str):
        raise TypeError(f'an entry of `{name}` has no `module`; write `{{"module": "…"}}`')
    return entry


def _read_list(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        found = type(cast("object", given)).__name__
        raise TypeError(f"`{name}` is a `{found}` (must be a list)")
    return list(cast("Sequence[Any]", given))


def _put_tool(given: Any, plan: dict[str, Any]) -> Any:
    if isinstance(given, str | Mapping):
        entry = _make_entry("tools", given)
        if entry["module"] != MCP_MODULE or not merge_servers(entry, plan["tools"]):
            plan["tools"].append(entry)
        return None
    if isinstance(given, FunctionTool) or (
        isinstance(getattr(given, "name", None), str) and callable(getattr(given, "execute", None))
    ):
        return cast("Any", given)
    if isinstance(given, type) and callable(getattr(given, "execute", None)):
        return given  # pyright: ignore[reportUnknownVariableType] -- the start says what is wrong with it
    if callable(given) and not isinstance(given, type):
        return tool(given)
    found = given.__name__ if isinstance(given, type) else type(given).__name__
    raise TypeError(
        f"`{found}` is no tool (must be a function, the id of a module, or an object with `name`"
        " and `execute`)"
    )


def _put_hook(given: Any, plan: dict[str, Any]) -> Hook | None:
    if isinstance(given, str | Mapping):
        plan["hooks"].append(_make_entry("hooks", given))
        return None
    if isinstance(given, Hook):
        return given
    raise TypeError(
        f"`{getattr(given, '__name__', type(given).__name__)}` is no hook; decorate the function"
        ' with `@hook("tool:pre")`, or name a module'
    )


def _put_project_notes(plan: dict[str, Any], wanted: Any) -> None:
    """Put the notes into the plan, unless it has them."""
    if not isinstance(wanted, bool):
        found = type(wanted).__name__
        raise TypeError(f"`project_notes` is a `{found}` (must be true or false)")
    named = (each if isinstance(each, str) else each.get("module") for each in plan["hooks"])
    if wanted and _PROJECT_NOTES not in named:
        plan["hooks"].append({"module": _PROJECT_NOTES, "source": Own.TABLE})


def _put_deferred_tools(session: dict[str, Any], most: Any) -> None:
    """Put into the plan how many tools requests describe in full, where that is not the usual."""
    if isinstance(most, bool) or not isinstance(most, int | None):
        found = type(most).__name__
        raise TypeError(f"`deferred_tools` is a `{found}` (must be a whole number or None)")
    if most is not None and most < 0:
        raise ValueError(f"`deferred_tools` is {most} (must be 0 or more, or None)")
    if most != USUAL_TOOLS:
        _configure(session, "orchestrator", {"deferred_tools": most})


def _check_client(client: Any, provider: Any) -> httpx2.AsyncClient | None:
    if client is None:
        return None
    from amplifier_providers.connections.own_client import is_http_client

    if not is_http_client(client):
        found = f"{type(client).__module__.partition('.')[0]}.{type(client).__qualname__}"
        raise TypeError(f"`http_client` is a `{found}` (must be an `httpx2.AsyncClient`)")
    if provider is not None:
        raise ValueError(
            "`http_client` has no effect where `model` is a provider: give it to the provider"
        )
    return client


def _put_store(plan: dict[str, Any], given: Any) -> Store | None:
    """Put the store into the plan, or return the object.

    Raises:
        ConfigurationError: There is no such module.
        TypeError: It is no store.
    """
    if given is None:
        return None
    session = plan["session"]
    if isinstance(given, str):
        from amplifier_modules.stores.naming import make_store_entry

        entry = make_store_entry(given)
        module = entry["module"]
        if module not in MODULES and not list_other_sources(module):
            known = [name.removeprefix("store-") for name in MODULES if name.startswith("store-")]
            advice = suggest_or_list(given, known)
            raise ConfigurationError(f"`store` is `{given}`, but there is no such store{advice}")
        session["store"] = entry
        return None
    if isinstance(given, Mapping):
        session["store"] = _make_entry("store", given)
        return None
    from amplifier_modules.stores import Store

    if isinstance(given, type) or not isinstance(given, Store):
        found = given.__name__ if isinstance(given, type) else type(given).__name__
        raise TypeError(f"`store` is `{found}` (must be text such as `sqlite`, or a `Store`)")
    session.pop("store", None)
    return given


def _resolve_folder(plan: dict[str, Any], directory: str | Path | None) -> Path | None:
    if directory is None:
        return None
    if not isinstance(directory, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        found = type(directory).__name__
        raise TypeError(f"`directory` is a `{found}` (must be text or a `Path`)")
    folder = Path(directory).expanduser().resolve()
    if not folder.is_dir():
        raise ValueError(f"`directory` is `{directory}`, which is no folder")
    for position, entry in enumerate(plan["tools"]):
        entry = _make_entry("tools", entry)
        if entry["module"] in _WITH_ROOT:
            entry["config"] = {"root": str(folder), **(entry.get("config") or {})}
            plan["tools"][position] = entry
    return folder


def _configure(session: dict[str, Any], slot: str, config: dict[str, Any]) -> None:
    entry = _make_entry(slot, session[slot])
    entry["config"] = {**(entry.get("config") or {}), **config}
    session[slot] = entry
