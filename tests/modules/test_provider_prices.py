"""What a call costs is what the price table says, for all models and each kind of token."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any

import genai_prices
import pytest
from genai_prices import data_snapshot
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from amplifier_core.llm_errors import ConfigurationError
from amplifier_providers.prices import pricing as pricing_module
from amplifier_providers.prices.counts import Counts, charged_dollars, counts_of
from amplifier_providers.prices.pricing import Pricing
from amplifier_providers.prices.rates import make_dollars
from amplifier_providers.prices.settings import ModelPrices
from amplifier_providers.settings import Settings, read_settings

SERVICES = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure-openai": "azure",
    "groq": "groq",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "together": "together",
    "fireworks": "fireworks",
    "xai": "x-ai",
}
"""Our services, and what the table calls them."""
NOT_FOR_US = ("audio", "image", "video", "document", "messages", "mchars", "storage", "citation")
"""What the prices of some models are for beside text, which our providers do not count."""
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()


def priced_models() -> list[tuple[str, str]]:
    """Each model with a price for tokens, of each of our services, by a name that finds it."""
    snapshot = data_snapshot.get_snapshot()
    owners = {owner.id: owner for owner in snapshot.providers}
    found: list[tuple[str, str]] = []
    for service, owner in SERVICES.items():
        for model in owners[owner].models:
            prices = model.get_prices(datetime.fromtimestamp(NOON, UTC))
            is_text = not any(word in key for key in vars(prices) for word in NOT_FOR_US)
            name = f"accounts/fireworks/models/{model.id}" if owner == "fireworks" else model.id
            named = owners[owner].find_model(name, all_providers=snapshot.providers)
            if is_text and prices.input_mtok is not None and named is model:
                found.append((service, name))
    return found


MODELS = priced_models()
TOKENS = st.integers(0, 3_000_000)


@st.composite
def used(draw: st.DrawFn) -> Counts:
    return Counts(*(draw(TOKENS) for _ in range(6)), web_searches=draw(st.integers(0, 20)))


def buckets_of(counts: Counts) -> dict[str, int | None]:
    return {
        "input_tokens": counts.input,
        "cache_read_tokens": counts.cache_read,
        "cache_write_tokens": counts.cache_write + counts.cache_write_1h,
        "output_tokens": counts.output,
        "reasoning_tokens": counts.reasoning,
    }


def raw_of(counts: Counts) -> dict[str, Any]:
    return {
        "cache_creation": {
            "ephemeral_5m_input_tokens": counts.cache_write,
            "ephemeral_1h_input_tokens": counts.cache_write_1h,
        },
        "server_tool_use": {"web_search_requests": counts.web_searches},
    }


def by_the_table(service: str, model: str, counts: Counts, at: float, **context: str) -> Decimal:
    written = counts.cache_write + counts.cache_write_1h
    usage = genai_prices.Usage(
        input_tokens=counts.input + counts.cache_read + written,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=written,
        cache_write_1h_tokens=counts.cache_write_1h,
        output_tokens=counts.output + counts.reasoning,
        output_reasoning_tokens=counts.reasoning,
        web_searches=counts.web_searches,
    )
    return genai_prices.calc_price(
        usage,
        model,
        provider_id=SERVICES[service],
        genai_request_timestamp=datetime.fromtimestamp(at, UTC),
        price_context=context,
    ).total_price


def test_the_models_of_the_table_are_many() -> None:
    assert len(MODELS) > 200
    assert {service for service, _ in MODELS} == set(SERVICES)


@given(st.sampled_from(MODELS), used())
def test_a_call_costs_what_the_table_says(known: tuple[str, str], counts: Counts) -> None:
    service, model = known
    pricing = Pricing(service, now=lambda: NOON)

    cost = pricing.add_cost(buckets_of(counts), raw_of(counts), (model,))

    assert cost == by_the_table(service, model, counts, NOON)


@given(
    st.sampled_from(MODELS),
    used(),
    st.sampled_from(["default", "flex", "priority", "fast", "standard"]),
    st.floats(NOON - 5e7, NOON + 5e7),
)
def test_tiers_of_the_service_and_the_hour_of_the_call_count(
    known: tuple[str, str], counts: Counts, word: str, at: float
) -> None:
    service, model = known
    pricing = Pricing(service, now=lambda: at)
    raw = {**raw_of(counts), "speed": word}

    cost = pricing.add_cost(buckets_of(counts), raw, (model,), {"service_tier": word})

    assert cost == by_the_table(service, model, counts, at, service_tier=word, speed=word)


def test_a_price_that_changes_is_looked_up_again_within_a_minute() -> None:
    changing = next(
        (model, price.constraint.start_date)
        for owner in data_snapshot.get_snapshot().providers
        if owner.id == "openai"
        for model in owner.models
        if isinstance(model.prices, list)
        for price in model.prices
        if hasattr(price.constraint, "start_date")
    )
    model, day = changing
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    now = [midnight - 61]
    pricing, counts = Pricing("openai", now=lambda: now[0]), Counts(1_000_000, output=1_000_000)
    costs: list[Decimal | None] = []
    for now[0] in (midnight - 61, midnight - 1, midnight, midnight + 1):
        costs.append(pricing.add_cost(buckets_of(counts), None, (model.id,)))

    before, after = (
        by_the_table("openai", model.id, counts, at) for at in (midnight - 1, midnight)
    )
    assert costs == [before, before, after, after]


@pytest.mark.parametrize(
    ("model", "alias"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
    ],
)
def test_a_dated_name_and_an_alias_have_the_price_of_the_model(model: str, alias: str) -> None:
    buckets = buckets_of(Counts(1_000, 2_000, 3_000, 4_000, 5_000, 6_000))
    pricing = Pricing("anthropic")
    cost = pricing.add_cost(buckets, None, (model,))
    assert cost is not None
    assert cost == pricing.add_cost(buckets, None, (alias,))


def test_an_address_says_whose_prices_they_are() -> None:
    buckets = buckets_of(Counts(1_000_000))
    at_xai = Pricing("openai", "https://api.x.ai/v1")
    own = Pricing("xai", "https://api.x.ai/v1")
    assert at_xai.add_cost(buckets, None, ("grok-4",)) == own.add_cost(buckets, None, ("grok-4",))
    assert not at_xai.can_price(("gpt-5.5",))
    # Of a gateway nothing is known; it has the models of the service.
    gateway = Pricing("openai", "https://gateway.example.org/v1")
    assert gateway.can_price(("gpt-5.5",))
    assert not Pricing("openai-chat", "http://localhost:4000/v1").can_price(("gpt-5.5",))
    assert Pricing("openai-chat", "https://api.groq.com/openai/v1").can_price(
        ("llama-3.3-70b-versatile",)
    )


@pytest.mark.parametrize("service", ["ollama", "vllm", "lm-studio", "llama-cpp", "huggingface-tgi"])
def test_a_server_of_the_users_own_costs_nothing(service: str) -> None:
    pricing = Pricing(service, "http://10.0.0.7:8000/v1")
    assert pricing.can_price(("mine",))
    assert pricing.add_cost(buckets_of(Counts(5, output=7)), None, ("mine",)) == 0


@pytest.mark.parametrize(
    ("raw", "cost"),
    [
        ({"cost": 0.00014}, "0.00014"),
        ({"cost": 1e-7}, "1E-7"),
        ({"cost": 0}, "0"),
        ({"cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}}, "19.95"),
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}}, "0.5"),
        ({"cost": 0.5, "is_byok": True, "cost_details": None}, "0.5"),
        ({"cost": {"total_cost": 0.006, "request_cost": 0.005}}, "0.006"),
        ({"cost_in_usd_ticks": 37756000}, "0.0037756"),
        ({"cost": "much"}, None),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({"cost": {}}, None),
        ({"cost_in_usd_ticks": None}, None),
        (None, None),
    ],
)
def test_what_a_service_says_that_it_charged_is_the_cost(
    raw: dict[str, Any] | None, cost: str | None
) -> None:
    assert charged_dollars(raw) == (None if cost is None else Decimal(cost))
    known = Pricing("openrouter", "https://openrouter.ai/api/v1")
    found = known.add_cost(buckets_of(Counts(1)), raw, ("openai/gpt-4.1",))
    assert found == Decimal(cost) if cost is not None else found is not None


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=2)), st.data())
def test_no_usage_of_a_server_breaks_a_call_or_pays_it_back(
    odd: dict[str, Any], data: st.DataObject
) -> None:
    counts = data.draw(
        st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=5, max_size=5)
    )
    buckets = dict(zip(buckets_of(Counts()), counts, strict=True))
    part = st.none() | st.just(odd) | st.integers() | st.lists(st.integers())
    raw = {
        name: data.draw(part)
        for name in ("cache_creation", "server_tool_use", "cost", "cost_details", "speed")
    }
    cost = Pricing("anthropic").add_cost(buckets, raw, ("claude-sonnet-4-5",))
    assert cost is None or cost >= 0


PRICES = {
    "input": 3,
    "output": "15",
    "cache_read": 0.3,
    "cache_write": 3.75,
    "cache_write_1h": 6,
    "web_search": 10,
    "long_context": {"above": 200_000, "input": 6, "output": 22.5},
}


class Own(Settings):
    """Settings of a provider with nothing but prices."""

    prices: dict[str, ModelPrices] = Field(default_factory=dict[str, ModelPrices])


def own_prices(**models: Any) -> dict[str, ModelPrices]:
    return read_settings(Own, {"prices": models}, "provider-x", {}).prices


@given(used())
def test_prices_of_the_settings_are_exact_and_go_before_all_others(counts: Counts) -> None:
    pricing = Pricing("openrouter", prices=own_prices(mine=PRICES))

    cost = pricing.add_cost(buckets_of(counts), {**raw_of(counts), "cost": 99}, ("mine-2",))

    read = sum(counts[:4])
    factor = 2 if read > 200_000 else 1
    written = Decimal("22.5") if read > 200_000 else Decimal(15)
    with localcontext(prec=60):
        expected = (
            counts.input * 3 * factor
            + counts.cache_read * Decimal("0.3")
            + counts.cache_write * Decimal("3.75")
            + counts.cache_write_1h * 6
            + (counts.output + counts.reasoning) * written
        ) / 1_000_000 + counts.web_searches * Decimal(10) / 1_000
    assert cost == expected


def test_the_longest_beginning_of_a_name_has_the_prices() -> None:
    one, two, other = ({"input": price, "output": 0} for price in (1, 2, 3))
    pricing = Pricing(
        "openai", prices=own_prices(**{"gpt": one, "GPT-5.5": two, "*": other, "o": one})
    )
    costs = [
        pricing.add_cost(buckets_of(Counts(1_000_000)), None, names)
        for names in [("gpt-4",), ("gpt-5.5-mini",), ("claude",), ("gpt-5.5-2026-01-01", "x")]
    ]
    assert costs == [1, 2, 3, 2]


def test_what_the_prices_leave_out_costs_as_much_as_what_it_is_a_kind_of() -> None:
    plain = Pricing("x", prices=own_prices(**{"*": {"input": 2, "output": 5}}))
    million = 1_000_000
    for counts, cost in (
        (Counts(cache_read=million), 2),
        (Counts(cache_write=million), 2),
        (Counts(cache_write_1h=million), 2),
        (Counts(reasoning=million), 5),
        (Counts(web_searches=5), 0),
    ):
        assert plain.add_cost(buckets_of(counts), raw_of(counts), ("a",)) == cost


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({"input": 1}, "`prices.m.output` is missing"),
        ({"input": -1, "output": 1}, "`prices.m.input` is -1"),
        ({"input": True, "output": 1}, "`prices.m.input` is"),
        ({"input": "NaN", "output": 1}, "`prices.m.input` is 'NaN'"),
        ({"input": 1e7, "output": 1}, "`prices.m.input` is 10000000.0"),
        ({"input": "0.1234567891", "output": 1}, "with at most 9 decimals"),
        ({"input": 1, "output": 1, "cached": 1}, "`prices.m.cached` is unknown"),
        ({"input": 1, "output": 1, "long_context": {"above": 0}}, "`prices.m.long_context.above`"),
    ],
)
def test_prices_that_cannot_be_used_are_refused(prices: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        own_prices(m=prices)
    assert said in str(caught.value)


def test_a_model_without_a_price_is_named_once_a_session_and_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing_module, "_logged", set())
    buckets = buckets_of(Counts(1))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            session = Pricing("openai")
            for model in ("brand-new\x1b", "newer", "newer"):
                assert session.add_cost(buckets, None, (model,)) is None
            told = session.take_notices()
            assert session.take_notices() == []
    assert told == [record.getMessage() for record in caplog.records]
    assert told == [
        f"no price is known for `{model}` of `openai`, so its calls are not part of the cost; set"
        " `prices` of the provider"
        for model in ("brand-new\\x1b", "newer")
    ]


def test_a_provider_adds_up_what_it_has_cost_and_counts_what_has_no_price() -> None:
    pricing = Pricing("openai", prices=own_prices(mine={"input": 1, "output": 2}))
    pricing.add_cost(buckets_of(Counts(1_000, output=500)), None, ("mine",))
    pricing.add_cost(buckets_of(Counts(1)), None, ("brand-new",))
    pricing.add_cost(dict.fromkeys(buckets_of(Counts())), None, ("mine",))
    assert pricing.describe_cost() == {
        "provider": "openai",
        "cost_usd": "0.002",
        "model_calls": 3,
        "unpriced_calls": 2,
    }


@given(st.integers(0, 10**40))
def test_a_sum_is_exact_whatever_the_precision_of_the_program(count: int) -> None:
    with localcontext(prec=3):
        found = make_dollars(count)
    with localcontext(prec=100):
        assert found == Decimal(count) / 10**15
    assert "E+" not in str(found)


def test_names_of_models_that_servers_invent_do_not_fill_the_memory() -> None:
    pricing = Pricing("openai", prices=own_prices(mine={"input": 1, "output": 2}))
    for number in range(2_500):
        pricing.add_cost(buckets_of(Counts(1)), None, (f"brand-new-{number}",))
    assert len(vars(pricing)["_kept"]) <= 1_000
    assert len(vars(pricing)["_own"]) <= 1_000
    assert len(vars(pricing_module)["_logged"]) <= 1_000


def test_cache_writes_of_an_hour_are_never_more_than_all_cache_writes() -> None:
    buckets = buckets_of(Counts(cache_write=10))
    raw = {"cache_creation": {"ephemeral_1h_input_tokens": 99}}
    assert counts_of(buckets, raw) == Counts(cache_write_1h=10)


def test_looking_up_prices_opens_no_connection_and_starts_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = (
        "import socket, threading\n"
        "def forbidden(*_, **__): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = forbidden\n"
        "from amplifier_providers.prices.pricing import Pricing\n"
        "import sys\n"
        "assert 'genai_prices' not in sys.modules\n"
        "buckets = {'input_tokens': 1, 'output_tokens': 1}\n"
        "assert Pricing('vllm').add_cost(buckets, None, ('mine',)) == 0\n"
        "assert 'genai_prices' not in sys.modules\n"
        "assert Pricing('anthropic').add_cost(buckets, None, ('claude-sonnet-4-5',))\n"
        "assert threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    assert Pricing("openai").can_price(("gpt-5.5",))
