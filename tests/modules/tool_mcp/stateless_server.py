"""A server of the protocol of 2026-07-28 in plain Python that keeps nothing between two messages.

`stateless_server.py LOG` writes what it gets with each call of a tool as a line of the log: the name, the
answers and the state. `book` asks for a name, then for a seat, and then books; `greet` asks for a name;
`wait` gives a state alone before it answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[1])
NAME: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
SEAT: dict[str, Any] = {
    "type": "object",
    "properties": {"row": {"type": "integer"}, "window": {"type": "boolean"}},
    "required": ["row", "window"],
}


def ask(message: str, schema: dict[str, Any]) -> dict[str, Any]:
    params = {"message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def call(params: dict[str, Any]) -> dict[str, Any]:
    name, state = params["name"], params.get("requestState")
    answers = params.get("inputResponses")
    with LOG.open("a") as log:
        log.write(json.dumps([name, answers, state]) + "\n")
    if name == "wait":
        if state is None:
            return {"resultType": "input_required", "requestState": "the \u00fcmlaut state"}
        return {"content": [{"type": "text", "text": "waited"}]}
    if answers is None:
        asked = {"who": ask("who are you?", NAME)}
        if name == "book":
            asked["seat"] = ask("where?", SEAT)
        needed = {"inputRequests": asked, "requestState": "the \u00fcmlaut state"}
        return {"resultType": "input_required", **needed}
    text = json.dumps({key: each.get("content") for key, each in answers.items()})
    return {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    message = json.loads(line)
    method, kept = message["method"], {"ttlMs": 0, "cacheScope": "private"}
    if method == "server/discover":
        about: dict[str, Any] = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        result: dict[str, Any] = {
            **kept,
            **about,
            "serverInfo": {"name": "stateless", "version": "1"},
        }
    elif method == "tools/list":
        tools = [
            {"name": each, "inputSchema": {"type": "object"}} for each in ("book", "greet", "wait")
        ]
        result = {**kept, "tools": tools}
    elif method == "tools/call":
        result = call(message["params"])
    else:
        continue
    result = {"resultType": "complete", **result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()
