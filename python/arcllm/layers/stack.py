"""The layers around a provider, in their order, each there only if it is switched on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeAlias, cast

from pydantic import BaseModel, ValidationError

from amplifier_core.suggest import suggest_or_list
from amplifier_providers.value_problems import describe_problem

from ..exceptions import ArcLLMConfigError
from ..step import Step
from .tool_calls import ToolCallLayer

OpenTarget: TypeAlias = Callable[[str, str | None], Step]
"""Opens a provider by its name, with a model or its default one; nothing is sent."""

ORDER = (
    "otel", "telemetry", "audit", "security", "budget", "routing", "retry", "fallback", "rate_limit",
)  # fmt: skip
"""The layers, outermost first."""
_PASSIVE = ORDER[: ORDER.index("routing")]
"""Those that surround whichever model is asked."""


def build_stack(
    provider: Step,
    modules: Mapping[str, Mapping[str, Any]],
    open_target: OpenTarget,
    check_provider: Callable[[str], object] | None = None,
) -> Step:
    """Put the layers around a provider.

    Each model that `routing` may choose has its own retries and fallbacks, and each provider that
    `fallback` may turn to its own rate limit; all else holds for whoever answers. Tool calls are
    always compared with the schemas of their tools.

    Args:
        provider: The provider, bare.
        modules: The settings of each layer that is on.
        open_target: Opens further providers, bare.
        check_provider: Raises an `ArcLLMConfigError` if there is no provider of a name; None if any
            name is right.

    Raises:
        ArcLLMConfigError: There is no such layer, a setting cannot be used, or a package is missing.
    """
    settings = {name: _read_layer_settings(name, given) for name, given in modules.items()}

    def add_layer(name: str, beneath: Step, *more: Any) -> Step:
        return (
            _load_part(name, "Layer")(beneath, settings[name], *more)
            if name in settings
            else beneath
        )

    def add_rate_limit(step: Step) -> Step:
        return add_layer("rate_limit", ToolCallLayer(step))

    def add_recovery(step: Step) -> Step:
        def open_limited(name: str, model: str | None) -> Step:
            return add_rate_limit(open_target(name, model))

        return add_layer(
            "retry", add_layer("fallback", add_rate_limit(step), open_limited, check_provider)
        )

    step = add_recovery(provider)
    if "routing" in settings:
        step = add_layer("routing", step, provider, open_target, add_recovery)
    for name in reversed(_PASSIVE):
        step = add_layer(name, step)
    return step


def clear_cache() -> None:
    """Forget what models of this process share: the rate limits, and the ways to a collector."""
    for module, forget in (("rate_limit", "clear_limits"), ("otel_export", "clear_pipelines")):
        # Only what was used has anything to forget.
        if (used := sys.modules.get(f"{__package__}.{module}")) is not None:
            getattr(used, forget)()


def _read_layer_settings(name: str, given: Mapping[str, Any]) -> BaseModel:
    """Return the settings of a layer.

    Raises:
        ArcLLMConfigError: It names the layer and each key that is wrong.
    """
    if name not in ORDER:
        raise ArcLLMConfigError(f"`{name}` is not a layer{suggest_or_list(name, list(ORDER))}")
    model = cast("type[BaseModel]", _load_part(name, "Settings"))
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        details = error.errors(include_url=False)
    # Not raised above, where the values, secrets among them, would be its context.
    problems = "; ".join(describe_problem(model, detail, {}) for detail in details)
    raise ArcLLMConfigError(f"{name}: {problems}")


def _load_part(name: str, part: str) -> Any:
    """Return the settings or the layer of a name: `rate_limit` has `RateLimitSettings`."""
    stem = "".join(word.capitalize() for word in name.split("_"))
    return getattr(import_module(f"{__package__}.{name}"), stem + part)
