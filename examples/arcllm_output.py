"""An object for an answer, under trio."""

import trio
from pydantic import BaseModel

from arcllm import load_model


class City(BaseModel):
    name: str
    country: str


async def main() -> None:
    async with load_model("anthropic") as model:
        response = await model.complete("Where is the Louvre?", output=City)
        print(response.output.name)


trio.run(main)
