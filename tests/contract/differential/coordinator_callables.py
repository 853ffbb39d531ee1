"""Programs over clean-up, contributions and capabilities."""

from __future__ import annotations

from typing import Any

from coordinator_parts import Step, program, read


def of_callables() -> list[Step]:
    def clean(name: str, kind: str = "async", **more: Any) -> Step:
        return {"do": "register_cleanup", "callback": {"name": name, "kind": kind, **more}}

    def contribute(name: str, kind: str = "async", **more: Any) -> Step:
        return {
            "do": "register_contributor",
            "channel": "c",
            "name": name,
            "callback": {"name": name, "kind": kind, **more},
        }

    collect = {"do": "collect_contributions", "channel": "c"}
    return [
        program(
            "clean-up in reverse",
            clean("a"),
            clean("b", "sync"),
            clean("c", "lambda", suspends=2),
            clean("n", "none"),
            clean("five", "number"),
            {"do": "cleanup"},
        ),
        program("clean-up twice", clean("a"), {"do": "cleanup"}, {"do": "cleanup"}),
        program(
            "clean-up that fails",
            clean("a"),
            clean("b", **{"raise": ["ValueError", "x"]}),
            clean("c", "sync", **{"raise": ["KeyError", "k"]}),
            {"do": "cleanup"},
        ),
        program(
            "clean-up that is cancelled",
            clean("a"),
            clean("b", **{"raise": ["CancelledError", "first"]}),
            clean("c", "sync", **{"raise": ["SystemExit", "later"]}),
            clean("d"),
            {"do": "cleanup"},
        ),
        program(
            "clean-up that exits",
            clean("a"),
            clean("b", "sync", **{"raise": ["SystemExit", "bye"]}),
            {"do": "cleanup"},
        ),
        program(
            "clean-up that returns an awaitable", clean("a", "later"), clean("b"), {"do": "cleanup"}
        ),
        program(
            "the list of clean-up functions",
            clean("a"),
            {"do": "append_cleanup", "callback": {"name": "b"}},
            {"do": "append_cleanup", "callback": {"name": "n", "kind": "none"}},
            {"do": "append_cleanup", "callback": {"name": "d", "kind": "dict"}},
            {"do": "append_cleanup", "callback": {"name": "f", "kind": "number"}},
            {"do": "cleanup"},
        ),
        program(
            "contributions",
            collect,
            contribute("a", returns=[1]),
            contribute("b", "sync", returns={"x": 1}),
            contribute("b", "lambda", returns="again", suspends=2),
            contribute("none"),
            contribute("false", "sync", returns=False),
            contribute("bad", **{"raise": ["ValueError", "x"]}),
            contribute("last", returns=0),
            collect,
            {"do": "collect_contributions", "channel": "unknown"},
            read("channels"),
        ),
        program(
            "contributions that are cancelled",
            contribute("a", returns=1),
            contribute("b", **{"raise": ["CancelledError", "x"]}),
            contribute("c", returns=3),
            collect,
        ),
        program(
            "contributions that are not callable",
            contribute("a", "number"),
            contribute("b", returns=2),
            collect,
        ),
        program(
            "contributions that are awaitable",
            contribute("a", "later", returns=1),
            contribute("b", returns=2),
            collect,
        ),
    ]
