"""A conversation that goes on tomorrow."""

import json
from pathlib import Path

from amplifier_agent import Agent, Message

file = Path("chat.json")
messages: list[Message] = json.loads(file.read_text()) if file.exists() else []
result = Agent("demo").run_sync("And then?", messages=messages)
file.write_text(json.dumps(result.messages))
