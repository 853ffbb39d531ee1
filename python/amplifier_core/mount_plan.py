"""The mount plan: its sections, the forms of their entries, its file, and what is wrong with it.

Rust's counterpart is `session_config.rs`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, cast

from ._kernel.argument import take_integer
from .error_messages import error_text

if TYPE_CHECKING:
    from pathlib import Path

MAIN_MODULES = ("orchestrator", "context")
"""Fields of the section `session` that name a module; every session needs both."""

STORE = "store"
"""Field of the section `session` that names the module which stores the session."""

LISTS = ("providers", "tools", "hooks")
"""Sections that list modules."""

SECTIONS = frozenset({"session", "agents", *MAIN_MODULES, *LISTS})
"""Every section."""

_DEFAULTS = {"orchestrator": "loop-basic", "context": "context-simple"}

MAIN_LABELS: dict[Literal["orchestrator", "context"], str] = {
    "orchestrator": "orchestrator",
    "context": "context manager",
}
"""The main modules as errors call them."""
UNNAMED_INSTANCES = "Multi-instance providers"
"""How the error begins about providers that would have one name."""


class MountPlanError(RuntimeError, ValueError):
    """A mount plan that cannot be followed."""


# Errors are pickled by the path that callers import them from.
MountPlanError.__module__ = "amplifier_core._session_init"


def check_main_modules(plan: Any) -> None:
    """Check that a mount plan names the modules that every session needs.

    Raises:
        ValueError: It is empty or does not name them.
        TypeError: It is not a dict.
    """
    if plan is None or plan == {}:
        raise ValueError("Configuration is required")
    if not isinstance(plan, dict):
        found = type(plan).__name__
        raise TypeError(f"`config` must be a dict with a section `session`, not `{found}`")
    section: Any = cast("dict[str, Any]", plan).get("session")
    for name in MAIN_MODULES:
        if not isinstance(section, dict) or not cast("dict[str, Any]", section).get(name):
            raise ValueError(f"Configuration must specify session.{name}")


def find_main_entry(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the entry of a main module, which may be named by its id alone."""
    section: Any = plan.get("session") or {}
    named = section.get(name)
    if issubclass(type(named), dict):
        return named if named.get("module") else {**named, "module": _DEFAULTS[name]}
    settings: Any = plan.get(name) or {}
    source = section.get(f"{name}_source")
    return {
        "module": named or _DEFAULTS[name],
        "source": source,
        "config": settings.get("config"),
    }


def find_store_entry(plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry of the module that stores the session; None where none does.

    Raises:
        MountPlanError: It is neither a module id nor a dict with `module`.
    """
    section: Any = plan.get("session") or {}
    named: Any = section.get(STORE)
    if named is None:
        return None
    entry: Any = {"module": named} if isinstance(named, str) else named
    if not isinstance(entry, dict) or not cast("dict[str, Any]", entry).get("module"):
        is_shown = isinstance(named, str | dict)
        found = repr(cast("object", named)) if is_shown else type(named).__name__
        raise MountPlanError(
            f"`session.store` in the mount plan must be a module id or a dict with `module`, found"
            f" `{found}`"
        )
    return cast("dict[str, Any]", entry)


def listed_entries(plan: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the entries of the sections of `LISTS`, in their order.

    Raises:
        MountPlanError: A section is not a list of entries, or two entries of one provider module
            would have the same name.
    """
    listed = [_list_entries(plan[each], each) if plan.get(each) else [] for each in LISTS]
    if len(listed[0]) > 1:
        _check_instances(listed[0])
    return listed


def session_number(plan: Any, name: str) -> int | None:
    """Return a whole number of the section `session`; None if it is not set.

    Raises:
        TypeError: It is not an integer.
        OverflowError: It has more than 64 bits.
    """
    if not issubclass(cast("type[Any]", type(plan)), dict):
        return None
    section = plan.get("session")
    if not issubclass(type(section), dict):
        return None
    value = cast("dict[str, Any]", section).get(name)
    return None if value is None else take_integer(value, f"config.session.{name}", bits=64)


def is_strict(plan: dict[str, Any]) -> bool:
    """Whether a mistake in the plan is an error."""
    section: Any = plan.get("session")
    return isinstance(section, dict) and bool(cast("dict[str, Any]", section).get("strict"))


def plan_for_events(plan: dict[str, Any]) -> dict[str, Any]:
    """Return what the events that announce a session carry of its plan.

    That is the `metadata` of its section `session` and, where `raw` asks for it, the whole plan
    without its secrets.
    """
    section: Any = plan.get("session") or {}
    payload: dict[str, Any] = {}
    if section.get("metadata"):
        payload["metadata"] = section["metadata"]
    if section.get("raw"):
        from .utils.truncate import redact_secrets

        payload["raw"] = redact_secrets(plan)
    return payload


def list_mistakes(error: BaseException) -> tuple[str, ...]:
    """Return the mistakes that the error of a strict mount plan lists; empty for other errors."""
    listed: object = getattr(error.__cause__, "mistakes", ())
    return cast("tuple[str, ...]", listed) if isinstance(listed, tuple) else ()


def _list_entries(listed: Any, section: str) -> list[dict[str, Any]]:
    """The entries of a section that name a module."""
    if not issubclass(type(listed), (list, tuple)):
        found = type(listed).__name__
        raise MountPlanError(f"`{section}` in the mount plan must be a list, found `{found}`")
    entries: list[dict[str, Any]] = []
    for position, entry in enumerate(listed):
        if isinstance(entry, str):
            entries.append({"module": entry})
        elif issubclass(type(entry), dict):
            if entry.get("module"):
                entries.append(entry)
        else:
            found = type(entry).__name__
            raise MountPlanError(
                f"`{section}[{position}]` in the mount plan must be a module id or a dict with "
                f"`module`, found `{found}`"
            )
    return entries


def _check_instances(providers: list[dict[str, Any]]) -> None:
    """Refuse two entries of one provider module that would have the same name."""
    unnamed = Counter(
        entry["module"]
        for entry in providers
        if not entry.get("instance_id") and isinstance(entry["module"], str)
    )
    for module_id, count in unnamed.items():
        if count > 1:
            raise MountPlanError(
                f"{UNNAMED_INSTANCES} require explicit 'instance_id' on all entries but one: "
                f"found {count} entries of module '{module_id}' without it"
            )


SUFFIXES = (".json", ".toml")
"""The endings of the files that hold a mount plan."""
MAX_PLAN_BYTES = 4 << 20
"""More is a mistake: the file is something else."""


class PlanFileError(ValueError):
    """A file that cannot be read as a mount plan: the text names it, and the line of a mistake."""


def read_plan(path: Path) -> Any:
    """Read the plan in a file.

    Raises:
        PlanFileError: There is none, or it cannot be read.
    """
    if path.suffix not in SUFFIXES:
        raise PlanFileError(f"{path}: its name must end with `.toml` or `.json`")
    try:
        if not path.is_file():
            what = "it is not a regular file" if path.exists() else "there is no such file"
            raise PlanFileError(f"{path}: {what}")
        with path.open("rb") as file:
            content = file.read(MAX_PLAN_BYTES + 1)
    except OSError as error:
        raise PlanFileError(f"{path}: {error.strerror or error}") from error
    if len(content) > MAX_PLAN_BYTES:
        message = f"{path}: it is larger than {MAX_PLAN_BYTES >> 20} MiB, the most a plan may have"
        raise PlanFileError(message)
    try:
        text = content.decode("utf-8-sig")
        if not text.strip():
            raise PlanFileError(f"{path}: it is empty")
        if path.suffix == ".toml":
            import tomllib  # late, as `json`: few programs read a plan from a file

            return tomllib.loads(text)
        import json

        return json.loads(text)
    except PlanFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"{path}{_explain_error(error)}") from error


def _explain_error(error: Exception) -> str:
    """Why the text is no plan, after its path: with the line of a mistake where there is one."""
    if isinstance(error, UnicodeDecodeError):
        return f": it is not UTF-8 text (byte {error.start})"
    if isinstance(error, RecursionError):
        return ": it is nested too deep"
    import json
    import re

    if isinstance(error, json.JSONDecodeError):
        return f":{error.lineno}: {error.msg} (column {error.colno})"
    text = error_text(error)
    place = re.search(r" \(at line (\d+), (column \d+)\)$", text)
    if place is None:
        return f": {text}"
    return f":{place[1]}: {text[: place.start()]} ({place[2]})"
