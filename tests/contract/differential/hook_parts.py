"""What programs over hooks are made of."""

from __future__ import annotations

from typing import Any

Step = dict[str, Any]

EVENTS = ["tool:pre", "tool:post", "prompt:submit", "my:event"]
KINDS = ["async", "sync", "object", "lambda", "partial"]


def handler(name: str, answer: Any = None, **more: Any) -> Step:
    return {"name": name, "answer": answer, **more}


def register(event: str, spec: Step, **more: Any) -> Step:
    return {"do": "register", "event": event, "handler": spec, "name": spec["name"], **more}


def emit(event: str, data: Any, **more: Any) -> Step:
    return {"do": "emit", "event": event, "data": data, **more}


def program(name: str, *steps: Step, **more: Any) -> Step:
    return {"id": f"hooks: {name}", "steps": [{"do": "registry"}, *steps], **more}
