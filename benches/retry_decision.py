"""What the owner of retries costs: its decision after a failure, and what it adds to a call.

`decision` is `ErrorHandler.handle`, which says whether and when a failed call is repeated. `success` is
what `Retries.call` adds to an operation that succeeds, with a circuit breaker and without a rate.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable

from side_by_side import duration, time_each

from amplifier_core.llm_errors import ContextLengthError, ProviderUnavailableError, RateLimitError
from amplifier_guard import ErrorContext, ErrorHandler
from amplifier_providers.limits.endpoint import endpoint_of
from amplifier_providers.retries import Retries, RetrySettings

LIMIT_SECONDS = 5e-6
FAILURES = {
    "a limit with `retry-after`": RateLimitError("slow", status_code=429, retry_after=7.0),
    "an overload": ProviderUnavailableError("busy", status_code=529, delay_multiplier=10.0),
    "what is not retried": ContextLengthError("long", status_code=413),
}


def decision(error: Exception) -> Callable[[int], Awaitable[None]]:
    """A loop of decisions after a failure."""
    handler = ErrorHandler(max_retries=5, budget=600.0)
    context = ErrorContext(operation="call of bench")

    async def repeat(times: int) -> None:
        for _ in range(times):
            handler.handle(error, context, elapsed=1.0)

    return repeat


async def operation() -> str:
    """A call that succeeds."""
    return "done"


async def bare(times: int) -> None:
    """A loop of the operation alone."""
    for _ in range(times):
        await operation()


async def owned(times: int) -> None:
    """A loop of the operation with retries."""
    retries = Retries("bench", RetrySettings())
    retries.endpoint = endpoint_of("https://api.example.com", ("key",))
    for _ in range(times):
        await retries.call(operation, "model")


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="not needed: the limit is a time")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    figures = {
        f"decision, {name}": [asyncio.run(time_each(decision(error))) for _ in range(rounds)]
        for name, error in FAILURES.items()
    }
    figures["success"] = [
        asyncio.run(time_each(owned)) - asyncio.run(time_each(bare)) for _ in range(rounds)
    ]
    print("| what | CPU | limit | |\n|---|---|---|---|")
    for name, times in figures.items():
        median = statistics.median(times)
        is_decision = name.startswith("decision")
        limit = duration(LIMIT_SECONDS) if is_decision else ""
        verdict = ("reached" if median < LIMIT_SECONDS else "MISSED") if is_decision else ""
        print(f"| {name} | {duration(median)} | {limit} | {verdict} |")


if __name__ == "__main__":
    main()
