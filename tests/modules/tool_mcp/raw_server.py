"""A server of the protocol of 2025 in plain Python, which starts at once and can misbehave.

Its words say how: `tools=a,b`, `count=FILE` (a byte for each start), `die-first=FILE`, `greet`.
"""

import json
import os
import sys
from pathlib import Path

WORDS = sys.argv[1:]


def find(name: str, default: str = "") -> str:
    return next((word.split("=", 1)[1] for word in WORDS if word.startswith(f"{name}=")), default)


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def describe(name: str) -> dict[str, object]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}


def change_tools() -> None:
    TOOLS.append("later")
    send(method="notifications/tools/list_changed")


def receive() -> dict[str, object]:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)


def answer(message: dict[str, object]) -> None:
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        if "prompt" in TOOLS:
            capabilities["prompts"] = {"listChanged": True}
        about = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "raw", "version": "1"}}
        send(id=id, result={**about, "capabilities": capabilities})
    elif method == "tools/list":
        send(id=id, result={"tools": [describe(name) for name in TOOLS]})
    elif method == "prompts/list":
        send(id=id, result={"prompts": [{"name": name} for name in PROMPTS]})
    elif method == "tools/call":
        call(id, params["name"], params)
    elif id is not None and method is not None:
        send(id=id, error={"code": -32601, "message": "unknown method"})


def call(id: object, name: str, params: dict[str, object]) -> None:
    meta = params.get("_meta") or {}
    text = "done"
    if name == "die":
        print("it hurts", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        return
    if name == "flood":
        piece = "x" * (1 << 20)
        try:
            while True:
                sys.stdout.write(piece)
        except BrokenPipeError:
            os._exit(0)
    if name == "garbage":
        sys.stdout.write("not json\n" * 5000)
    if name == "progress":
        for step in range(3):
            report = {"progressToken": meta["progressToken"], "progress": step, "total": 4}
            send(
                method="notifications/progress", params={**report, "message": f"step {step}\x1b[2J"}
            )
    if name == "family":
        child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
        text = f"{os.getpid()} {child}"
    if name == "environment":
        text = json.dumps(dict(os.environ))
    if name == "folder":
        text = os.getcwd()
    if name == "ask":
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        }
        asked = {"message": "who are you?", "requestedSchema": schema}
        send(id="q1", method="elicitation/create", params=asked)
        while (said := receive()).get("id") != "q1":
            pass
        text = json.dumps(said["result"])
    if name == "cancelled":
        change_tools()
        while (told := receive()).get("method") != "notifications/cancelled":
            answer(told)
        Path(find("note")).write_text(json.dumps(told["params"]))
        return
    if name == "change":
        change_tools()
    if name == "prompt":
        PROMPTS.append(f"prompt{len(PROMPTS)}")
        send(method="notifications/prompts/list_changed")
    if name == "wrong":
        send(id=id, result={"content": "no list"})
        return
    if name == "refuse":
        send(id=id, error={"code": -32000, "message": "no \x1b[31mway"})
        return
    send(id=id, result={"content": [{"type": "text", "text": text}]})


PROMPTS: list[str] = []
TOOLS = find("tools", "echo").split(",")
if count := find("count"):
    with Path(count).open("a") as file:
        file.write("x")
if (first := find("die-first")) and not Path(first).exists():
    Path(first).write_text("")
    sys.exit("not yet")
if "greet" in WORDS:
    print("Welcome to the server!")
if "mute" in WORDS:
    while True:
        receive()
while True:
    answer(receive())
