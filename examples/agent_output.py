"""An object for an answer, under trio."""

import trio
from pydantic import BaseModel

from amplifier_agent import Agent, ScriptedProvider


class City(BaseModel):
    name: str
    country: str


model = ScriptedProvider(['{"name": "Paris", "country": "France"}'])
result = trio.run(Agent(model, output=City).run, "Where is the Louvre?")
print(result.output.name)
