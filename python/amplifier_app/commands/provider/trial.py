"""`amplifier-core provider test NAME[:MODEL]`: one cheap call, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.model_choice import require_engine
from amplifier_app.commands.provider.mount import mount_provider, provider_config, run
from amplifier_app.commands.provider_choice import (
    DEMO,
    PROVIDER_MODELS,
    KnownProvider,
    known_provider,
)
from amplifier_app.commands.report import Report, write_foreign
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_core.message_models import ChatResponse

_PROMPT = "Count from one to twenty in words, on one line. Write nothing else."
"""Enough tokens to measure a speed, few enough to cost nearly nothing."""
_MAX_OUTPUT_TOKENS = 1_000
"""A model that thinks needs room for it; the others write a tenth of this."""
_MIN_SECONDS = 0.005
"""An answer that arrives at once has no speed."""


@dataclass(frozen=True)
class Trial:
    """What one call took; times are in seconds."""

    response: ChatResponse
    total: float
    first_token: float | None
    """Until the first piece of the answer, thinking included; the connection is made in it."""
    hears_thinking: bool
    """Whether thinking was among the pieces."""

    @property
    def tokens_per_second(self) -> float | None:
        """The speed after the first piece; None if it is not known."""
        usage = self.response.usage
        if usage is None or self.first_token is None:
            return None
        hidden = 0 if self.hears_thinking else usage.reasoning_tokens or 0
        written, seconds = usage.output_tokens - hidden, self.total - self.first_token
        return written / seconds if written > 1 and seconds >= _MIN_SECONDS else None

    @property
    def cost(self) -> Decimal | None:
        """US dollars; None if the price is not known."""
        return None if self.response.usage is None else self.response.usage.cost_usd


def try_model(report: Report, text: str, config: str | None, seconds: float) -> None:
    """Ask a model once, and write what that took.

    Raises:
        Failure: There is no such provider, no key for it, or no model is named.
        LLMError: The service cannot be reached, or refuses.
    """
    name, _, model = text.partition(":")
    provider = known_provider(name)
    settings = dict(provider_config(provider, config, seconds))
    model = model or str(settings.get("default_model") or provider.model)
    if not model:
        message = f"`{name}` has no usual model"
        hint = f"name one: `{name}:MODEL`; `{PROVIDER_MODELS} {name}` lists them"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    if provider is not DEMO:
        settings["default_model"] = model
    require_engine()
    with report.waiting(f"asking {name} …"):
        trial = run(_run_trial(provider, settings))
    metadata = trial.response.metadata or {}
    answered_by = write_foreign(str(metadata.get("model") or model))
    if report.as_json:
        report.write_data(_describe_trial(trial, model, answered_by))
        return
    is_same = answered_by == model or provider is DEMO
    asked = "" if is_same else f" (asked for {write_foreign(model)})"
    report.write_lines([f"{name} works: {answered_by} answered{asked}"])
    report.write_lines(
        in_columns([(f"  {label}", value) for label, value in list_measurements(trial)], None)
    )


async def _run_trial(provider: KnownProvider, config: Mapping[str, Any]) -> Trial:
    # Imported before the time is taken.
    import httpx2  # noqa: F401  # pyright: ignore[reportUnusedImport]

    import amplifier_stream  # noqa: F401  # pyright: ignore[reportUnusedImport]
    from amplifier_core.message_models import ChatRequest, ChatResponse, Message
    from amplifier_providers.base import checked_chunks
    from amplifier_providers.running.closing import closing

    request = ChatRequest(
        messages=[Message(role="user", content=_PROMPT)], max_output_tokens=_MAX_OUTPUT_TOKENS
    )
    first: float | None = None
    kinds: set[str] = set()
    async with mount_provider(provider, config) as found:
        begin = world.monotonic()
        async with closing(checked_chunks(found, request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatResponse):
                    return Trial(piece, world.monotonic() - begin, first, "thinking" in kinds)
                first = world.monotonic() - begin if first is None else first
                kinds.add(str(getattr(piece, "type", "message")))
    raise RuntimeError(f"`{provider.name}` ended its answer without a response")


def list_measurements(trial: Trial) -> list[tuple[str, str]]:
    """Return what was measured, for people: what it is and its value."""
    usage, speed = trial.response.usage, trial.tokens_per_second
    known = "not known"
    first = known if trial.first_token is None else _write_duration(trial.first_token)
    tokens = known if usage is None else f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"
    cost = "the price is not known" if trial.cost is None else f"${_write_cost(trial.cost)}"
    return [
        ("first token", first),
        ("whole answer", _write_duration(trial.total)),
        ("speed", known if speed is None else f"{speed:,.0f} tokens a second"),
        ("tokens", tokens),
        ("cost", cost),
    ]


def _describe_trial(trial: Trial, model: str, answered_by: str) -> dict[str, Any]:
    usage, speed = trial.response.usage, trial.tokens_per_second
    first = trial.first_token
    return {
        "model": model,
        "answered_by": answered_by,
        "first_token_ms": None if first is None else round(first * 1000, 1),
        "total_ms": round(trial.total * 1000, 1),
        "tokens_per_second": None if speed is None else round(speed, 1),
        "usage": None if usage is None else usage.model_dump(mode="json", exclude={"cost_usd"}),
        "cost_usd": None if trial.cost is None else _write_cost(trial.cost),
        "finish_reason": trial.response.finish_reason,
    }


def _write_cost(cost: Decimal) -> str:
    """The cost with two figures that count, never as a power of ten."""
    if not cost:
        return "0"
    places = max(2, 1 - cost.adjusted())
    return f"{cost:.{places}f}"


def _write_duration(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 10 else f"{seconds:,.1f} s"
