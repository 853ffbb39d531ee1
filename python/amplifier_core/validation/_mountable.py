"""What can be mounted of a plan with mistakes, so that one of them does not hide the others."""

from __future__ import annotations

from typing import Any, cast

from amplifier_core.known_modules import Own
from amplifier_core.mount_plan import LISTS

OWN: dict[str, dict[str, Any]] = {
    "orchestrator": {"module": "loop-basic", "source": Own.TABLE},
    "context": {"module": "context-simple", "source": Own.TABLE},
}
"""What takes the place of a main module that cannot be had."""


def with_own(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a plan with our own loop or context."""
    rest = {key: value for key, value in plan.items() if key != name}
    return {**rest, "session": {**plan["session"], name: OWN[name]}}


def mountable(plan: dict[str, Any]) -> dict[str, Any]:
    """Return a plan with those specs alone that have the form of one; their places stay."""
    session: Any = plan.get("session")
    rest: dict[str, Any] = {**plan, "session": session if isinstance(session, dict) else {}}
    for name in LISTS:
        listed: Any = plan.get(name) or []
        specs = cast("list[Any]", listed) if isinstance(listed, list) else []
        rest[name] = [spec if _is_spec(spec) else {} for spec in specs]
    for name in OWN:
        if not _is_spec(rest["session"].get(name)):
            rest = with_own(rest, name)
    return rest


def with_instance_ids(providers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the specs of providers with a name each."""
    return [
        spec
        if spec.get("instance_id")
        else {**spec, "instance_id": f"{spec.get('module')}-{number}"}
        for number, spec in enumerate(providers)
    ]


def _is_spec(spec: Any) -> bool:
    if isinstance(spec, dict):
        known = cast("dict[str, Any]", spec)
        config: Any = known.get("config")
        return isinstance(known.get("module"), str) and isinstance(config, dict | None)
    return isinstance(spec, str)
