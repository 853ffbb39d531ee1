"""Programs over hooks: registration, payloads, answers, nesting, collecting, correlation."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

EVENTS = ["tool:pre", "tool:post", "prompt:submit", "my:event"]

PAYLOADS: dict[str, Any] = {
    "flat": {"tool": "web", "count": 3, "rate": 0.5, "on": True, "none": None},
    "nested": {"a": {"b": [1, {"c": "d"}]}, "list": [[], {}, [None]]},
    "unicode": {"text": "naïve — 漢字 🙂", "ключ": "\n\t"},
    "big integer": {"n": {"$": ["integer", "123456789012345678901234567890"]}},
    "tuple": {"t": {"$": ["tuple", 1, {"$": ["tuple", 2]}]}},
    "datetime": {"at": {"$": ["datetime"]}, "day": {"$": ["date"]}},
    "decimal": {"cost": {"$": ["decimal", "1.50"]}},
    "bytes": {"raw": {"$": ["bytes"]}},
    "enum": {"colour": {"$": ["enum"]}},
    "opaque": {"o": {"$": ["opaque"]}},
    "keys": {"k": {"$": ["pairs", [5, "five"], [True, "yes"], [None, "no"], [1.5, "f"]]}},
    "timestamp": {"timestamp": "mine", "session_id": "mine"},
    "empty": {},
}
ODD_PAYLOADS: dict[str, Any] = {
    "nothing": None,
    "list": [1, 2],
    "text": "just text",
    "number": 5,
    "dumpable": {"$": ["dumpable", {"a": 1, "b": [2]}]},
    "model": {"$": ["model"]},
    "nan": {"x": {"$": ["nan"]}},
    "infinity": {"x": [{"$": ["infinity"]}, {"$": ["minus infinity"]}]},
    "surrogate": {"x": {"$": ["surrogate"]}},
    "nested model": {"x": {"$": ["model"]}, "y": [{"$": ["model"]}]},
    "nested dataclass": {"x": {"$": ["dataclass"]}},
    "set": {"x": {"$": ["set", 1]}},
    "circular": {"x": {"$": ["circular"]}},
    "tuple key": {"x": {"$": ["pairs", [{"$": ["tuple", 1]}, 2]]}},
    "deep": {"x": {"$": ["nested", 60]}},
}

ANSWERS: dict[str, Any] = {
    "nothing": None,
    "continue": {"result": {"action": "continue"}},
    "continue with data": {"result": {"action": "continue", "data": {"ignored": 1}}},
    "continue with message": {"result": {"user_message": "hello", "suppress_output": True}},
    "deny": {"result": {"action": "deny", "reason": "no"}},
    "deny with data": {"result": {"action": "deny", "data": {"x": 1}, "user_message": "m"}},
    "modify": {"add": {"added": 1}},
    "modify replaces": {"result": {"action": "modify", "data": {"only": "this"}}},
    "modify without data": {"result": {"action": "modify"}},
    "modify to nothing": {"result": {"action": "modify", "data": {}}},
    "inject": {"result": {"action": "inject_context", "context_injection": "look"}},
    "inject empty": {"result": {"action": "inject_context", "context_injection": ""}},
    "inject nothing": {"result": {"action": "inject_context"}},
    "inject as user": {
        "result": {
            "action": "inject_context",
            "context_injection": "psst",
            "context_injection_role": "user",
            "ephemeral": True,
            "append_to_last_tool_result": True,
            "reason": "why",
            "user_message": "shown",
            "suppress_output": True,
        }
    },
    "inject list": {
        "result": {
            "action": "inject_context",
            "context_injections": [
                {"content": "one", "role": "assistant", "hook_name": "forged", "event": "forged"},
                {"content": "", "ephemeral": True},
            ],
        }
    },
    "ask": {"result": {"action": "ask_user", "approval_prompt": "may I?"}},
    "ask fully": {
        "result": {
            "action": "ask_user",
            "approval_prompt": "really?",
            "approval_options": ["Yes", "No"],
            "approval_timeout": 5,
            "approval_default": "allow",
        }
    },
    "dict": {"return": {"action": "deny", "reason": "from a dict", "unknown": 1}},
    "dict without action": {"return": {"reason": "no action"}},
    "dict that modifies": {"return": {"action": "modify", "data": {"from": "dict"}}},
    "text": {"return": "deny"},
    "number": {"return": 5},
    "boolean": {"return": False},
    "list": {"return": []},
    "opaque": {"return": {"$": ["opaque"]}},
    "bad action": {"return": {"action": "explode"}},
    "bad field": {"return": {"action": "continue", "ephemeral": "perhaps"}},
    "bad data": {"return": {"action": "modify", "data": 5}},
    "raise": {"raise": ["ValueError", "broken"]},
    "raise runtime": {"raise": ["RuntimeError", "broken"]},
    "raise stop": {"raise": ["StopAsyncIteration", "stop"]},
    "raise cancelled": {"raise": ["CancelledError", "gone"]},
}
KINDS = ["async", "sync", "object", "lambda", "partial"]


def handler(name: str, answer: Any = None, **more: Any) -> Step:
    return {"name": name, "answer": answer, **more}


def register(event: str, spec: Step, **more: Any) -> Step:
    return {"do": "register", "event": event, "handler": spec, "name": spec["name"], **more}


def emit(event: str, data: Any, **more: Any) -> Step:
    return {"do": "emit", "event": event, "data": data, **more}


def program(name: str, *steps: Step, **more: Any) -> Step:
    return {"id": f"hooks: {name}", "steps": [{"do": "registry"}, *steps], **more}


def of_payloads() -> list[Step]:
    """Each kind of payload: no handler, one that looks and changes it, one that modifies."""
    made = []
    for name, data in {**PAYLOADS, **ODD_PAYLOADS}.items():
        is_dict = isinstance(data, dict) and "$" not in data
        steps = [
            emit("my:event", data),
            register("my:event", handler("first", mutates=is_dict), priority=1),
            register("my:event", handler("second"), priority=2),
            {"do": "set_default_fields", "fields": {"session_id": "s", "parent_id": None}},
            emit("my:event", data),
            {"do": "emit_and_collect", "event": "my:event", "data": data},
        ]
        if is_dict:
            steps.append(register("my:event", handler("third", {"add": {"more": 1}}), priority=3))
            steps.append(emit("my:event", data))
        made.append(program(f"payload {name}", *steps))
    return made


def of_answers() -> list[Step]:
    """Each answer by itself, before and after another handler, from a sync one, collected."""
    made = []
    for name, answer in ANSWERS.items():
        made.append(
            program(
                f"answer {name}",
                register("tool:pre", handler("answers", answer), priority=5),
                emit("tool:pre", {"a": 1}),
                register("tool:pre", handler("later", {"add": {"b": 2}}), priority=9),
                emit("tool:pre", {"a": 1}),
                {"do": "emit_and_collect", "event": "tool:pre", "data": {"a": 1}},
                {"do": "unregister", "name": "answers"},
                register("tool:pre", handler("sync", answer, kind="sync"), priority=1),
                emit("tool:pre", {"a": 1}),
            )
        )
    return made


def of_chains(random: Random, count: int) -> list[Step]:
    """Registries full of handlers with random answers, priorities, kinds and defaults."""
    made = []
    for number in range(count):
        steps: list[Step] = []
        names: list[str] = []
        for position in range(random.randint(2, 6)):
            name = f"h{position}"
            names.append(name)
            spec = handler(
                name,
                ANSWERS[random.choice(list(ANSWERS))],
                kind=random.choice(KINDS),
                suspends=random.choice([0, 0, 2]),
            )
            steps.append(
                register(
                    random.choice(EVENTS[:2]),
                    spec,
                    priority=random.choice([-5, 0, 0, 0, 3, 100]),
                    via=random.choice(["register", "on"]),
                    as_=f"handle {name}",
                )
            )
        if random.random() < 0.6:
            steps.append(
                {
                    "do": "set_default_fields",
                    "fields": random.choice([{"session_id": "s"}, {"a": "default"}, {}]),
                }
            )
        for _ in range(random.randint(2, 5)):
            event = random.choice(EVENTS[:3])
            data = PAYLOADS[random.choice(["flat", "nested", "empty", "timestamp", "unicode"])]
            choice = random.random()
            if choice < 0.6:
                steps.append(emit(event, data))
            elif choice < 0.75:
                steps.append({"do": "emit_and_collect", "event": event, "data": data})
            elif choice < 0.85:
                steps.append({"do": "unregister", "name": random.choice([*names, "nobody"])})
            elif choice < 0.95:
                steps.append({"do": "release", "handle": f"handle {random.choice(names)}"})
            else:
                steps.append({"do": "list_handlers"})
        steps.extend({"do": "list_handlers", "event": event} for event in EVENTS[:3])
        made.append(program(f"chain {number}", *steps))
    return made


def json_value(random: Random, depth: int) -> Any:
    """Any JSON, of at most so many levels."""
    plain: list[Any] = [None, True, False, 0, -7, 2**53 - 1, 0.1, -2.5e300, "", "t", 'é\u2028"\\']
    if depth == 0 or random.random() < 0.4:
        return random.choice(plain)
    inner = [json_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    if random.random() < 0.5:
        return inner
    return {random.choice("abcdé $") + str(n): item for n, item in enumerate(inner)}


def of_values(random: Random, count: int) -> list[Step]:
    """Payloads at random, through handlers that look, add and replace."""
    made = []
    for number in range(count):
        payload = {f"k{n}": json_value(random, 4) for n in range(random.randint(0, 4))}
        other = {f"k{n}": json_value(random, 3) for n in range(2)}
        made.append(
            program(
                f"values {number}",
                {"do": "set_default_fields", "fields": {"k1": json_value(random, 2), "s": "s"}},
                emit("my:event", payload),
                register("my:event", handler("adds", {"add": {"more": json_value(random, 3)}})),
                register("my:event", handler("looks"), priority=1),
                emit("my:event", payload),
                register(
                    "my:event",
                    handler("replaces", {"result": {"action": "modify", "data": other}}),
                    priority=2,
                ),
                register("my:event", handler("spoils", mutates=True), priority=3),
                register("my:event", handler("echoes", {"echo": True}), priority=4),
                emit("my:event", payload),
                {"do": "emit_and_collect", "event": "my:event", "data": payload},
            )
        )
    return made


def of_registration() -> list[Step]:
    see = handler("a")
    return [
        program(
            "handlers come in order of priority, equal ones in order of registration",
            *[
                register("tool:pre", handler(name), priority=priority)
                for name, priority in [
                    ("d", 9),
                    ("b", 0),
                    ("c", 0),
                    ("a", -(2**31)),
                    ("e", 2**31 - 1),
                ]
            ],
            {"do": "list_handlers"},
            {"do": "list_handlers", "event": "nope"},
            {"do": "list_handlers", "event": None},
            emit("tool:pre", {}),
        ),
        program(
            "bad registrations",
            register("tool:pre", see, priority=1.5),
            register("tool:pre", see, priority=2**31),
            register("tool:pre", see, priority="high"),
            register("tool:pre", see, priority=None),
            {"do": "register", "event": 5, "handler": see},
            {"do": "register", "event": "tool:pre", "handler": see, "name": 5},
            {"do": "register", "event": "tool:pre", "handler": see, "colour": "red"},
            {"do": "unregister", "name": 5},
            {"do": "list_handlers", "event": 5},
            {"do": "list_handlers"},
        ),
        program(
            "a name made for a handler",
            {"do": "register", "event": "tool:pre", "handler": see},
            {"do": "register", "event": "tool:pre", "handler": see, "name": ""},
            {"do": "list_handlers"},
        ),
        program(
            "unregistering",
            register("tool:pre", see, as_="handle"),
            {"do": "unregister", "name": "nobody"},
            {"do": "release", "handle": "handle"},
            {"do": "release", "handle": "handle"},
            {"do": "list_handlers"},
            {"do": "list_handlers", "event": "tool:pre"},
            emit("tool:pre", {"a": 1}),
        ),
        program(
            "one name on two events, released by the first handle",
            register("tool:pre", see, as_="first"),
            register("tool:post", see, as_="second"),
            {"do": "release", "handle": "first"},
            {"do": "list_handlers"},
        ),
        program(
            "one name on two events, unregistered",
            register("tool:pre", see),
            register("tool:post", see),
            {"do": "unregister", "name": "a"},
            {"do": "list_handlers"},
        ),
        program(
            "one name twice on one event",
            register("tool:pre", see, as_="first"),
            register("tool:pre", handler("a", {"add": {"second": 1}}), as_="second"),
            emit("tool:pre", {}),
            {"do": "list_handlers"},
        ),
        *[
            program(
                f"a handler that is {kind}",
                register("tool:pre", handler("a", kind=kind)),
                register("tool:pre", handler("b")),
                {"do": "list_handlers"},
                emit("tool:pre", {"x": 1}),
                {"do": "emit_and_collect", "event": "tool:pre", "data": {}},
            )
            for kind in ("none", "no arguments", "number", *KINDS)
        ],
        program("a star is a name", register("*", see), emit("tool:pre", {}), emit("*", {})),
        program(
            "registering and unregistering while an event runs",
            register(
                "tool:pre",
                handler(
                    "starter",
                    does=[
                        register("tool:pre", handler("new")),
                        {"do": "unregister", "name": "victim"},
                    ],
                ),
            ),
            register("tool:pre", handler("victim"), priority=5),
            emit("tool:pre", {}),
            emit("tool:pre", {}),
            {"do": "list_handlers"},
        ),
        program(
            "defaults replace each other",
            register("tool:pre", see),
            {"do": "set_default_fields", "fields": {"a": 1, "b": {"c": 2}}},
            emit("tool:pre", {"a": "mine"}),
            {"do": "set_default_fields", "fields": {"d": 4}},
            emit("tool:pre", {}),
            {"do": "set_default_fields", "fields": {}},
            emit("tool:pre", {}),
            emit("tool:post", {"no": "handlers"}),
        ),
    ]


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


def of_names() -> list[Step]:
    """Names that one side may have."""
    ours = [
        ("events", "TURN_START"),
        ("hooks", "HookRegistry.TURN_START"),
        ("hooks", "HookRegistry.SESSION_START"),
        ("events", "LLM_REQUEST"),
    ]
    return [
        program("the events", {"do": "event_names"}),
        program(
            "names",
            *[
                {"do": "has_attribute", "module": f"amplifier_core.{module}", "path": path}
                for module, path in ours
                if module == "events"
            ],
            {
                "do": "has_attribute",
                "module": "amplifier_core",
                "path": "HookRegistry.SESSION_START",
            },
            {"do": "has_attribute", "module": "amplifier_core", "path": "HookRegistry.TURN_START"},
            {
                "do": "has_attribute",
                "module": "amplifier_core",
                "path": "HookRegistry.CONTEXT_COMPACTION",
            },
            {"do": "has_attribute", "module": "amplifier_core", "path": "HookRegistry.emit"},
        ),
    ]


def programs(random: Random) -> list[Step]:
    return [
        *of_payloads(),
        *of_answers(),
        *of_registration(),
        *of_nesting(),
        *of_collecting(),
        *of_correlation(),
        *of_names(),
        *of_chains(random, 40),
        *of_values(random, 20),
    ]
