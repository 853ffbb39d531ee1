"""What a mount plan says that has no effect: unknown keys, specs that name nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast

from .._native.choice import extension
from ..error_messages import short_repr
from ..known_modules import Own
from ..mount_plan import LISTS, MAIN_MODULES, SECTIONS, STORE
from ..suggest import suggest_or_list

SESSION_KEYS = frozenset(
    {
        *MAIN_MODULES,
        STORE,
        "orchestrator_source",
        "context_source",
        "metadata",
        "raw",
        "strict",
        "injection_budget_per_turn",
        "injection_limit_per_turn",
        "injection_size_limit",
    }
)
"""Every key of the section `session`."""

SPEC_KEYS = frozenset({"module", "source", "config", "instance_id", "required"})
"""Every key of the spec of a module."""

MAIN_SECTION_KEYS = frozenset({"config"})
"""Every key of the sections `orchestrator` and `context`."""


def plan_mistakes(plan: dict[str, Any]) -> list[str]:
    """List what a mount plan says in vain, in one line each; no module is looked at."""
    return [] if _is_plain(plan) else list(find_mistakes(plan))


def find_mistakes(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the mistakes of a plan, whether or not it is plain."""
    yield from _check_keys(plan, SECTIONS, "the mount plan")
    section = _read_dict(plan.get("session"))
    yield from _check_keys(section, SESSION_KEYS, "`session`")
    yield from _check_flag(section, "strict", "session.strict")
    for name in MAIN_MODULES:
        yield from _of_main_module(plan, section, name)
    if isinstance(store := section.get(STORE), dict):
        yield from _of_spec(cast("dict[Any, Any]", store), "session.store")
    for name in LISTS:
        yield from _of_list(plan.get(name), name)


_PLAIN_SPEC = frozenset({"module", "config", "source"})


def is_plain_here(plan: dict[str, Any]) -> bool:
    """Whether a plan says nothing unusual, as nearly all do: then it has no mistake."""
    entries: list[Any] = []
    for key, value in plan.items():
        if key == "session" and isinstance(value, dict):
            for name, entry in cast("dict[Any, Any]", value).items():
                if name in MAIN_MODULES:
                    entries.append(entry)
                elif name != "strict" or not isinstance(entry, bool):
                    return False
        elif key in LISTS and isinstance(value, list):
            listed = cast("list[Any]", value)
            if key == "hooks" and len(listed) > 1:  # two may be the same
                return False
            entries += listed
        else:
            return False
    return all(map(_is_plain_spec, entries))


def _is_plain_spec(entry: Any) -> bool:
    if isinstance(entry, str):
        return entry != ""
    spec = _read_dict(entry)
    module_id = spec.get("module")
    return spec.keys() <= _PLAIN_SPEC and isinstance(module_id, str) and module_id != ""


_is_plain: Callable[[dict[str, Any]], bool] = (
    is_plain_here if extension is None else extension._is_plain_plan
)


class UnreadSource(NamedTuple):
    """A source that a mount plan names, where nobody is there to resolve it."""

    path: str
    """Where the plan says it."""
    module_id: Any

    @property
    def mistake(self) -> str:
        """The hint where the module is not found without it."""
        return f"`{self.path}` has no effect, as no `module-source-resolver` is mounted"

    @property
    def remark(self) -> str:
        """The hint where the module is found without it."""
        return (
            f"`{self.path}` is not read, as no `module-source-resolver` is mounted:"
            f" `{short_repr(self.module_id)[1:-1]}` is there without it"
        )


def unread_sources(plan: dict[str, Any]) -> Iterator[UnreadSource]:
    """Yield the sources that a mount plan names, for a session that has nobody to resolve them."""
    section = _read_dict(plan.get("session"))
    for name in MAIN_MODULES:
        entry = section.get(name)
        if not isinstance(entry, dict):
            yield from _source_at(f"session.{name}_source", section.get(f"{name}_source"), entry)
        else:
            yield from _source_of(entry, f"session.{name}")
    yield from _source_of(section.get(STORE), "session.store")
    for name in LISTS:
        listed = plan.get(name)
        entries = cast("list[Any]", listed) if isinstance(listed, list | tuple) else []
        for position, entry in enumerate(entries):
            yield from _source_of(entry, f"{name}[{position}]")


def _source_of(entry: Any, path: str) -> Iterator[UnreadSource]:
    spec = _read_dict(entry)
    yield from _source_at(f"{path}.source", spec.get("source"), spec.get("module"))


def _source_at(path: str, source: Any, module_id: Any) -> Iterator[UnreadSource]:
    # A plan of an agent may have been written and read again.
    if source and source != Own.TABLE:
        yield UnreadSource(path, module_id)


def settings_mistakes(module_id: Any, config: Any, settings: Any) -> Iterator[str]:
    """Yield what a config says that its module does not know.

    Args:
        module_id: The id of the module.
        config: Its config.
        settings: The model of settings that the module declares.
    """
    if config == {}:
        return
    fields = getattr(settings, "model_fields", None)
    if not isinstance(fields, dict):
        return
    names = cast("dict[str, Any]", fields)
    if isinstance(config, dict) and cast("dict[Any, Any]", config).keys() <= names.keys():
        return
    accepted = {
        *names,
        *_list_names(settings, "ignored_keys"),
        *_list_names(settings, "renamed_keys"),
    }
    yield from _check_keys(_read_dict(config), accepted, f"the config of `{module_id}`", names)


def _of_main_module(plan: dict[str, Any], section: dict[Any, Any], name: str) -> Iterator[str]:
    further = _read_dict(plan.get(name))
    yield from _check_keys(further, MAIN_SECTION_KEYS, f"`{name}`")
    spec = section.get(name)
    if not isinstance(spec, dict):
        return
    yield from _of_spec(cast("dict[Any, Any]", spec), f"session.{name}")
    here = f"`session.{name}` is a spec of its own"
    if further.get("config"):
        yield f"`{name}.config` has no effect, as {here}"
    if section.get(f"{name}_source"):
        yield f"`session.{name}_source` has no effect, as {here}"


def _of_list(listed: Any, section: str) -> Iterator[str]:
    entries = cast("list[Any]", listed) if isinstance(listed, list | tuple) else []
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict | str):
            continue
        spec: dict[Any, Any] = {"module": entry} if isinstance(entry, str) else _read_dict(entry)
        path = f"{section}[{position}]"
        found = list(_of_spec(spec, path))
        yield from found
        if not spec.get("module") and not found:
            yield f"`{path}` has no effect, as it names no `module`"
        same = (at for at in range(position) if entries[at] in (entry, spec))
        if section == "hooks" and (first := next(same, None)) is not None:
            yield f"`{path}` is the same as `hooks[{first}]` (`{spec.get('module')}`)"


def _of_spec(spec: dict[Any, Any], path: str) -> Iterator[str]:
    yield from _check_keys(spec, SPEC_KEYS, f"`{path}`")
    yield from _check_flag(spec, "required", f"{path}.required")
    if spec.get("instance_id") and not path.startswith("providers"):
        yield f"`{path}.instance_id` has no effect, as it names a provider"


def _check_flag(values: dict[Any, Any], key: str, path: str) -> Iterator[str]:
    if key in values and not isinstance(values[key], bool):
        yield f"`{path}` is {short_repr(values[key])} (must be true or false)"


def _check_keys(
    values: dict[Any, Any],
    accepted: Iterable[str],
    where: str,
    suggested: Iterable[str] | None = None,
) -> Iterator[str]:
    known = set(accepted)
    for key in values:
        if key not in known:
            advice = suggest_or_list(str(key), known if suggested is None else suggested)
            yield f"unknown key `{_write_key(key)}` in {where}{advice}"


def _write_key(key: object) -> str:
    """A key as it can be shown: escaped, and cut where it is long."""
    return short_repr(str(key))[1:-1]


def _list_names(settings: Any, attribute: str) -> set[str]:
    names: object = getattr(settings, attribute, ())
    is_listed = isinstance(names, frozenset | set | dict | list | tuple)
    return {str(name) for name in cast("Iterable[object]", names)} if is_listed else set()


def _read_dict(value: Any) -> dict[Any, Any]:
    return cast("dict[Any, Any]", value) if isinstance(value, dict) else {}
