"""Programs over registering, unregistering and the names of events."""

from __future__ import annotations

from hook_parts import KINDS, Step, emit, handler, program, register


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
