"""The model that answers a call, chosen by rules before it is made."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from amplifier_providers.running.closing import closing
from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMConfigError
from ..step import Call, Piece, Step
from ..types import LLMResponse
from .candidate import Candidate, Needs, TargetSetting, naming
from .layer import Layer


class RoutingRule(Settings):
    """Which models may answer a call.

    `capability` leaves out the models that cannot do what the call needs, `window` those whose context
    window is too small for it, and `cost` puts the one first whose input costs least. A model about
    which nothing is known is kept, and is the last by cost.
    """

    by: Literal["capability", "window", "cost"]
    """What decides."""
    needs: list[Literal["vision", "tools", "thinking"]] = Field(
        default_factory=list[Literal["vision", "tools", "thinking"]]
    )
    """Of `capability`: what each call needs besides what its images, tools and options say."""
    reserve_tokens: int = Field(default=4096, ge=0, le=100_000_000)
    """Of `window`: the space for the answer of a call without `max_tokens`."""
    max_usd: float | None = Field(default=None, ge=0)
    """Of `cost`: what the input of a call may cost; models whose price is not known are left out."""


def _read(value: Any) -> Any:
    return {"by": value} if isinstance(value, str) else value


RuleSetting: TypeAlias = Annotated[RoutingRule, BeforeValidator(_read)]


class RoutingSettings(Settings):
    """Which models may answer, and what decides."""

    models: Annotated[list[TargetSetting], Field(min_length=1, max_length=20)]
    """Models as `provider:model`, `provider`, or a mapping of `provider` and `model`, besides the one
    that was loaded, which comes first."""
    rules: list[RuleSetting] = Field(default_factory=list[RuleSetting])
    """Applied one after the other, each a mapping or only its `by`; the first model that is left
    answers."""
    function: Callable[[Call, list[Candidate]], Any] | None = None
    """Chooses among the models that are left: gets the call and the candidates, returns one of them or
    its `provider:model`, or None for the first. It may be async."""


class RoutingLayer(Layer):
    """Asks the model that the rules choose for a call.

    Args:
        beneath: The model that was loaded, with its retries and fallbacks.
        settings: Which models may answer, and what decides.
        provider: The model that was loaded, bare; its `get_model_info` and `input_cost`, if it has
            them, say what it can do and what it costs.
        open_target: Opens a provider, bare, by its name, with a model or its default one.
        recovering: Puts retries and fallbacks around a provider.

    Raises:
        ArcLLMConfigError: A model cannot be opened.
    """

    def __init__(
        self,
        beneath: Step,
        settings: RoutingSettings,
        provider: Step,
        open_target: Callable[[str, str | None], Step],
        recovering: Callable[[Step], Step],
    ) -> None:
        super().__init__(beneath)
        self._rules = settings.rules
        self._function = settings.function
        self._candidates = [Candidate(provider, beneath)]
        for index, target in enumerate(settings.models):
            with naming(f"routing: `models.{index}`"):
                opened = open_target(target.provider, target.model)
            self._candidates.append(Candidate(opened, recovering(opened)))

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer, of the model that is chosen."""
        step = await self._choose(call)
        return await step.complete(call)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, of the model that is chosen."""
        step = await self._choose(call)
        async with closing(step.stream(call)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Close all models, also if one of them fails to."""
        await _close_all([candidate.step for candidate in self._candidates])

    async def _choose(self, call: Call) -> Step:
        """Return who answers, and note it.

        Raises:
            ArcLLMConfigError: No model fits, or the function chose none of them.
        """
        left, reasons = self._candidates, list[str]()
        needs = Needs(call)
        for rule in self._rules:
            left = _apply(rule, left, needs, reasons)
        if not left:
            raise ArcLLMConfigError(f"routing: no model fits the call: {'; '.join(reasons)}")
        chosen = left[0]
        if self._function is not None:
            chosen = await self._by_function(self._function, call, left)
        await call.turn_to(chosen.step)
        call.notes["routed"] = chosen.name
        call.notes["provider"] = chosen.step.name
        return chosen.step

    @staticmethod
    async def _by_function(
        function: Callable[[Call, list[Candidate]], Any], call: Call, left: list[Candidate]
    ) -> Candidate:
        answer = function(call, list(left))
        if inspect.isawaitable(answer):
            answer = await answer
        for candidate in left:
            if answer is None or answer is candidate or answer == candidate.name:
                return candidate
        names = ", ".join(f"`{candidate.name}`" for candidate in left)
        raise ArcLLMConfigError(f"routing: `function` returned {answer!r} (must be one of {names})")


def _apply(
    rule: RoutingRule, left: list[Candidate], needs: Needs, reasons: list[str]
) -> list[Candidate]:
    """Return the candidates that a rule leaves, in its order, and note why others are left out."""
    if rule.by == "capability":
        return _remove_refused(
            [(each, needs.explain_lack(each, rule.needs)) for each in left], reasons
        )
    if rule.by == "window":
        return _remove_refused(
            [(each, needs.explain_excess(each, rule.reserve_tokens)) for each in left], reasons
        )
    if rule.max_usd is not None:
        limit = rule.max_usd
        left = _remove_refused(
            [(each, each.explain_price(limit, needs.tokens)) for each in left], reasons
        )
    return sorted(left, key=lambda each: each.price(needs.tokens))


def _remove_refused(
    judged: list[tuple[Candidate, str | None]], reasons: list[str]
) -> list[Candidate]:
    reasons += [f"`{each.name}` {why}" for each, why in judged if why is not None]
    return [each for each, why in judged if why is None]


async def _close_all(steps: list[Step]) -> None:
    if steps:
        try:
            await steps[0].close()
        finally:
            await _close_all(steps[1:])
