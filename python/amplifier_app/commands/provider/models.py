"""`amplifier-core provider models NAME`: the models that a service names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.model_choice import require_engine
from amplifier_app.commands.provider.mount import mount_provider, provider_config, run
from amplifier_app.commands.provider.output import Report, foreign, in_columns
from amplifier_app.commands.provider_choice import KnownProvider, known_provider

if TYPE_CHECKING:
    from amplifier_core.models import ModelInfo


def listed_models(report: Report, name: str, config: str | None, seconds: float) -> None:
    """Write the models of a provider, sorted by their names.

    Raises:
        Failure: There is no such provider, or no key for it.
        LLMError: The service cannot be reached, or refuses.
    """
    provider = known_provider(name)
    require_engine()
    settings = provider_config(provider, config, seconds)
    with report.waiting(f"asking {name} for its models …"):
        models = run(_models(provider, settings))
    models.sort(key=lambda model: model.id.lower())
    if report.as_json:
        report.data({"models": [_data(model) for model in models]})
        return
    if not models:
        report.aside(f"`{name}` names no models")
        return
    hidden: set[str] = set()
    if report.width is not None and len(models) > 1:  # in a pipe each line says all
        hidden.update(models[0].capabilities)
        hidden.intersection_update(*(model.capabilities for model in models))
    rows = [("MODEL", "CONTEXT", "OUTPUT", "CAPABILITIES")]
    rows += [
        (
            foreign(model.id),
            _tokens(model.context_window),
            _tokens(model.max_output_tokens),
            ", ".join(sorted(foreign(each) for each in set(model.capabilities) - hidden)) or "-",
        )
        for model in models
    ]
    report.lines(in_columns(rows, report.width, right=(1, 2)))
    default = f"; the default is `{provider.model}`" if provider.model else ""
    report.aside(f"{len(models)} models{default}")
    if hidden:
        report.aside(f"all of them: {', '.join(sorted(hidden))}")


async def _models(provider: KnownProvider, config: Any) -> list[ModelInfo]:
    async with mount_provider(provider, config) as found:
        models: Sequence[ModelInfo] = await found.list_models()
        return list(models)


def _tokens(count: int) -> str:
    """The size in thousands, as services speak of it; a dash if it is not known."""
    if not count:
        return "-"
    return str(count) if count < 1000 else f"{count / 1000:,.0f}k"


def _data(model: ModelInfo) -> dict[str, Any]:
    return {
        "id": model.id,
        "display_name": model.display_name,
        "context_window": model.context_window or None,
        "max_output_tokens": model.max_output_tokens or None,
        "capabilities": sorted(model.capabilities),
    }
