"""Programs over cancellation tokens: requests, tools, children and callbacks."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

REQUESTS = ["request_graceful", "request_immediate", "request_cancellation", "reset"]


def tell(on: str, method: str, *arguments: Any) -> Step:
    return {"do": "tell", "on": on, "method": method, "arguments": list(arguments)}


def program(name: str, *steps: Step) -> Step:
    tokens = [{"do": "token", "as_": name} for name in ("t0", "t1", "t2")]
    return {"id": f"cancellation: {name}", "steps": [*tokens, *steps]}


def of_random_calls(random: Random, count: int) -> list[Step]:
    made = []
    for number in range(count):
        steps: list[Step] = []
        for _ in range(random.randint(8, 16)):
            on, other = random.sample(["t0", "t1", "t2"], 2)
            choice = random.random()
            if choice < 0.4:
                steps.append(tell(on, random.choice(REQUESTS)))
            elif choice < 0.6:
                tool = random.choice(["a", "b"])
                steps.append(
                    tell(on, "register_tool_start", tool, f"tool {tool}")
                    if random.random() < 0.6
                    else tell(on, "register_tool_complete", tool)
                )
            elif choice < 0.85:
                method = random.choice(["register_child", "register_child", "unregister_child"])
                steps.append({"do": "relate", "on": on, "method": method, "child": other})
            elif choice < 0.93:
                callback = {
                    "name": f"c{len(steps)}",
                    "kind": random.choice(["sync", "async", "lambda"]),
                    **({"raise": ["ValueError", "no"]} if random.random() < 0.2 else {}),
                }
                steps.append({"do": "on_cancel", "on": on, "callback": callback})
            else:
                steps.append({"do": "trigger_callbacks", "on": on})
        steps += [{"do": "stands", "on": name} for name in ("t0", "t1", "t2")]
        made.append(program(f"calls {number}", *steps))
    return made


def of_callbacks() -> list[Step]:
    def callback(name: str, kind: str = "sync", **more: Any) -> Step:
        return {"do": "on_cancel", "on": "t0", "callback": {"name": name, "kind": kind, **more}}

    run = {"do": "trigger_callbacks", "on": "t0"}
    return [
        program(
            "callbacks in order, each time",
            callback("a"),
            callback("b", "async", suspends=2),
            callback("c", "lambda"),
            run,
            run,
        ),
        program(
            "requests run no callback", callback("a"), *[tell("t0", method) for method in REQUESTS]
        ),
        program(
            "callbacks that fail",
            callback("a", **{"raise": ["ValueError", "x"]}),
            callback("b"),
            run,
        ),
        program(
            "async callbacks that fail",
            callback("a", "async", **{"raise": ["ValueError", "x"]}),
            callback("b"),
            run,
        ),
        program(
            "callbacks that are cancelled",
            callback("a", "async", **{"raise": ["CancelledError", "x"]}),
            callback("b"),
            run,
        ),
        program(
            "callbacks that return a value",
            callback("a", returns=5),
            callback("b", "async", returns="x"),
            run,
        ),
        program("callbacks that return an awaitable", callback("a", "later"), callback("b"), run),
        program(
            "callbacks that are none",
            {"do": "on_cancel", "on": "t0", "callback": {"name": "x", "kind": "none"}},
            run,
        ),
    ]


def of_bad_calls() -> list[Step]:
    return [
        program(
            "bad arguments",
            tell("t0", "register_tool_start", "a"),
            tell("t0", "register_tool_start", 5, "x"),
            tell("t0", "register_tool_start", "a", None),
            tell("t0", "register_tool_complete"),
            tell("t0", "register_tool_complete", "unknown"),
            tell("t0", "request_graceful", 1),
            {"do": "write", "of": "t0", "name": "state", "value": "immediate"},
            {"do": "write", "of": "t0", "name": "is_cancelled", "value": True},
            {"do": "stands", "on": "t0"},
        ),
        program(
            "an attribute of one's own",
            {"do": "write", "of": "t0", "name": "colour", "value": "red"},
        ),
        program(
            "children in a circle",
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t1"},
            {"do": "relate", "on": "t1", "method": "register_child", "child": "t0"},
            tell("t1", "request_graceful"),
            {"do": "stands", "on": "t0"},
        ),
        program(
            "a child registered twice and taken away once",
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t1"},
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t1"},
            {"do": "relate", "on": "t0", "method": "unregister_child", "child": "t1"},
            tell("t0", "request_graceful"),
            {"do": "stands", "on": "t1"},
        ),
        program(
            "a child among others taken away",
            *[
                {"do": "relate", "on": "t0", "method": "register_child", "child": child}
                for child in ("t1", "t2", "t1", "t2", "t1")
            ],
            {"do": "relate", "on": "t0", "method": "unregister_child", "child": "t1"},
            {"do": "relate", "on": "t0", "method": "unregister_child", "child": "t1"},
            tell("t0", "request_immediate"),
            {"do": "stands", "on": "t1"},
            {"do": "stands", "on": "t2"},
        ),
        program(
            "a child that has risen already",
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t1"},
            {"do": "relate", "on": "t1", "method": "register_child", "child": "t2"},
            tell("t1", "request_immediate"),
            tell("t2", "reset"),
            tell("t0", "request_graceful"),
            {"do": "stands", "on": "t1"},
            {"do": "stands", "on": "t2"},
            tell("t0", "request_immediate"),
            {"do": "stands", "on": "t2"},
        ),
        program(
            "a child of a cancelled parent",
            tell("t0", "request_immediate"),
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t1"},
            {"do": "relate", "on": "t1", "method": "register_child", "child": "t2"},
            tell("t0", "reset"),
            {"do": "stands", "on": "t1"},
        ),
        program(
            "its own child",
            {"do": "relate", "on": "t0", "method": "register_child", "child": "t0"},
            tell("t0", "request_graceful"),
        ),
        {"id": "cancellation: states", "steps": [{"do": "states"}]},
    ]


def programs(random: Random) -> list[Step]:
    return [*of_callbacks(), *of_bad_calls(), *of_random_calls(random, 20)]
