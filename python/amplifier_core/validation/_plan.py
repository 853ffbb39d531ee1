"""Validation of a whole mount plan: its form, then its modules, as a strict session sees them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

from amplifier_core._loading.plan_keys import plan_mistakes
from amplifier_core.error_messages import describe_failure
from amplifier_core.known_modules import Own
from amplifier_core.mount_plan import (
    LISTS,
    MAIN_LABELS,
    UNNAMED_INSTANCES,
    PlanFileError,
    list_mistakes,
    read_plan,
)

from ._validator import KEY, MADE_UP_KEY
from .base import ValidationResult
from .mount_plan import MountPlanValidator
from .tool import check_schemas

OWN: dict[str, dict[str, Any]] = {
    "orchestrator": {"module": "loop-basic", "source": Own.TABLE},
    "context": {"module": "context-simple", "source": Own.TABLE},
}
"""What takes the place of a main module that cannot be had."""


def with_own(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a plan with our own loop or context."""
    rest = {key: value for key, value in plan.items() if key != name}
    return {**rest, "session": {**plan["session"], name: OWN[name]}}


def keep_mountable(plan: dict[str, Any]) -> dict[str, Any]:
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


KIND = "plan"
"""What a mount plan is called where modules are called by their type."""

_REPORTED_BY_SESSION = "unknown_sections"


async def validate_plan(path: str) -> ValidationResult:
    """Validate the mount plan in a file; its modules are loaded and mounted once."""
    result = ValidationResult(KIND, path)
    plan = _read(Path(path), result)
    if not result.passed:
        return result
    form = MountPlanValidator(allow_names=True).validate(plan)
    for check in form.checks:
        if check.name != _REPORTED_BY_SESSION:
            result.add(check)
    if result.passed:
        await _mount(cast("dict[str, Any]", plan), result)
    elif isinstance(plan, dict):
        await _mount_rest(cast("dict[str, Any]", plan), result)
    return result


def _read(path: Path, result: ValidationResult) -> Any:
    try:
        plan = read_plan(path)
    except PlanFileError as error:
        result.note("plan_readable", False, f"Cannot read {error}")
        return None
    result.note("plan_readable", True, f"Mount plan read from {path}")
    return plan


async def _mount_rest(plan: dict[str, Any], result: ValidationResult) -> None:
    """Mount what can be mounted of a plan whose form is wrong, and note what else is."""
    rest = keep_mountable(plan)
    found = ValidationResult(KIND, "")
    await _mount(rest, found)
    for text in plan_mistakes(plan):
        result.note("strict", False, text)
    _add_errors(found, result, {*plan_mistakes(rest)})


async def _mount(plan: dict[str, Any], result: ValidationResult) -> None:
    """Mount the modules of a plan in a strict session, and note what that session says."""
    found = await _mount_plan(plan)
    while (repaired := _repair_plan(plan, found)) is not None:
        plan = repaired
        _add_errors(await _mount_plan(plan), found, {*plan_mistakes(plan)})
    providers = _list_providers(plan)
    without_key = [
        spec for spec in providers if KEY not in _read_config(spec) and _is_failed(spec, found)
    ]
    if without_key:
        with_key = [
            {**spec, "config": {**_read_config(spec), KEY: MADE_UP_KEY}}
            if spec in without_key
            else spec
            for spec in providers
        ]
        again = await _mount_plan({**plan, "providers": with_key})
        if not any(_is_failed(spec, again) for spec in without_key):
            found = again
            for spec in without_key:
                message = f"'{spec['module']}' has no key here; it is mounted with a made-up one"
                result.note("provider_key", True, message)
    for check in found.checks:
        result.add(check)


async def _mount_plan(plan: dict[str, Any]) -> ValidationResult:
    """What a strict session says of a plan."""
    from amplifier_core import AmplifierSession

    result, warnings = ValidationResult(KIND, ""), _Warnings()
    logger = logging.getLogger("amplifier_core.session")
    logger.addHandler(warnings)
    session = AmplifierSession({**plan, "session": {**plan["session"], "strict": True}})
    try:
        await session.initialize()
    except Exception as error:  # noqa: BLE001 (a module may raise anything)
        for text in list_mistakes(error) or [describe_failure(error)]:
            result.note("strict", False, text)
    else:
        result.note("strict", True, "Every module is mounted, and all that the plan says is known")
        check_schemas(result, session.coordinator)
    finally:
        logger.removeHandler(warnings)
        await session.cleanup()
    for text in warnings.texts:
        result.note("session", False, text, "warning")
    return result


def _repair_plan(plan: dict[str, Any], found: ValidationResult) -> dict[str, Any] | None:
    """Return a plan without the mistake at which a session ended; None if it went on to the end."""
    for name, label in MAIN_LABELS.items():
        if plan["session"][name] != OWN[name] and _has_error(
            found, f"Cannot initialize without {label}:"
        ):
            return with_own(plan, name)
    if _has_error(found, UNNAMED_INSTANCES):
        named = with_instance_ids(_list_providers(plan))
        return None if named == plan["providers"] else {**plan, "providers": named}
    return None


def _add_errors(more: ValidationResult, found: ValidationResult, known: set[str]) -> None:
    """Add what further errors say, unless it was reported or is known."""
    known |= {check.message for check in found.checks}
    for check in more.checks:
        if not check.passed and check.message not in known:
            found.add(check)


def _has_error(found: ValidationResult, start: str) -> bool:
    return any(check.message.startswith(start) for check in found.errors)


def _list_providers(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The specs of the providers, all of them in the long form."""
    specs: list[Any] = plan.get("providers") or []
    return [{"module": spec} if isinstance(spec, str) else spec for spec in specs]


def _is_failed(spec: dict[str, Any], result: ValidationResult) -> bool:
    return _has_error(result, f"Failed to load provider '{spec.get('module')}':")


def _read_config(spec: dict[str, Any]) -> dict[str, Any]:
    return spec.get("config") or {}


class _Warnings(logging.Handler):
    """Keeps what a session warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one warning."""
        self.texts.append(record.getMessage())
