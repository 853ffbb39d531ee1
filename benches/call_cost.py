"""What it takes to say what a call cost, against `genai_prices.calc_price`, which has the same answer.

The rates of a model are looked up once a minute, so the first call takes longer: a process of its own
measures it, with the import of the table, beside a process that imports the provider alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import genai_prices
from side_by_side import SHORTEST_TIMING, Figure, Times, run

from amplifier_providers.prices.pricing import Pricing

LIMIT_SECONDS = 3e-6
MODELS = ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5")
BUCKETS = {
    "input_tokens": 2_225,
    "cache_read_tokens": 10_000,
    "cache_write_tokens": 500,
    "output_tokens": 25,
    "reasoning_tokens": None,
}
RAW: dict[str, Any] = {
    "input_tokens": 2_225,
    "cache_read_input_tokens": 10_000,
    "cache_creation_input_tokens": 500,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 500},
    "output_tokens": 25,
    "service_tier": "standard",
}
"""What Anthropic counts of a call: a tiered price, a cache, and an hour in it."""
IMPORTS = "import time; import amplifier_providers.anthropic.provider, httpx2"
FIRST = f"""
{IMPORTS}
from amplifier_providers.prices.pricing import Pricing
started = time.process_time()
Pricing("anthropic").add_cost({BUCKETS!r}, {RAW!r}, {MODELS!r})
print(time.process_time() - started)
"""
WITH_TABLE = f"""
{IMPORTS}
started = time.process_time()
from genai_prices import data
print(time.process_time() - started)
"""


def time_call(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    count = 1
    while True:
        started = time.process_time()
        for _ in range(count):
            call()
        elapsed = time.process_time() - started
        if elapsed >= SHORTEST_TIMING:
            return elapsed / count
        count *= 2


def printed(program: str) -> float:
    """The number that a program prints, run by a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return float(done.stdout)


def measure() -> Times:
    """Our own calls, and those of the table."""
    pricing = Pricing("anthropic", "https://api.anthropic.com")
    usage = genai_prices.Usage(
        input_tokens=12_725,
        cache_read_tokens=10_000,
        cache_write_tokens=500,
        cache_write_1h_tokens=500,
        output_tokens=25,
    )

    def ours() -> object:
        return pricing.add_cost(BUCKETS, RAW, MODELS)

    def table() -> Any:
        return genai_prices.calc_price(usage, MODELS[0], provider_id="anthropic")

    assert ours() == table().total_price
    return {
        "cost": time_call(ours),
        "table": time_call(table),
        "limit": LIMIT_SECONDS,
        "first": printed(FIRST),
        "import of the table": printed(WITH_TABLE),
    }


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "cost of a call",
        [
            Figure("a call, against 3 µs", "cost", share=1, against="limit"),
            Figure("a call, against genai_prices", "cost", share=0.05, against="table"),
            Figure("the first call, against the import", "first", against="import of the table"),
        ],
    )
