"""What programs over coordinators are made of."""

from __future__ import annotations

from typing import Any

Step = dict[str, Any]

THINGS: list[Step] = [
    {"do": "thing", "as_": "anna", "name": "anna"},
    {"do": "thing", "as_": "ben", "name": "ben"},
    {"do": "thing", "as_": "nameless"},
    {"do": "thing", "as_": "numbered", "name": 5},
    {"do": "thing", "as_": "unnamed", "name": ""},
    {"do": "thing", "as_": "bare", "kind": "bare"},
    {"do": "thing", "as_": "nothing", "kind": "none"},
]


def mount(point: Any, thing: str, **more: Any) -> Step:
    return {"do": "mount", "point": point, "thing": thing, **more}


def program(
    name: str, *steps: Step, coordinator: Step | None = None, before: tuple[Step, ...] = ()
) -> Step:
    made = coordinator or {"do": "coordinator"}
    return {"id": f"coordinator: {name}", "steps": [*THINGS, *before, made, *steps]}


def read(name: str, of: str = "coordinator") -> Step:
    return {"do": "read", "of": of, "name": name}


def process(**fields: Any) -> Step:
    return {"do": "process_hook_result", **fields}
