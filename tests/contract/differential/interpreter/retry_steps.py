"""What programs do with retries."""

from __future__ import annotations

import asyncio
from typing import Any

from values import build
from world import World, step

FIELDS = ("max_retries", "initial_delay", "max_delay", "backoff_factor", "jitter")


def failure(spec: dict[str, Any]) -> BaseException:
    """An error of a provider from its name and fields, or a builtin one."""
    from values import error

    from amplifier_core import llm_errors

    if hasattr(llm_errors, spec["type"]):
        fields = {key: item for key, item in spec.items() if key not in ("type", "text")}
        return getattr(llm_errors, spec["type"])(spec["text"], **fields)
    return error(spec["type"], spec["text"])


@step
def retry_config(
    world: World, as_: str = "config", arguments: list[Any] | None = None, **options: Any
) -> Any:
    from amplifier_core.utils.retry import RetryConfig

    config = world.keep(as_, RetryConfig(*build(arguments or []), **build(options)))
    return {name: getattr(config, name) for name in (*FIELDS, "honor_retry_after")}


@step
def delay(world: World, attempt: Any, on: str = "config", **options: Any) -> Any:
    from amplifier_core._engine import compute_delay

    return compute_delay(world.things[on], build(attempt), **build(options))


@step
def delay_range(
    world: World, attempt: int, low: float, high: float, on: str = "config", **options: Any
) -> Any:
    """Whether 200 delays with jitter lie in a range."""
    from amplifier_core._engine import compute_delay

    delays = [compute_delay(world.things[on], attempt, **options) for _ in range(200)]
    return {
        "not below": min(delays) >= low,
        "not above": max(delays) <= high,
        "spread": len(set(delays)) > 1,
    }


@step
async def retry(
    world: World,
    failures: list[dict[str, Any]],
    on: str | None = "config",
    watches: bool = True,
) -> Any:
    """Retry an operation that fails so and so often; sleeps are shown, not slept."""
    from amplifier_core.utils.retry import retry_with_backoff

    raised: list[BaseException] = []

    async def operation() -> str:
        world.saw("called")
        if len(raised) < len(failures):
            raised.append(failure(failures[len(raised)]))
            raise raised[-1]
        return "done"

    async def on_retry(attempt: int, delay: float, error: BaseException) -> None:
        world.saw("retries", attempt, delay, error is raised[-1])

    slept = asyncio.sleep

    async def sleep(seconds: float, *_: Any) -> None:
        world.saw("sleeps", seconds)
        await slept(0)

    asyncio.sleep = sleep  # type: ignore[assignment]  # as tests patch it
    try:
        options: dict[str, Any] = {"on_retry": on_retry} if watches else {}
        if on is None:
            return await retry_with_backoff(operation, **options)
        return await retry_with_backoff(operation, world.things[on], **options)
    finally:
        asyncio.sleep = slept


@step
def classify(world: World, message: str, **options: Any) -> Any:
    from amplifier_core.utils.retry import classify_error_message

    return classify_error_message(message, **options)


@step
def classify_word(world: World, message: str) -> Any:
    from amplifier_core._engine import classify_error_message

    return classify_error_message(message)


@step
def provider_error(world: World, message: str, **options: Any) -> Any:
    from amplifier_core._engine import ProviderError

    made = ProviderError(message, **options)
    return [str(made), repr(made), made.error_type, made.retryable]
