"""Programs over what sessions load: plans, modules that fail, providers, ready functions."""

from __future__ import annotations

from typing import Any

from session_plans import CLEANUP, INITIALIZE, LIFE, Flavour, Step, execute, plan, see

FAILING: Step = {"mount": {"raise": ["ValueError", "no"]}}

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


def of_loading(flavour: Flavour) -> list[Step]:
    """What is mounted, in which order, and what becomes of failures."""
    life, made = flavour.life, flavour.session
    return [
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
                        "orchestrator": {"module": "loop-scripted", "config": FAILING},
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
                        "context": {"module": "context-scripted", "config": FAILING},
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
                                "config": FAILING if module == "tool-scripted" else {},
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
                made(plan(hooks=[{"module": module, "config": FAILING}])),
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
                "flavour": flavour.name,
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
