"""The modules that a user names: with `--module`, and in the file of `--plan`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from amplifier_app.failure import Failure
from amplifier_core.known_modules import (
    TYPE_TO_MOUNT_POINT,
    Kind,
    guess_kind,
    list_known_sources,
    suggest_module,
)
from amplifier_core.mount_plan import LISTS, MAIN_MODULES, STORE, PlanFileError, read_plan

from .module_summary import summary_of

_WRONG_USAGE = 2
_SECTIONS: dict[Kind, str] = {"provider": "providers", "tool": "tools", "hook": "hooks"}
_EXAMPLE = '{"root": "src"}'


@dataclass(frozen=True)
class NamedModule:
    """A module that `--module` names."""

    module_id: str
    kind: Kind
    config: Mapping[str, Any]


@dataclass(frozen=True)
class NamedModules:
    """What `--plan` and `--module` add to the mount plan of the command, or put in its place."""

    plan: Mapping[str, Any] = field(default_factory=dict[str, Any])
    modules: tuple[NamedModule, ...] = ()

    @property
    def names_provider(self) -> bool:
        """Whether a provider takes the place of the usual one."""
        return bool(self.plan.get("providers")) or self._has_kind("provider")

    @property
    def provider(self) -> tuple[str, Mapping[str, Any]] | None:
        """The id and the config of the first provider that takes the place of the usual one."""
        specs: list[Any] = [
            *(self.plan.get("providers") or ()),
            *(
                {"module": each.module_id, "config": each.config}
                for each in self.modules
                if each.kind == "provider"
            ),
        ]
        if not specs:
            return None
        spec = _make_spec(specs[0])
        return str(spec.get("module")), spec.get("config") or {}

    @property
    def store_entry(self) -> dict[str, Any] | None:
        """The module that stores sessions, in the place of the usual one; None where none is named."""
        session: Any = self.plan.get("session")
        named: Any = (
            cast("dict[str, Any]", session).get(STORE) if isinstance(session, dict) else None
        )
        entry: Any = None if named is None else _make_spec(named)
        for module in self.modules:
            if _is_store(module.module_id):
                spec = {"module": module.module_id, "config": dict(module.config)}
                entry = _merge_config(entry or {}, spec)
        return entry

    def has_module(self, module_id: str) -> bool:
        """Whether `--module` names a module."""
        return any(module.module_id == module_id for module in self.modules)

    def keeps_tool(self, module_id: str) -> bool:
        """Whether one of the usual tools is mounted: a plan may have others in their place."""
        tools: Any = self.plan.get("tools")
        listed = cast("list[Any]", tools) if isinstance(tools, list) else []
        is_listed = any(_make_spec(each).get("module") == module_id for each in listed)
        return "tools" not in self.plan or is_listed or self.has_module(module_id)

    def build_plan(
        self, usual: Mapping[str, Any], guard: str, model: str | None = None
    ) -> dict[str, Any]:
        """Return the mount plan of a run.

        A section of the plan takes the place of the usual one; so does a loop, a context or a
        provider of `--module`, while a tool or a hook is added. The guard is always there and our
        own, and the plan is strict.

        Args:
            usual: The mount plan without what is named.
            guard: The id of the guard.
            model: The model to use.

        Raises:
            Failure: The plan does not have the form of a mount plan.
        """
        plan: dict[str, Any] = {**usual, **self.plan}
        session = self.plan.get("session", {})
        if isinstance(session, dict):
            session = {**usual["session"], **cast("dict[str, Any]", session), "strict": True}
        plan["session"] = session
        _check_form(plan)
        for section in LISTS:
            entries: list[Any] = plan.get(section) or []
            plan[section] = [_make_spec(each) for each in entries]
        if "hooks" in self.plan:
            plan["hooks"] = _with_usual(usual["hooks"], plan["hooks"])
        has_usual = any(self.has_module(each["module"]) for each in usual["providers"])
        if self._has_kind("provider") and not self.plan.get("providers") and not has_usual:
            plan["providers"] = []
        for module in self.modules:
            _add(plan, module)
        if model is not None and self.names_provider:
            first, *others = cast("list[dict[str, Any]]", plan["providers"])
            config: dict[str, Any] = {**(first.get("config") or {}), "default_model": model}
            plan["providers"] = [{**first, "config": config}, *others]
        # Whatever else is called so: a run is checked by our own guard.
        own = next(each["source"] for each in usual["hooks"] if each["module"] == guard)
        plan["hooks"] = [
            {**each, "source": own} if each.get("module") == guard else each
            for each in plan["hooks"]
        ]
        return plan

    def _has_kind(self, kind: Kind) -> bool:
        return any(module.kind == kind for module in self.modules)


def named_modules(modules: Iterable[str], plan: str | None) -> NamedModules:
    """Read the values of `--module` and `--plan`.

    Raises:
        Failure: A module is unknown or its config is no JSON object; the plan cannot be read.
    """
    found: Mapping[str, Any] = {}
    if plan is not None:
        try:
            read = read_plan(Path(plan).expanduser())
        except (PlanFileError, RuntimeError) as error:
            message = f"the mount plan cannot be read: {error}"
            raise Failure(message, hint="check `--plan`", exit_code=_WRONG_USAGE) from None
        if not isinstance(read, dict):
            message = f"{plan}: a mount plan is an object, found a `{type(read).__name__}`"
            raise Failure(message, hint="check `--plan`", exit_code=_WRONG_USAGE)
        found = cast("dict[str, Any]", read)
    return NamedModules(found, tuple(map(_read_named_module, modules)))


def _read_named_module(value: str) -> NamedModule:
    module_id, has_config, written = value.partition("=")
    module_id = module_id.strip()
    sources = list_known_sources().get(module_id)
    if sources is None:
        hint = suggest_module(module_id) or "see `amplifier-core list-modules`"
        raise Failure(f"there is no module `{module_id}`", hint=hint, exit_code=_WRONG_USAGE)
    config: object = {}
    if has_config:
        hint = f"write it as `--module '{module_id}={_EXAMPLE}'`"
        try:
            config = json.loads(written)
        except RecursionError:
            message = f"the config of `{module_id}` is nested too deep"
            raise Failure(message, hint=hint, exit_code=_WRONG_USAGE) from None
        except ValueError as error:
            message = f"the config of `{module_id}` is not JSON: {error}"
            raise Failure(message, hint=hint, exit_code=_WRONG_USAGE) from None
        if not isinstance(config, dict):
            kind = type(config).__name__
            message = f"the config of `{module_id}` is a `{kind}` (must be an object)"
            raise Failure(message, hint=hint, exit_code=_WRONG_USAGE)
    kind = summary_of(sources[0]).kind or guess_kind(module_id)
    return NamedModule(module_id, kind, cast("dict[str, Any]", config))


def _check_form(plan: dict[str, Any]) -> None:
    from amplifier_core.validation.mount_plan import MountPlanValidator

    errors = MountPlanValidator(allow_names=True).validate(plan).errors
    if errors:
        listed = "; ".join(check.message for check in errors)
        message = f"the mount plan is wrong: {listed}"
        raise Failure(message, hint="correct the file of `--plan`", exit_code=_WRONG_USAGE)


def _make_spec(entry: Any) -> dict[str, Any]:
    return {"module": entry} if isinstance(entry, str) else entry


def _with_usual(usual: list[dict[str, Any]], hooks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The hooks of a plan after the usual ones that it does not name itself."""
    named = {each.get("module") for each in hooks}
    return [*(each for each in usual if each["module"] not in named), *hooks]


def _add(plan: dict[str, Any], module: NamedModule) -> None:
    spec = {"module": module.module_id, "config": dict(module.config)}
    place = STORE if _is_store(module.module_id) else module.kind
    if place in (*MAIN_MODULES, STORE):
        usual = _make_spec(plan["session"].get(place) or {})
        plan["session"] = {**plan["session"], place: _merge_config(usual, spec)}
    elif (section := _SECTIONS.get(module.kind)) is not None:
        entries: list[dict[str, Any]] = plan[section]
        same = next((each for each in entries if each.get("module") == module.module_id), None)
        if same is None:
            plan[section] = [*entries, spec]
        else:
            plan[section] = [
                _merge_config(each, spec) if each is same else each for each in entries
            ]
    else:
        known = ", ".join(f"`{kind}`" for kind in TYPE_TO_MOUNT_POINT if kind != "resolver")
        message = f"`{module.module_id}` is a `{module.kind}` (`run` mounts {known})"
        raise Failure(message, hint="choose another", exit_code=_WRONG_USAGE)


def _is_store(module_id: str) -> bool:
    return module_id.startswith("store-")


def _merge_config(usual: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """The spec of a module with the config that is there already, if it is the same module."""
    if usual.get("module") != spec["module"]:
        return spec
    return {**usual, "config": {**(usual.get("config") or {}), **spec["config"]}}
