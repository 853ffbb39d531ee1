"""Programs over sessions: construction, turns, cancellation, resume, fork and clean-up."""

from __future__ import annotations

from random import Random
from typing import Any

from session_loading import of_loading
from session_plans import (
    CLEANUP,
    INITIALIZE,
    LIFE,
    PYTHON,
    Flavour,
    Step,
    clean,
    execute,
    plan,
    program,
    see,
    session,
)


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


def of_lives(flavour: Flavour) -> list[Step]:
    """From the constructor to the end, turns and clean-up between."""
    life, made = flavour.life, flavour.session
    return [
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
    ]


def programs(random: Random) -> list[Step]:
    top, python = Flavour("top"), Flavour("python")
    made = [*of_constructors("top"), *of_turns(), *of_lives(top), *of_loading(top)]
    in_python = (*of_constructors("python"), *of_lives(python), *of_loading(python))
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
