"""The mount plan of a child session, made of that of its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from amplifier_core._kernel.json_shape import native_copy_of


def child_plan(plan: Mapping[str, Any], model: Any = None, context: Any = None) -> dict[str, Any]:
    """Return the plan of the parent with another model or context.

    Args:
        plan: The parent's plan.
        model: `provider:model`, the name of a provider, or a provider; None for the parent's.
        context: A module by its id or as an entry; None for the parent's.

    Raises:
        ValueError: The model is not in one of these forms.
    """
    copy: dict[str, Any] = native_copy_of(dict(plan))
    if isinstance(context, str):
        context = {"module": context}
    if isinstance(context, Mapping):
        entry = native_copy_of(dict(cast("Mapping[str, Any]", context)))
        # A section of another class than dict is not copied: it is the parent's.
        copy["session"] = {**copy["session"], "context": entry}
    if isinstance(model, str):
        copy["providers"] = [_provider(copy.get("providers") or (), model)]
    elif model is not None:
        copy["providers"] = []
    return copy


def _provider(entries: Any, model: str) -> dict[str, Any]:
    name, _, default = (part.strip() for part in model.partition(":"))
    if not name or (":" in model and not default):
        raise ValueError(f"`model` is `{model}` (must be a provider, or `provider:model`)")
    module = f"provider-{name}"
    known = (entry for entry in map(_entry, entries) if entry.get("module") == module)
    entry: dict[str, Any] = next(known, {"module": module})
    if default:
        entry["config"] = {**(entry.get("config") or {}), "default_model": default}
    return entry


def _entry(entry: Any) -> dict[str, Any]:
    return {"module": entry} if isinstance(entry, str) else dict(entry)
