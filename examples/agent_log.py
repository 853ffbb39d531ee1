"""A hook that logs every event."""

import json
from typing import Any

from amplifier_agent import Agent, hook


@hook("*")
def log(event: str, data: dict[str, Any]) -> None:
    print(json.dumps([event, data]))


Agent("demo", hooks=[log]).run_sync("Hello")
