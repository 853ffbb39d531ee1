"""Programs over the ids of model calls."""

from __future__ import annotations

from hook_parts import Step, emit, handler, program, register


def of_correlation() -> list[Step]:
    see = [
        register(event, handler("see"))
        for event in ("llm:request", "llm:response", "provider:retry")
    ]
    ask = {"do": "correlation", "function": "current_request_id"}
    return [
        program(
            "ids of requests",
            *see,
            ask,
            emit("llm:request", {"model": "m"}),
            ask,
            emit("provider:retry", {}),
            emit("provider:throttle", {"no": "handler"}),
            emit("tool:pre", {}),
            emit("llm:response", {}),
            ask,
            emit("llm:response", {}),
            emit("provider:retry", {}),
        ),
        program(
            "ids of requests that are given",
            *see,
            emit("llm:request", {"request_id": "mine"}),
            ask,
            emit("llm:response", {"request_id": "other"}),
            ask,
        ),
        program(
            "ids of requests without handlers",
            emit("llm:request", {"a": 1}),
            ask,
            emit("provider:error", {"a": 1}),
            ask,
            emit("llm:request", None),
            {"do": "correlation", "function": "reset_request_id"},
            ask,
        ),
        program(
            "a second request before the first ends",
            *see,
            emit("llm:request", {}),
            emit("llm:request", {}),
            emit("llm:response", {}),
            emit("llm:response", {}),
        ),
        *[
            program(
                f"an id that is {name}",
                *see,
                emit("llm:request", {"request_id": odd}),
                ask,
                emit("provider:retry", {"request_id": odd}),
                emit("llm:response", {}),
                emit("llm:response", {"request_id": odd}),
            )
            for name, odd in {"empty": "", "none": None, "a number": 5, "a list": ["id"]}.items()
        ],
        program(
            "requests of two tasks",
            *see,
            {"do": "in_task", "inner": emit("llm:request", {"n": 1})},
            ask,
            emit("llm:response", {}),
        ),
        program(
            "resolving",
            *[
                {"do": "correlation", "function": "resolve_request_id", "arguments": arguments}
                for arguments in (
                    ["llm:request"],
                    ["provider:retry"],
                    ["llm:request", "x"],
                    ["tool:pre"],
                    ["llm:response"],
                    ["llm:response"],
                )
            ],
        ),
    ]
