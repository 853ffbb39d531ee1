"""A hook that tells the model the date."""

from datetime import date
from typing import Any

from amplifier_agent import Agent, hook
from amplifier_core import HookResult


@hook("provider:request")
def today(event: str, data: dict[str, Any]) -> HookResult:
    text = f"Today is {date.today()}."
    return HookResult(action="inject_context", context_injection=text, ephemeral=True)


print(Agent("demo", hooks=[today]).run_sync("Which day is it?").text)
