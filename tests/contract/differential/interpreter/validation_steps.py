"""What programs do with the validators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from values import build
from world import World, step

PHRASES = (
    "import", "__init__.py", "mount", "async", "2 parameters", "coordinator",
    "No provider was mounted", "No tool was mounted", "No orchestrator was mounted",
    "No context was mounted", "implements Provider interface", "implements Tool interface",
    "must be a dict", "must be a list", "empty", "string", "unknown", "session", "orchestrator",
    "context", "module", "config", "source",
)  # fmt: skip
"""What callers look for in messages."""

FIXED = {
    "module_importable": ("import", "__init__.py"),
    "mount_exists": ("mount",),
    "mount_signature": ("async", "2 parameters"),
    "on_session_ready_async": ("async", "coordinator"),
    "protocol_compliance": PHRASES[6:12],
}


def check(found: Any) -> list[Any]:
    """A check without the words of its message that no contract fixes."""
    phrases = FIXED.get(found.name, ("must be a dict", "must be a list", "empty", "unknown"))
    message = [phrase for phrase in phrases if phrase in found.message]
    if found.passed and found.name != "protocol_compliance":
        message = []
    return [found.name, found.passed, found.severity, message]


def report(result: Any) -> Any:
    return {
        "passed": result.passed,
        "summary": result.summary(),
        "checks": [check(found) for found in result.checks],
        "errors": [found.name for found in result.errors],
        "warnings": [found.name for found in result.warnings],
    }


@step
async def validate(world: World, kind: str, module: str, **options: Any) -> Any:
    from loader_steps import forget

    from amplifier_core import validation

    validator = getattr(validation, f"{kind}Validator")()
    place = str(Path(world.folder) / module) if "/" in module else module
    try:
        return report(await validator.validate(place, **build(options)))
    finally:
        forget(world)


@step
def mount_plan(world: World, plan: Any) -> Any:
    from amplifier_core.validation import MountPlanValidator

    found = report(MountPlanValidator().validate(build(plan)))
    return {key: sorted(item) if isinstance(item, list) else item for key, item in found.items()}


@step
def format_errors(world: World, plan: Any) -> Any:
    from amplifier_core.validation import MountPlanValidator

    text = MountPlanValidator().validate(build(plan)).format_errors()
    return [text == "No errors", text.startswith("Mount Plan Validation Failed")]


@step
def ready_check(world: World, kind: str) -> Any:
    """The verdict on an `on_session_ready` of some kind."""
    from types import SimpleNamespace

    from amplifier_core.validation.base import check_on_session_ready

    async def good(coordinator: Any) -> None: ...
    async def more(coordinator: Any, **options: Any) -> None: ...
    async def bare() -> None: ...
    async def defaulted(coordinator: Any = None) -> None: ...
    def plain(coordinator: Any) -> None: ...

    kinds = {"good": good, "more": more, "bare": bare, "defaulted": defaulted, "plain": plain}
    module = SimpleNamespace()
    if kind in kinds:
        module.on_session_ready = kinds[kind]
    found = check_on_session_ready(module)
    return None if found is None else check(found)


@step
def tool_result_errors(world: World, function: str, value: Any) -> Any:
    """How many errors a dict has for `proto_schema`."""
    from amplifier_core.validation import proto_schema

    errors = getattr(proto_schema, function)(build(value))
    return len(errors) > 0
