"""A model for a service: retries, another model where it fails, and no personal data on the way."""

import asyncio
import logging
import sys

from arcllm import load_model

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
logging.getLogger("httpx2").setLevel(logging.WARNING)


async def main() -> None:
    model = load_model(
        "anthropic",
        retry={"max_retries": 2},
        fallback={"chain": ["anthropic:claude-haiku-4-5"]},
        rate_limit={"requests_per_minute": 600},
        security=True,
        telemetry=True,
    )
    async with model:
        questions = [f"Write to user{number}@example.org." for number in range(3)]
        for response in await model.batch(questions, limit=2, max_tokens=200):
            print(response.content)


asyncio.run(main())
