"""A hook that denies a tool."""

from typing import Any

from amplifier_agent import Agent, hook
from amplifier_core import HookResult


@hook("tool:pre")
def no_reading(event: str, data: dict[str, Any]) -> HookResult | None:
    if data["tool_name"] == "read_file":
        return HookResult(action="deny", reason="reading is off")
    return None


print(Agent("demo", tools=["tool-filesystem"], hooks=[no_reading]).run_sync("Give me a tour").text)
