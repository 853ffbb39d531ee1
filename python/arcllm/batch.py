"""Many calls at once, so many at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from .exceptions import ArcLLMError
from .types import LLMResponse

ResponseT = TypeVar("ResponseT", bound=LLMResponse)
PromptT = TypeVar("PromptT")


class ArcLLMBatchError(ArcLLMError):
    """Calls of a batch failed; the answers of the others are in `results`.

    Args:
        results: A response or an exception for each call, in the order of the calls.
    """

    def __init__(self, results: Sequence[LLMResponse | Exception]) -> None:
        super().__init__(results)
        self.results = list(results)

    def __str__(self) -> str:
        """Say how many failed, and the first reason."""
        errors = [result for result in self.results if isinstance(result, Exception)]
        return f"{len(errors)} of {len(self.results)} calls failed; the first: {errors[0]}"


async def run_batch(
    prompts: Sequence[PromptT], ask: Callable[[PromptT], Awaitable[ResponseT]], limit: int
) -> list[ResponseT | Exception]:
    """Return what each call returned or raised, in their order.

    Args:
        prompts: What is asked.
        ask: Makes one call.
        limit: Calls at once.
    """
    results: dict[int, ResponseT | Exception] = {}
    waiting = iter(enumerate(prompts))

    async def ask_prompts() -> None:
        for number, prompt in waiting:
            try:
                results[number] = await ask(prompt)
            except Exception as error:  # noqa: BLE001 -- one failure does not lose the others
                results[number] = error

    async with anyio.create_task_group() as group:
        for _ in range(min(limit, len(prompts))):
            group.start_soon(ask_prompts)
    return [results[number] for number in range(len(prompts))]
