"""Programs over running handlers: within each other, cancelled, and asked all at once."""

from __future__ import annotations

from typing import Any

from hook_parts import Step, emit, handler, program, register


def of_nesting() -> list[Step]:
    inner = [emit("tool:post", {"from": "inside"})]
    return [
        program(
            "an event within an event",
            register("tool:pre", handler("outer", {"add": {"x": 1}}, awaits=inner)),
            register("tool:post", handler("inner", {"result": {"action": "deny", "reason": "r"}})),
            emit("tool:pre", {"a": 1}),
        ),
        program(
            "a handler that emits its own event once",
            register(
                "tool:pre",
                handler(
                    "a",
                    does=[{"do": "unregister", "name": "a"}],
                    awaits=[emit("tool:pre", {"again": 1})],
                ),
            ),
            register("tool:pre", handler("b"), priority=3),
            emit("tool:pre", {}),
        ),
        program(
            "collecting within an event",
            register(
                "tool:pre",
                handler(
                    "a", awaits=[{"do": "emit_and_collect", "event": "tool:post", "data": {"x": 1}}]
                ),
            ),
            register("tool:post", handler("b", {"echo": True})),
            emit("tool:pre", {}),
        ),
        program(
            "many events at once",
            register("tool:pre", handler("a", {"add": {"seen": 1}}, suspends=3, shows="nothing")),
            {"do": "together", "steps": [emit("tool:pre", {"n": n}) for n in range(8)]},
        ),
        program(
            "two handlers that suspend run one after the other",
            register("tool:pre", handler("a", suspends=4)),
            register("tool:pre", handler("b", suspends=1)),
            emit("tool:pre", {}),
        ),
        program(
            "cancelling the task that emits",
            register("tool:pre", handler("a", hangs=True)),
            register("tool:pre", handler("b"), priority=2),
            {"do": "in_task", "inner": emit("tool:pre", {}), "cancel_after": 100},
            {"do": "unregister", "name": "a"},
            emit("tool:pre", {}),
        ),
        program(
            "a coroutine that nobody awaits",
            register("tool:pre", handler("a")),
            {"do": "closed_unawaited", "method": "emit"},
            {"do": "closed_unawaited", "method": "emit_and_collect"},
            {"do": "settle"},
        ),
        program(
            "the caller's data may change while handlers run",
            register("tool:pre", handler("a", suspends=2)),
            emit("tool:pre", {"a": 1}, changed={"a": 2}),
        ),
        program(
            "order of the keys",
            register("tool:pre", handler("a", shows="keys")),
            emit("tool:pre", {"zebra": 1, "apple": 2, "mango": 3}),
        ),
        program(
            "types that handlers get",
            register("tool:pre", handler("a", shows="types")),
            emit("tool:pre", {"t": {"$": ["tuple", 1]}, "d": {"$": ["decimal", "1"]}, "b": True}),
        ),
        program(
            "the result holds the caller's own objects",
            register("tool:pre", handler("a")),
            {
                "do": "emit_and_see",
                "event": "tool:pre",
                "see": "identity",
                "data": {"x": {"y": 1}, "z": [1]},
            },
        ),
        program(
            "where handlers run",
            register("tool:pre", handler("async", shows="place")),
            {"do": "in_mood", "mood": "glad", "event": "tool:pre"},
        ),
        program(
            "where plain handlers run",
            register("tool:pre", handler("sync", shows="place", kind="sync")),
            {"do": "in_mood", "mood": "glad", "event": "tool:pre"},
        ),
        program(
            "a context variable that a handler sets",
            register("tool:pre", handler("a", sets_mood="changed", shows="nothing")),
            {"do": "in_mood", "mood": "glad", "event": "tool:pre"},
        ),
        program(
            "an awaitable that is no coroutine",
            register(
                "tool:pre",
                handler(
                    "a", {"later": {"result": {"action": "deny", "reason": "late"}}}, kind="sync"
                ),
            ),
            emit("tool:pre", {}),
        ),
    ]


def of_collected_data() -> list[Step]:
    """Data of answers that is no plain JSON: what is collected is."""
    odd: dict[str, Any] = {
        "model": {"$": ["model"]},
        "dataclass": {"$": ["dataclass"]},
        "datetime": {"$": ["datetime"]},
        "decimal": {"$": ["decimal", "1.50"]},
        "enum": {"$": ["enum"]},
        "tuple": {"$": ["tuple", 1, {"$": ["tuple", 2]}]},
        "nested": [{"x": {"$": ["model"]}}, {"y": {"$": ["date"]}}],
        "keys": {"$": ["pairs", [5, "five"], [True, "yes"]]},
    }
    return [
        program(
            f"collecting a {name} from {way}",
            register("my:event", handler("answers", {way: {"data": {"value": value}}})),
            register("my:event", handler("later", {"result": {"data": {"n": 1}}})),
            {"do": "emit_and_collect", "event": "my:event", "data": {}},
        )
        for name, value in odd.items()
        for way in ("result", "return")
    ]


def of_collecting() -> list[Step]:
    collect = {"do": "emit_and_collect", "event": "my:event", "data": {"q": 1}}
    base = [
        register("my:event", handler("one", {"result": {"data": {"n": 1}}}), priority=2),
        register(
            "my:event",
            handler("zero", {"result": {"action": "deny", "data": {"n": 0}}}),
            priority=1,
        ),
        register("my:event", handler("none", {"result": {"action": "modify"}}), priority=3),
        register("my:event", handler("dict", {"return": {"data": {"n": 4}}}), priority=4),
        register("my:event", handler("bad", {"raise": ["ValueError", "x"]}), priority=5),
        register("my:event", handler("echo", {"echo": True}, mutates=False), priority=6),
    ]
    made = [
        program("collecting", collect, *base, collect, {**collect, "timeout": 5}),
        program(
            "collecting with defaults",
            {"do": "set_default_fields", "fields": {"session_id": "s"}},
            *base,
            collect,
            {**collect, "event": "llm:request"},
        ),
        program(
            "collecting waits only so long",
            register("my:event", handler("hangs", hangs=True), priority=0),
            *base,
            {**collect, "timeout": 0.05},
        ),
    ]
    made.extend(
        program(f"collecting with the timeout {timeout}", *base, {**collect, "timeout": timeout})
        for timeout in (None, -1, {"$": ["nan"]}, {"$": ["infinity"]}, "long")
    )
    return made
