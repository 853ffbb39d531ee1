"""What is reserved for a call follows it to the models that fallbacks and routing turn to."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from budget_in_file import NOON, PRICES, reserved, spent
from fake_step import Answer, Clock, FakeStep, api_error, ask, response, take

from arcllm import ArcLLMAPIError, ArcLLMError, LLMResponse
from arcllm.layers.budget import ArcLLMBudgetError, BudgetLayer, BudgetSettings
from arcllm.layers.fallback import FallbackLayer, FallbackSettings
from arcllm.layers.retry import RetryLayer, RetrySettings
from arcllm.layers.routing import RoutingLayer, RoutingSettings
from arcllm.step import Call, Piece, Step

NO_MORE = {"next": {"daily_limit_usd": 0.0001}}
WAYS = pytest.mark.parametrize("is_stream", [False, True])


class Asked(FakeStep):
    """Waits only where it is asked."""

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Models:
    """Models in memory, and what is reserved while each of them is asked."""

    folder: Path
    seen: list[list[tuple[str, int]]] = field(default_factory=list[list[tuple[str, int]]])
    steps: dict[str, FakeStep] = field(default_factory=dict[str, FakeStep])

    def step(self, name: str, *answers: Answer, pause: Any = None) -> FakeStep:
        async def look() -> None:
            with sqlite3.connect(self.folder / "budget") as connection:
                rows = connection.execute("SELECT provider, micros FROM reserved").fetchall()
            connection.close()
            self.seen.append(rows)
            if pause is not None:
                await pause()

        model = "large" if name == "next" else "small"
        self.steps[name] = Asked(
            list(answers) or [response(name)], name=name, model_name=model, pause=look
        )
        return self.steps[name]

    def open(self, name: str, model: str | None) -> FakeStep:
        return self.steps[name]

    def falling(self, *chain: str) -> FallbackLayer:
        settings = FallbackSettings.model_validate({"chain": list(chain)})
        return FallbackLayer(self.steps["fake"], settings, self.open)

    def layer(self, beneath: Step, **settings: Any) -> BudgetLayer:
        prices = {**PRICES, "large": {"input": 100, "output": 200}}
        values = {"path": self.folder / "budget", "prices": prices, "output_tokens": 5, **settings}
        return BudgetLayer(beneath, BudgetSettings.model_validate(values), now=lambda: NOON)


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(tmp_path)


async def asked(layer: Step, call: Call, is_stream: bool) -> LLMResponse:
    if not is_stream:
        return await layer.complete(call)
    pieces: list[Piece] = []
    await take(layer.stream(call), pieces)
    assert isinstance(pieces[-1], LLMResponse)
    return pieces[-1]


# Holds: layer-16
@WAYS
async def test_a_model_of_the_chain_is_asked_with_a_reservation_of_its_own(
    models: Models, is_stream: bool
) -> None:
    models.step("fake", api_error())
    models.step("next", response("", model="large"))

    await asked(models.layer(models.falling("next")), ask(), is_stream)

    # 4 tokens of input and 5 of output
    assert models.seen[:2] == [[("fake", 140)], [("next", 1400)]]
    assert reserved(models.folder) == 0
    assert spent(models.folder)["provider:next", "2026-09"] == 2000


@WAYS
async def test_a_model_whose_provider_has_too_little_left_is_passed_over(
    models: Models, is_stream: bool
) -> None:
    first = api_error()
    models.step("fake", first)
    models.step("next")
    models.step("last")

    answer = await asked(
        models.layer(models.falling("next", "last"), providers=NO_MORE), ask(), is_stream
    )

    assert (answer.content, models.steps["next"].calls) == ("last", [])
    text = (
        "fallback `next`: the budget of `provider:next` for 2026-09-21 has too little left: of"
        " $0.000100, $0.000000 are spent, and this call may cost $0.001400"
    )
    assert first.__notes__ == [text]
    assert reserved(models.folder) == 0


@WAYS
@pytest.mark.parametrize("first", [api_error(), ValueError("a bug")])
async def test_where_nobody_else_may_be_asked_the_first_error_is_raised(
    models: Models, is_stream: bool, first: Exception
) -> None:
    models.step("fake", first)
    models.step("next")

    with pytest.raises(type(first)) as caught:
        await asked(models.layer(models.falling("next"), providers=NO_MORE), ask(), is_stream)

    assert caught.value is first
    assert reserved(models.folder) == 0
    # What a bug lost may have been paid for: 4 tokens of input.
    paid = {} if isinstance(first, ArcLLMError) else {"all": 40, "provider:fake": 40}
    assert {key[0]: micros for key, micros in spent(models.folder).items()} == paid


@WAYS
async def test_a_retry_reserves_for_the_first_model_again(models: Models, is_stream: bool) -> None:
    models.step("fake", api_error(), response(""))
    models.step("next", api_error())
    clock = Clock()
    retry = RetryLayer(
        models.falling("next"), RetrySettings(), clock=clock.seconds, sleep=clock.sleep
    )

    answer = await asked(models.layer(retry), ask(), is_stream)

    assert models.seen[:3] == [[("fake", 140)], [("next", 1400)], [("fake", 140)]]
    assert answer.metadata["budget"]["cost_usd"] == "0.000200"
    assert reserved(models.folder) == 0


@WAYS
async def test_a_call_that_is_cancelled_is_charged_to_who_was_asked(
    models: Models, is_stream: bool
) -> None:
    models.step("fake", api_error())

    with anyio.CancelScope() as scope:

        async def cancel() -> None:
            scope.cancel()
            await anyio.sleep_forever()

        models.step("next", pause=cancel)
        await asked(models.layer(models.falling("next")), ask("x" * 400), is_stream)

    assert scope.cancelled_caught
    assert spent(models.folder)["provider:next", "2026-09"] == 10_400
    assert reserved(models.folder) == 0


# Holds: layer-16
@WAYS
async def test_the_limit_of_the_model_that_is_chosen_holds(models: Models, is_stream: bool) -> None:
    beneath = models.step("fake")
    models.step("next", response("", model="large"))
    settings = RoutingSettings(
        models=["next:large"],  # pyright: ignore[reportArgumentType] -- read as a target
        function=lambda call, left: "next:large",
    )
    routed = RoutingLayer(beneath, settings, beneath, models.open, lambda step: step)

    with pytest.raises(ArcLLMBudgetError, match="`provider:next` for 2026-09-21 has too little"):
        await asked(models.layer(routed, providers=NO_MORE), ask(), is_stream)
    assert (models.seen, reserved(models.folder)) == ([], 0)

    await asked(models.layer(routed), ask(), is_stream)
    assert models.seen[0] == [("next", 1400)]
    assert spent(models.folder)["provider:next", "2026-09"] == 2000


# Holds: layer-16
async def test_calls_at_once_never_pass_the_limit_of_a_fallback(models: Models) -> None:
    models.step("fake", api_error())
    models.step("next", response(metadata={"cost_usd": 0.001}))
    layer = models.layer(models.falling("next"), providers={"next": {"daily_limit_usd": 0.005}})
    answers: list[LLMResponse] = []
    refused: list[str] = []

    async def run() -> None:
        try:
            answers.append(await layer.complete(ask()))
        except ArcLLMAPIError as error:
            refused.append(error.__notes__[-1])

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(run)
    await layer.close()

    assert spent(models.folder)["provider:next", "2026-09-21"] == 1000 * len(answers) <= 5000
    assert answers
    assert all("the budget of `provider:next`" in note for note in refused)
    assert reserved(models.folder) == 0
