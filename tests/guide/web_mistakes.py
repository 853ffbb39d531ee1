"""The mistakes of the guide with web pages and to-do lists."""

from __future__ import annotations

from typing import Any

from mistakes import mistake, model, told

from amplifier_agent import Agent


def fetch(url: str) -> str:
    """What the model is told of an address, about which nobody is asked."""
    call: dict[str, Any] = {"tool": "web_fetch", "arguments": {"url": url}}
    scripted = model(call, "Done.")
    return told(Agent(scripted, tools=["tool-web"], approvals=lambda _: True), scripted)


@mistake("web-tools", "an address in a private network")
def _() -> str:
    return fetch("https://127.0.0.1/")


@mistake("web-tools", "an address that is none")
def _() -> str:
    return fetch("ftp://a/b")


@mistake("web-tools", "an address of a port that `ports` does not name")
def _() -> str:
    return fetch("https://example.com:8443/")


@mistake("web-tools", "`web_search` with a provider that has none")
def _() -> None:
    web = {"module": "tool-web", "config": {"web_search": True}}
    Agent(model(), tools=[web]).run_sync("go")


@mistake("to-do-lists", "a `status` of another name")
def _() -> str:
    todos = [{"content": "Dig", "status": "done"}]
    scripted = model({"tool": "todo", "arguments": {"todos": todos}}, "Done.")
    return told(Agent(scripted, tools=["tool-todo"]), scripted)


@mistake("to-do-lists", "a key in the config")
def _() -> None:
    Agent(model(), tools=[{"module": "tool-todo", "config": {"size": 1}}]).run_sync("go")
