"""Programs over sessions: construction, initialisation, turns, cancellation, fork and clean-up."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

PYTHON = {"needs": ["amplifier_core.session"]}


def plan(
    turns: list[Any] | None = None,
    loop: str = "loop-scripted",
    context: str = "context-scripted",
    session: Step | None = None,
    **sections: Any,
) -> Step:
    """A mount plan of scripted modules."""
    return {
        "session": {
            "orchestrator": {"module": loop, "config": {"turns": turns or []}},
            "context": {"module": context},
            **(session or {}),
        },
        "providers": [{"module": "provider-scripted"}],
        "tools": [{"module": "tool-scripted", "config": {"names": ["echo"]}}],
        **sections,
    }


def session(config: Any = None, **options: Any) -> Step:
    return {"do": "session", "config": plan() if config is None else config, **options}


INITIALIZE: Step = {"do": "initialize"}
CLEANUP: Step = {"do": "cleanup", "on": "session"}


def execute(prompt: Any = "hello", on: str = "session") -> Step:
    return {"do": "execute", "prompt": prompt, "on": on}


def see(*events: str, on: str = "hooks") -> list[Step]:
    """Handlers that show events in the trace."""
    return [
        {
            "do": "register",
            "event": event,
            "handler": {"name": "see"},
            "on": on,
            "name": f"see {event}",
        }
        for event in events
    ]


LIFE = see(
    "session:start", "session:resume", "session:config", "session:fork", "session:end",
    "cancel:completed", "module:load_failed", "module:on_session_ready_failed", "prompt:submit",
)  # fmt: skip


def program(name: str, *steps: Step, **more: Any) -> Step:
    return {"id": f"session: {name}", "steps": list(steps), **more}


def of_constructors(flavour: str) -> list[Step]:
    good = {"orchestrator": "o", "context": "c"}
    configs: dict[str, Any] = {
        "empty": {},
        "no session": {"providers": []},
        "a session that is none": {"session": None},
        "an empty session": {"session": {}},
        "no orchestrator": {"session": {"context": "c"}},
        "no context": {"session": {"orchestrator": "o"}},
        "an orchestrator that is none": {"session": {**good, "orchestrator": None}},
        "a context that is none": {"session": {**good, "context": None}},
        "an empty orchestrator": {"session": {**good, "orchestrator": ""}},
        "an empty context": {"session": {**good, "context": ""}},
        "an empty dict as orchestrator": {"session": {**good, "orchestrator": {}}},
        "words": {"session": good},
        "dicts": {"session": {"orchestrator": {"module": "o"}, "context": {"module": "c"}}},
        "a list": [1],
        "a text": "config",
        "nan": {"session": good, "x": {"$": ["nan"]}},
        "values that are no json": {
            "session": good,
            "x": {"$": ["decimal", "1"]},
            "y": {"$": ["opaque"]},
        },
    }
    made = [
        program(
            f"{flavour} config with {name}", {"do": "session", "config": config, "flavour": flavour}
        )
        for name, config in configs.items()
    ]
    made.append(
        program(f"{flavour} config missing", {"do": "session", "config": None, "flavour": flavour})
    )
    properties = [
        "session_id",
        "parent_id",
        "config",
        "coordinator.session_id",
        "coordinator.parent_id",
        "coordinator.mount_points",
    ]
    if flavour == "top":
        properties += ["is_resumed", "initialized"]
    for number, options in enumerate(
        [
            {},
            {"session_id": "mine"},
            {"session_id": ""},
            {"parent_id": "above"},
            {"is_resumed": True},
            {"session_id": 5},
            {"colour": "red"},
        ]
    ):
        made.append(
            program(
                f"{flavour} options {number}",
                session(flavour=flavour, **options),
                *[{"do": "read", "of": "session", "name": name} for name in properties],
                *see("my:event"),
                {"do": "emit", "event": "my:event", "data": {"x": 1}},
            )
        )
    return made


TURNS: dict[str, list[Any]] = {
    "an echo": [[], []],
    "a text": [[{"return": "an answer"}]],
    "no text": [[{"return": 5}], [{"return": None}], [{"return": ["a"]}], [{"return": ""}]],
    "a tool": [[{"tool": ["echo", {"x": 1}]}, {"emit": ["prompt:submit", {"prompt": "p"}]}]],
    "a provider": [[{"provider": "scripted"}, {"remember": {"role": "user", "content": "x"}}]],
    "an unknown tool": [[{"tool": ["nobody", {}]}]],
    "an injection": [[{"process": {"action": "inject_context", "context_injection": "look"}}]],
    "a graceful cancellation": [[{"cancel": "request_graceful"}], []],
    "an immediate cancellation": [[{"cancel": "request_immediate"}], []],
    "a cancellation and an error": [
        [{"cancel": "request_graceful"}, {"raise": ["ValueError", "x"]}]
    ],
    "an immediate cancellation and an error": [
        [{"cancel": "request_immediate"}, {"raise": ["RuntimeError", "x"]}]
    ],
    "a value error": [[{"raise": ["ValueError", "bad"]}], []],
    "a key error": [[{"raise": ["KeyError", "k"]}]],
    "a rate limit": [[{"raise": ["RateLimitError", "slow down"]}]],
    "a runtime error": [[{"raise": ["RuntimeError", "Execution failed: inner"]}]],
    "a cancelled error": [[{"raise": ["CancelledError", "gone"]}]],
    "a stop": [[{"raise": ["StopAsyncIteration", "stop"]}]],
    "an unprintable error": [[{"raise": ["UnprintableError", "x"]}]],
}


def turn(flavour: str, name: str, turns: list[Any]) -> Step:
    """A session whose orchestrator does these turns, each started by a prompt."""
    in_python = flavour == "python"
    status = [
        {"do": "read", "of": "session", "name": f"status.{name}"}
        for name in ("status", "last_error")
    ]
    return program(
        f"{flavour} turn with {name}",
        session(plan(turns), flavour=flavour, session_id="s-1"),
        *LIFE,
        INITIALIZE,
        *[execute(f"prompt {number}") for number in range(max(2, len(turns)))],
        *(status if in_python else []),
        {"do": "read", "of": "token", "name": "state"},
        CLEANUP,
        **(PYTHON if in_python else {}),
    )


def of_turns() -> list[Step]:
    return [
        turn(flavour, name, turns) for name, turns in TURNS.items() for flavour in ("top", "python")
    ]


def of_lives(flavour: str) -> list[Step]:
    more = PYTHON if flavour == "python" else {}

    def life(name: str, *steps: Step) -> Step:
        return program(f"{flavour} {name}", *steps, **more)

    def made(config: Any = None, **options: Any) -> Step:
        return session(config, flavour=flavour, session_id="s-1", **options)

    def clean(name: str, **callback: Any) -> Step:
        return {"do": "register_cleanup", "callback": {"name": name, **callback}}

    def modules(section: str, *specs: Any) -> Step:
        return {section: list(specs)}

    failing = {"mount": {"raise": ["ValueError", "no"]}}
    lives = [
        life("executing before initialising", made(), *LIFE, execute()),
        life(
            "initialising twice",
            made(),
            *LIFE,
            INITIALIZE,
            INITIALIZE,
            {"do": "get", "point": "tools"},
        ),
        life("initialising twice at once", made(), *LIFE, {"do": "initialize_twice_at_once"}),
        life(
            "as a context manager",
            made(),
            *LIFE,
            {"do": "enter"},
            execute(),
            {"do": "leave"},
            {"do": "leave"},
        ),
        life("leaving what was never entered", made(), *LIFE, clean("c"), {"do": "leave"}),
        life(
            "clean-up",
            made(),
            *LIFE,
            clean("a"),
            clean("b"),
            INITIALIZE,
            CLEANUP,
            CLEANUP,
            execute(),
        ),
        life("clean-up before initialising", made(), *LIFE, clean("a"), CLEANUP, CLEANUP),
        life(
            "clean-up that fails",
            made(),
            *LIFE,
            clean("a"),
            clean("b", **{"raise": ["ValueError", "x"]}),
            INITIALIZE,
            CLEANUP,
        ),
        life(
            "clean-up that exits",
            made(),
            *LIFE,
            clean("a"),
            clean("b", **{"raise": ["SystemExit", "x"]}),
            INITIALIZE,
            {"do": "in_task", "inner": CLEANUP},
        ),
        life(
            "clean-up that is cancelled",
            made(),
            *LIFE,
            clean("a"),
            clean("b", **{"raise": ["CancelledError", "x"]}),
            INITIALIZE,
            CLEANUP,
        ),
        life(
            "again after clean-up",
            made(),
            *LIFE,
            INITIALIZE,
            execute(),
            CLEANUP,
            INITIALIZE,
            execute(),
            CLEANUP,
        ),
        life("resumed", made(is_resumed=True), *LIFE, INITIALIZE, execute(), execute(), CLEANUP),
        life("forked", made(parent_id="above"), *LIFE, INITIALIZE, execute(), CLEANUP),
        life(
            "forked with metadata and raw",
            made(plan(session={"metadata": {"k": 1}, "raw": True}), parent_id="above"),
            *LIFE,
            INITIALIZE,
            execute(),
            execute(),
            CLEANUP,
        ),
        life(
            "with metadata",
            made(plan(session={"metadata": {"k": [1]}})),
            *LIFE,
            INITIALIZE,
            execute(),
            CLEANUP,
        ),
        life(
            "with empty metadata",
            made(plan(session={"metadata": {}})),
            *LIFE,
            INITIALIZE,
            execute(),
            CLEANUP,
        ),
        life(
            "raw",
            made(
                {
                    **plan(session={"raw": True}),
                    "providers": [
                        {
                            "module": "provider-scripted",
                            "config": {
                                "api_key": "s3cret",
                                "nested": {"Token": "t", "x": "y" * 20},
                            },
                        }
                    ],
                }
            ),
            *LIFE,
            INITIALIZE,
            execute(),
            execute(),
            CLEANUP,
        ),
        life(
            "raw and resumed",
            made(plan(session={"raw": True}), is_resumed=True),
            *LIFE,
            INITIALIZE,
            execute(),
            execute(),
        ),
        life("a prompt that is none", made(), INITIALIZE, execute(None), execute(5), execute("")),
        life(
            "a handler that denies the start",
            made(),
            {
                "do": "register",
                "event": "session:start",
                "handler": {"name": "no", "answer": {"result": {"action": "deny"}}},
            },
            INITIALIZE,
            execute(),
        ),
        life(
            "cancelling the task that executes",
            made(plan([[{"hang": True}], []])),
            *LIFE,
            INITIALIZE,
            {"do": "in_task", "inner": execute(), "cancel_after": 100},
            execute(),
        ),
        life(
            "reset between turns",
            made(plan([[{"cancel": "request_graceful"}], []])),
            *LIFE,
            INITIALIZE,
            execute(),
            {"do": "tell", "on": "token", "method": "reset"},
            execute(),
        ),
        life(
            "a mounted loop instead of a loaded one",
            made(plan([[{"return": "the loaded one"}]])),
            INITIALIZE,
            {"do": "thing", "as_": "bare", "kind": "bare"},
            {"do": "put", "point": "orchestrator", "thing": "bare"},
            execute(),
        ),
        life(
            "no loop mounted",
            made(
                plan(),
            ),
            {
                "do": "config_set",
                "path": ["session", "orchestrator", "config"],
                "value": {"mount": {"nothing": True}},
            },
            INITIALIZE,
            execute(),
        ),
        life(
            "no context mounted",
            made(
                {
                    **plan(),
                    "session": {
                        "orchestrator": {"module": "loop-scripted"},
                        "context": {
                            "module": "context-scripted",
                            "config": {"mount": {"nothing": True}},
                        },
                    },
                }
            ),
            INITIALIZE,
            execute(),
        ),
        life("no providers", made(plan(providers=[])), *LIFE, INITIALIZE, execute()),
        life(
            "words as specs",
            made(
                {
                    "session": {"orchestrator": "loop-scripted", "context": "context-scripted"},
                    "orchestrator": {"config": {"turns": [[{"return": "configured"}]]}},
                    "providers": [{"module": "provider-scripted"}],
                }
            ),
            INITIALIZE,
            execute(),
        ),
        life(
            "sections that are missing", made({"session": plan()["session"]}), INITIALIZE, execute()
        ),
        life(
            "specs without a module",
            made(
                plan(
                    providers=[{}, {"module": "provider-scripted"}],
                    tools=[{"config": {}}],
                    hooks=[{}],
                )
            ),
            INITIALIZE,
            {"do": "to_dict"},
        ),
        life(
            "an unknown loop",
            made(plan(loop="loop-nowhere")),
            *LIFE,
            INITIALIZE,
            {"do": "read", "of": "coordinator", "name": "mount_points"},
            INITIALIZE,
        ),
        life("an unknown context", made(plan(context="context-nowhere")), *LIFE, INITIALIZE),
        life(
            "a loop that fails to mount",
            made(
                {
                    **plan(),
                    "session": {
                        "orchestrator": {"module": "loop-scripted", "config": failing},
                        "context": "context-scripted",
                    },
                }
            ),
            *LIFE,
            INITIALIZE,
            execute(),
        ),
        life(
            "a loop that fails unprintably",
            made(
                {
                    **plan(),
                    "session": {
                        "orchestrator": {
                            "module": "loop-scripted",
                            "config": {"mount": {"raise": ["UnprintableError", "x"]}},
                        },
                        "context": "context-scripted",
                    },
                }
            ),
            INITIALIZE,
        ),
        life(
            "a context that fails to mount",
            made(
                {
                    **plan(),
                    "session": {
                        "orchestrator": "loop-scripted",
                        "context": {"module": "context-scripted", "config": failing},
                    },
                }
            ),
            *LIFE,
            INITIALIZE,
        ),
        life("a loop that cannot be imported", made(plan(loop="broken-import")), *LIFE, INITIALIZE),
        life("a loop whose import fails within", made(plan(loop="broken-deep")), *LIFE, INITIALIZE),
        life("a loop without mount", made(plan(loop="broken-empty")), *LIFE, INITIALIZE),
        life(
            "clean-ups of modules",
            made(
                {
                    **plan(
                        tools=[
                            {
                                "module": "tool-scripted",
                                "config": {
                                    "mount": {"cleanup": {"name": "of the tool", "kind": "sync"}}
                                },
                            }
                        ],
                        hooks=[
                            {
                                "module": "hooks-scripted",
                                "config": {"mount": {"cleanup": {"name": "of the hooks"}}},
                            }
                        ],
                    )
                }
            ),
            *LIFE,
            INITIALIZE,
            CLEANUP,
        ),
        life(
            "what mounts return",
            made(
                {
                    **plan(
                        tools=[
                            {"module": "tool-scripted", "config": {"mount": {"returns": value}}}
                            for value in ({"info": 1}, 5, "x", None, True)
                        ]
                    )
                }
            ),
            INITIALIZE,
            CLEANUP,
        ),
        life(
            "hooks of a module",
            made(
                plan(
                    [[{"emit": ["tool:pre", {"a": 1}]}]],
                    hooks=[
                        {
                            "module": "hooks-scripted",
                            "config": {
                                "handlers": [
                                    [
                                        "tool:pre",
                                        {
                                            "name": "judge",
                                            "answer": {"result": {"action": "deny", "reason": "r"}},
                                        },
                                    ],
                                    ["session:start", {"name": "starter"}],
                                    ["session:end", {"name": "ender"}],
                                ]
                            },
                        }
                    ],
                )
            ),
            INITIALIZE,
            execute(),
            CLEANUP,
        ),
        *[
            life(
                f"tools that fail: {module}",
                made(
                    plan(
                        tools=[
                            {
                                "module": module,
                                "config": failing if module == "tool-scripted" else {},
                            },
                            {"module": "tool-ready"},
                        ]
                    )
                ),
                *LIFE,
                INITIALIZE,
                {"do": "to_dict"},
                execute(),
            )
            for module in (
                "tool-scripted",
                "broken-import",
                "broken-deep",
                "broken-value",
                "broken-empty",
                "broken-one",
                "broken-sync",
                "tool-nowhere",
            )
        ],
        *[
            life(
                f"hooks that fail: {module}",
                made(plan(hooks=[{"module": module, "config": failing}])),
                *LIFE,
                INITIALIZE,
            )
            for module in ("hooks-scripted", "hooks-nowhere", "broken-value")
        ],
        life(
            "load failures seen by hooks that load later",
            made(
                plan(
                    tools=[{"module": "tool-nowhere"}],
                    hooks=[
                        {
                            "module": "hooks-scripted",
                            "config": {"handlers": [["module:load_failed", {"name": "late"}]]},
                        }
                    ],
                )
            ),
            INITIALIZE,
        ),
        life(
            "ready in order",
            made(
                plan(
                    loop="loop-ready",
                    providers=[{"module": "provider-ready"}],
                    tools=[
                        {"module": "tool-ready"},
                        {"module": "tool-unready"},
                        {"module": "tool-ready-sync"},
                    ],
                    hooks=[{"module": "hooks-ready"}],
                ),
                parent_id="above",
            ),
            *LIFE,
            INITIALIZE,
        ),
        *[
            life(
                f"providers: {name}",
                made(plan(providers=specs)),
                *LIFE,
                INITIALIZE,
                {"do": "get", "point": "providers"},
                {"do": "to_dict"},
                execute(),
            )
            for name, specs in PROVIDERS.items()
        ],
        life(
            "capabilities around providers",
            made(
                plan(
                    providers=[
                        {"module": "provider-scripted"},
                        {"module": "provider-nowhere", "config": {"x": 1}},
                    ]
                )
            ),
            {"do": "load_failure_capability", "name": "provider.before_load"},
            {"do": "load_failure_capability", "name": "provider.load_failure"},
            INITIALIZE,
        ),
        life(
            "capabilities around providers that fail",
            made(plan(providers=[{"module": "provider-nowhere"}])),
            {
                "do": "load_failure_capability",
                "name": "provider.load_failure",
                "raises": ["ValueError", "abort"],
            },
            INITIALIZE,
        ),
        life(
            "a capability before a provider that fails",
            made(),
            {
                "do": "load_failure_capability",
                "name": "provider.before_load",
                "raises": ["ValueError", "not this one"],
            },
            *LIFE,
            INITIALIZE,
            {"do": "get", "point": "providers"},
        ),
        life(
            "config that changes",
            made(),
            {"do": "config_set", "path": ["session", "injection_size_limit"], "value": 5},
            {"do": "read", "of": "coordinator", "name": "injection_size_limit"},
            {"do": "same", "of": "session", "name": "config", "as_": ["coordinator", "config"]},
        ),
        life(
            "a loader given to the constructor",
            {"do": "loader", "as_": "own loader"},
            made(loader="own loader"),
            INITIALIZE,
            {"do": "same", "of": "coordinator", "name": "loader", "as_": ["own loader"]},
        ),
        life(
            "a loader given to the coordinator",
            {"do": "loader", "as_": "own loader"},
            made(),
            {"do": "set_loader", "loader": "own loader"},
            INITIALIZE,
            {"do": "same", "of": "coordinator", "name": "loader", "as_": ["own loader"]},
        ),
        life(
            "the session of the coordinator",
            made(),
            {"do": "read", "of": "coordinator", "name": "session.session_id"},
            INITIALIZE,
            {"do": "same", "of": "coordinator", "name": "session", "as_": ["session"]},
        ),
        life(
            "systems",
            {"do": "thing", "as_": "approvals", "kind": "approvals"},
            {"do": "thing", "as_": "display", "kind": "display"},
            made(approval="approvals", display="display"),
            {"do": "read", "of": "coordinator", "name": "approval_system"},
            {"do": "read", "of": "coordinator", "name": "display_system"},
            {"do": "to_dict"},
        ),
        life(
            "a module found by a resolver",
            made(plan(tools=[{"module": "tool-good", "source": "somewhere"}])),
            {
                "do": "resolver",
                "as_": "resolver",
                "modules": {"tool-good": "modules/amplifier-module-tool-good"},
            },
            {"do": "mount", "point": "module-source-resolver", "thing": "resolver"},
            *LIFE,
            INITIALIZE,
            {"do": "to_dict"},
            {"do": "on_search_path"},
            CLEANUP,
            {"do": "on_search_path"},
        ),
        life(
            "a child of a session",
            made(prefix="parent "),
            {
                "do": "session",
                "config": plan([[{"return": "the child's"}]]),
                "as_": "child",
                "prefix": "child ",
                "flavour": flavour,
                "session_id": "s-2",
                "parent_id": "s-1",
            },
            {
                "do": "relate",
                "on": "parent token",
                "method": "register_child",
                "child": "child token",
            },
            *see("session:fork", "session:start", "cancel:completed", on="child hooks"),
            {"do": "initialize", "on": "child"},
            {"do": "tell", "on": "parent token", "method": "request_immediate"},
            execute(on="child"),
        ),
    ]
    return lives


PROVIDERS: dict[str, list[Any]] = {
    "two names": [
        {"module": "provider-scripted", "config": {"name": "one"}},
        {"module": "provider-other", "config": {"name": "two"}},
    ],
    "one that fails": [
        {"module": "provider-scripted", "config": {"mount": {"raise": ["ValueError", "no"]}}},
        {"module": "provider-other", "config": {"name": "two"}},
    ],
    "one that fails late": [
        {"module": "provider-other", "config": {"name": "first"}},
        {"module": "provider-scripted", "config": {"fails_late": ["ValueError", "late"]}},
    ],
    "one that fails late over another": [
        {"module": "provider-other", "config": {"name": "scripted"}},
        {"module": "provider-scripted", "config": {"fails_late": ["ValueError", "late"]}},
    ],
    "one that mounts nothing": [
        {"module": "provider-scripted", "config": {"mount": {"nothing": True}}}
    ],
    "one unknown": [{"module": "provider-nowhere"}],
    "one twice without instance_id": [
        {"module": "provider-scripted"},
        {"module": "provider-scripted"},
    ],
    "one twice with instance_id": [
        {"module": "provider-scripted"},
        {"module": "provider-scripted", "instance_id": "second"},
    ],
    "all with instance_id": [
        {"module": "provider-scripted", "instance_id": "a"},
        {"module": "provider-scripted", "instance_id": "b"},
    ],
    "instance_id and failure": [
        {"module": "provider-scripted"},
        {
            "module": "provider-scripted",
            "instance_id": "b",
            "config": {"mount": {"raise": ["ValueError", "no"]}},
        },
    ],
    "instance_id and another name": [
        {"module": "provider-scripted", "instance_id": "b", "config": {"name": "elsewhere"}}
    ],
}


def programs(random: Random) -> list[Step]:
    made = [*of_constructors("top"), *of_turns(), *of_lives("top")]
    in_python = (*of_constructors("python"), *of_lives("python"))
    made.extend({**given, **PYTHON} for given in in_python)
    made.append(
        program(
            "python configs are merged",
            session(flavour="python"),
            {
                "do": "merge_configs",
                "base": {"a": {"b": 1, "c": [1]}, "d": 1},
                "overlay": {"a": {"c": [2], "e": 3}, "d": {"f": 1}},
            },
            **PYTHON,
        )
    )
    made.append(
        program(
            "the text of exceptions",
            *[
                {"do": "session_init", "function": "_safe_exception_str", "raised": raised}
                for raised in (["ValueError", "x"], ["KeyError", "k"], ["UnprintableError", "x"])
            ],
        )
    )
    names = ["session:start", "session:end", "prompt:submit"]
    for number in range(8):
        turns = [random.choice(list(TURNS.values()))[0] for _ in range(4)]
        made.append(
            program(
                f"turns {number}",
                session(plan(turns), session_id="s-1"),
                *see(*random.sample(names, 2), "cancel:completed"),
                INITIALIZE,
                *[
                    random.choice(
                        [
                            execute(f"p{n}"),
                            execute(f"p{n}"),
                            {"do": "tell", "on": "token", "method": "reset"},
                        ]
                    )
                    for n in range(6)
                ],
                CLEANUP,
            )
        )
    return made
