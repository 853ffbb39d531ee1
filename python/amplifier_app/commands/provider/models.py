"""`amplifier-core provider models NAME`: the models that a service names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.model_choice import require_engine
from amplifier_app.commands.provider.mount import mount_provider, provider_config, run
from amplifier_app.commands.provider_choice import KnownProvider, known_provider
from amplifier_app.commands.report import Report, write_foreign

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
        models = run(_list_models(provider, settings))
    models.sort(key=lambda model: model.id.lower())
    if report.as_json:
        report.write_data({"models": [_describe_model(model) for model in models]})
        return
    if not models:
        report.say_aside(f"`{name}` names no models")
        return
    hidden: set[str] = set()
    if report.width is not None and len(models) > 1:  # in a pipe each line says all
        hidden.update(models[0].capabilities)
        hidden.intersection_update(*(model.capabilities for model in models))
    rows = [("MODEL", "CONTEXT", "OUTPUT", "CAPABILITIES")]
    rows += [
        (
            write_foreign(model.id),
            _write_tokens(model.context_window),
            _write_tokens(model.max_output_tokens),
            ", ".join(sorted(write_foreign(each) for each in set(model.capabilities) - hidden))
            or "-",
        )
        for model in models
    ]
    report.write_lines(in_columns(rows, report.width, right=(1, 2)))
    default = f"; the default is `{provider.model}`" if provider.model else ""
    report.say_aside(f"{len(models)} models{default}")
    if hidden:
        report.say_aside(f"all of them: {', '.join(sorted(hidden))}")


async def _list_models(provider: KnownProvider, config: Any) -> list[ModelInfo]:
    async with mount_provider(provider, config) as found:
        models: Sequence[ModelInfo] = await found.list_models()
        return list(models)


def _write_tokens(count: int) -> str:
    """The size in thousands, as services speak of it; a dash if it is not known."""
    if not count:
        return "-"
    return str(count) if count < 1000 else f"{count / 1000:,.0f}k"


def _describe_model(model: ModelInfo) -> dict[str, Any]:
    return {
        "id": model.id,
        "display_name": model.display_name,
        "context_window": model.context_window or None,
        "max_output_tokens": model.max_output_tokens or None,
        "capabilities": sorted(model.capabilities),
    }
