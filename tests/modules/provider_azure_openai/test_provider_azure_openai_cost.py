"""What a call of a deployment costs, whose name may say nothing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from amplifier_providers.azure_openai import AzureOpenAIProvider

Make = Callable[..., AzureOpenAIProvider]


@pytest.mark.parametrize(
    ("config", "answered", "names"),
    [
        ({"default_deployment": "prod"}, None, ("prod",)),
        ({"default_deployment": "prod"}, "gpt-5.5-2026-04-24", ("gpt-5.5-2026-04-24", "prod")),
        (
            {"default_deployment": "prod", "model_family": "gpt-5.5"},
            "gpt-4.1",
            ("gpt-5.5", "gpt-4.1", "prod"),
        ),
        ({"default_deployment": "gpt-5.5"}, "gpt-5.5", ("gpt-5.5",)),
    ],
)
async def test_the_setting_says_which_model_it_is_and_then_the_answer(
    make: Make, config: dict[str, Any], answered: str | None, names: tuple[str, ...]
) -> None:
    deployment = config["default_deployment"]
    assert make(**config).priced_as(deployment, answered) == names
    # Of another deployment the setting says nothing.
    assert make(**config).priced_as("other", None) == ("other",)


async def test_a_deployment_whose_model_nobody_knows_has_no_price_but_one_of_its_own(
    make: Make,
) -> None:
    assert make(default_deployment="prod").unpriced_model == "prod"
    assert make(default_deployment="prod", model_family="gpt-5.5").reports_cost
    own = make(default_deployment="prod", prices={"prod": {"input": 1, "output": 2}})
    assert own.reports_cost
    used = {"input_tokens": 1_000, "output_tokens": 500}
    assert own.pricing.add_cost(used, None, own.priced_as("prod", "x")) == Decimal("0.002")
