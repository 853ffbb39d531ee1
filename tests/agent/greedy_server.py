"""A server that uses all that each request allows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from amplifier_agent import Agent
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    Fault,
    Recorded,
    Usage,
)

INPUT, OUTPUT = 5, 25
"""US dollars for a million tokens."""
MILLION = 1_000_000
PRICES = {"claude": {"input": INPUT, "output": OUTPUT}}


class GreedyServer(AnthropicServer):
    """Counts each byte as a token, and writes all that a request without tools allows."""

    def __init__(self, *answers: Answer | str, faults: list[Fault | None] | None = None) -> None:
        super().__init__(answers, faults=faults or ())
        self.spent: list[Usage] = []

    def take_answer(self) -> Answer | Recorded:
        answer, asked = super().take_answer(), self.requests[-1]
        assert isinstance(answer, Answer)
        written = 50 if asked.body.get("tools") else asked.body["max_tokens"]
        answer.usage = Usage(input=len(asked.raw), output=written)
        self.spent.append(answer.usage)
        return answer

    @property
    def cost(self) -> Decimal:
        """What all requests cost."""
        read = sum(each.input for each in self.spent)
        written = sum(each.output for each in self.spent)
        return Decimal(read * INPUT + written * OUTPUT) / MILLION

    @property
    def tokens(self) -> int:
        """The tokens of all requests."""
        return sum(each.input + each.output for each in self.spent)

    def agent(self, *tools: str, prices: Any = PRICES, **options: Any) -> Agent[None]:
        """Return an agent that asks this server, with these tool modules."""
        config = {
            "api_key": "key",
            "base_url": self.url,
            "default_model": "claude-opus-4-6",
            "prices": prices,
            "min_retry_delay": 0,
            "overloaded_delay_multiplier": 1,
        }
        plan: dict[str, Any] = {
            "providers": [{"module": "provider-anthropic", "config": config}],
            "tools": [{"module": module} for module in tools],
        }
        return Agent(plan=plan, **options)


def fan(count: int, tool: str = "read") -> Answer:
    """Return an answer that calls so many sub-agents at once."""
    return Answer(*(Call(tool, {"prompt": f"part {part}"}) for part in range(count)))
