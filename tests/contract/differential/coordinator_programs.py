"""Programs over coordinators: mounts, capabilities, contributions, clean-up and hook results."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

POINTS = ["orchestrator", "context", "providers", "tools", "module-source-resolver"]
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


def of_mounts(random: Random, count: int) -> list[Step]:
    made = [
        program(
            "what cannot be mounted",
            *[
                mount("nowhere", "anna"),
                mount("hooks", "anna"),
                mount("tools", "nameless"),
                mount("providers", "bare"),
            ],
            *[
                mount("tools", "numbered"),
                mount("tools", "unnamed"),
                mount("tools", "nothing"),
                mount("tools", "anna", name=""),
            ],
            *[mount("tools", "anna", name=5), mount(5, "anna"), mount(None, "anna")],
            {"do": "unmount", "point": "nowhere"},
            {"do": "unmount", "point": "tools"},
            {"do": "unmount", "point": "providers", "name": "nobody"},
            {"do": "unmount", "point": "hooks"},
            {"do": "get", "point": "nowhere"},
            {"do": "get", "point": 5},
            {"do": "get", "point": "hooks"},
            read("mount_points"),
        ),
        program(
            "mounting acts at once",
            mount("tools", "anna", awaits=False),
            mount("context", "bare", awaits=False),
        ),
        program(
            "slots are live",
            mount("tools", "anna"),
            {
                "do": "same",
                "of": "coordinator",
                "name": "hooks",
                "as_": ["coordinator", "mount_points", "hooks"],
            },
            {"do": "put", "point": "tools", "name": "x", "thing": "ben"},
            {"do": "put", "point": "orchestrator", "thing": "bare"},
            {"do": "get", "point": "tools"},
            {"do": "get", "point": "orchestrator"},
            {"do": "replace_slot", "point": "providers", "things": {"p": "ben"}},
            {"do": "get", "point": "providers"},
            {"do": "get", "point": "providers", "name": "p"},
            {"do": "to_dict"},
        ),
        program(
            "at first",
            read("mount_points"),
            read("session_id"),
            read("parent_id"),
            read("config"),
            read("channels"),
            read("session_state"),
            read("loader"),
            read("approval_system"),
            read("display_system"),
            read("_current_turn_injections"),
            read("injection_size_limit"),
            read("injection_budget_per_turn"),
            {"do": "to_dict"},
            {"do": "get", "point": "tools"},
        ),
        program(
            "without a session",
            read("session"),
            read("session_id"),
            read("parent_id"),
            read("config"),
            read("injection_size_limit"),
            {"do": "process_hook_result", "action": "inject_context", "context_injection": "hello"},
            {"do": "to_dict"},
            coordinator={"do": "coordinator", "without_session": True},
        ),
        program(
            "with systems from the constructor",
            {"do": "to_dict"},
            read("approval_system"),
            {"do": "write", "of": "coordinator", "name": "approval_system"},
            {"do": "to_dict"},
            {"do": "write", "of": "coordinator", "name": "display_system", "thing": "ben"},
            {"do": "to_dict"},
            coordinator={"do": "coordinator", "approval": "anna", "display": "ben"},
        ),
        program(
            "with systems set later",
            {"do": "write", "of": "coordinator", "name": "approval_system", "thing": "anna"},
            {"do": "write", "of": "coordinator", "name": "display_system", "thing": "ben"},
            {"do": "to_dict"},
            {"do": "write", "of": "coordinator", "name": "approval_system"},
            {"do": "to_dict"},
        ),
        program(
            "what cannot be set",
            *[
                {"do": "write", "of": "coordinator", "name": name, "value": 5}
                for name in (
                    "session_id",
                    "parent_id",
                    "session",
                    "hooks",
                    "cancellation",
                    "config",
                    "channels",
                    "injection_size_limit",
                )
            ],
        ),
        program(
            "what can be set",
            *[
                {"do": "write", "of": "coordinator", "name": name, "value": {"x": 1}}
                for name in (
                    "session_state",
                    "loader",
                    "display_system",
                    "_tool_dispatch_context",
                    "colour",
                )
            ],
            read("session_state"),
            read("loader"),
            read("_tool_dispatch_context"),
            {"do": "write", "of": "coordinator", "name": "_current_turn_injections", "value": 7},
            read("_current_turn_injections"),
            {"do": "reset_turn"},
            read("_current_turn_injections"),
            {
                "do": "write",
                "of": "coordinator",
                "name": "_current_turn_injections",
                "value": "many",
            },
        ),
        program(
            "limits",
            read("injection_size_limit"),
            read("injection_budget_per_turn"),
            {"do": "same", "of": "coordinator", "name": "config", "as_": ["config"]},
            coordinator={
                "do": "coordinator",
                "config": {"session": {"injection_size_limit": 9, "injection_budget_per_turn": 4}},
            },
        ),
        program(
            "capabilities",
            {"do": "register_capability", "name": "a", "value": [1]},
            {"do": "register_capability", "name": "a", "value": {"later": True}},
            {"do": "register_capability", "name": "none", "value": None},
            {"do": "register_capability", "name": 5, "value": 1},
            {"do": "get_capability", "name": "a"},
            {"do": "get_capability", "name": "none"},
            {"do": "get_capability", "name": "unknown"},
            {"do": "to_dict"},
        ),
        program(
            "cancelling",
            {"do": "request_cancel"},
            {"do": "stands", "on": "token"},
            {"do": "request_cancel", "immediate": True},
            {"do": "stands", "on": "token"},
            {"do": "request_cancel", "immediate": "yes"},
        ),
        program(
            "cancelling is not announced",
            {"do": "register", "event": "cancel:requested", "handler": {"name": "see"}},
            {"do": "on_cancel", "on": "token", "callback": {"name": "c"}},
            {"do": "request_cancel"},
        ),
    ]
    for number in range(count):
        steps: list[Step] = []
        for _ in range(random.randint(6, 14)):
            point = random.choice(POINTS)
            name = random.choice(["anna", "x", None, None])
            names = {} if name is None else {"name": name}
            choice = random.random()
            if choice < 0.5:
                thing = random.choice(["anna", "ben", "nameless", "bare"])
                steps.append(mount(point, thing, **names))
            elif choice < 0.7:
                steps.append({"do": "unmount", "point": point, **names})
            else:
                steps.append({"do": "get", "point": point, **names})
        made.append(program(f"mounts {number}", *steps, read("mount_points"), {"do": "to_dict"}))
    return made


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


def process(**fields: Any) -> Step:
    return {"do": "process_hook_result", **fields}


def of_results() -> list[Step]:
    context = ({"do": "thing", "as_": "memory", "kind": "context"},)
    mounted = mount("context", "memory")
    limit = {
        "do": "coordinator",
        "config": {"session": {"injection_size_limit": 10, "injection_budget_per_turn": 3}},
    }
    inject: Step = {"action": "inject_context", "context_injection": "look"}

    def results(name: str, *steps: Step, **more: Any) -> Step:
        return program(f"results: {name}", mounted, *steps, before=context, **more)

    made = [
        results(
            "plain ones",
            process(),
            process(action="deny", reason="r"),
            process(action="modify", data={"x": 1}),
            process(action="modify"),
            process(as_dict=True, action="continue"),
        ),
        results(
            "an injection",
            process(**inject),
            process(**inject, hook_name="me", event="tool:post"),
            read("_current_turn_injections"),
        ),
        results(
            "an injection as a user",
            process(
                **inject,
                context_injection_role="user",
                reason="why",
                data={"x": 1},
                suppress_output=True,
                approval_prompt="p",
                append_to_last_tool_result=True,
            ),
            process(action="inject_context", ephemeral=True),
        ),
        results(
            "an ephemeral injection",
            process(**inject, ephemeral=True, append_to_last_tool_result=True),
            read("_current_turn_injections"),
        ),
        results(
            "an empty injection",
            process(action="inject_context", context_injection=""),
            process(action="inject_context"),
            process(action="inject_context", context_injections=[]),
        ),
        results(
            "several injections",
            process(
                action="inject_context",
                context_injection="ignored",
                reason="kept",
                context_injections=[
                    {"content": "one two three", "role": "user", "hook_name": "h1", "event": "e1"},
                    {
                        "content": "four",
                        "ephemeral": True,
                        "hook_name": "h2",
                        "event": "e2",
                        "role": "assistant",
                    },
                    {"content": "", "hook_name": "h3"},
                    {"content": "five", "ephemeral": True, "append_to_last_tool_result": True},
                ],
            ),
            read("_current_turn_injections"),
        ),
        results(
            "unclean text",
            process(action="inject_context", context_injection="a\u0000b\u0007\nc\u009f\td"),
            process(action="inject_context", context_injection={"$": ["surrogate"]}),
        ),
        results(
            "injections without content",
            process(action="inject_context", context_injections=[{"content": ""}]),
        ),
        results(
            "too long",
            process(action="inject_context", context_injection="x" * 10),
            process(action="inject_context", context_injection="x" * 11),
            process(action="inject_context", context_injection="\u0000" * 11),
            process(action="inject_context", context_injection="é" * 10),
            process(
                action="inject_context",
                context_injections=[{"content": "short"}, {"content": "x" * 11}],
            ),
            read("_current_turn_injections"),
            process(action="inject_context", context_injection="x" * 11, ephemeral=True),
            coordinator=limit,
        ),
        results(
            "over the budget",
            process(**inject),
            process(**inject),
            process(**inject),
            process(**inject),
            read("_current_turn_injections"),
            {"do": "reset_turn"},
            process(**inject),
            coordinator=limit,
        ),
        program(
            "results: without a context",
            process(**inject),
            process(action="inject_context", context_injection="x" * 11),
            read("_current_turn_injections"),
            coordinator=limit,
        ),
        program(
            "results: a context that cannot be added to",
            mount("context", "bare"),
            process(**inject),
        ),
        program(
            "results: a context that fails",
            mounted,
            process(**inject),
            read("_current_turn_injections"),
            before=(
                {
                    "do": "thing",
                    "as_": "memory",
                    "kind": "context",
                    "raise": ["ValueError", "full"],
                },
            ),
        ),
        program(
            "results: a plain context",
            mounted,
            process(**inject),
            before=({"do": "thing", "as_": "memory", "kind": "context", "sync": True},),
        ),
        results(
            "limits that change",
            {
                "do": "config_set",
                "on": "stand-in",
                "path": ["session", "injection_size_limit"],
                "value": 2,
            },
            process(**inject),
            read("injection_size_limit"),
            coordinator=limit,
        ),
        *[
            results(
                f"a limit of {value}",
                process(**inject),
                read("injection_size_limit"),
                coordinator={
                    "do": "coordinator",
                    "config": {
                        "session": {
                            "injection_size_limit": value,
                            "injection_budget_per_turn": value,
                        }
                    },
                },
            )
            for value in (0, None)
        ],
    ]
    messages = [
        process(user_message="hello"),
        process(user_message=""),
        process(user_message="careful", user_message_level="warning", hook_name="me"),
        process(user_message="of another", user_message_source="other"),
        process(action="deny", reason="r", user_message="denied"),
        process(action="modify", data={}, user_message="modified", suppress_output=True),
        process(**inject, user_message="injected"),
        process(action="ask_user", user_message="unseen"),
    ]
    for name, display in (
        ("display", {}),
        ("failing display", {"raise": ["ValueError", "x"]}),
        ("async display", {"async": True}),
        ("failing async display", {"async": True, "raise": ["ValueError", "x"]}),
    ):
        made.append(
            program(
                f"results: a {name}",
                *messages,
                before=({"do": "thing", "as_": "display", "kind": "display", **display},),
                coordinator={"do": "coordinator", "display": "display"},
            )
        )
    made.append(program("results: no display", *messages))
    return made


def of_approvals() -> list[Step]:
    asks = [
        process(action="ask_user"),
        process(
            action="ask_user",
            approval_prompt="may I?",
            approval_timeout=7,
            approval_default="allow",
        ),
        process(
            action="ask_user",
            approval_prompt="x" * 250,
            approval_options=["Allow", "Deny", "Later"],
        ),
        process(action="ask_user", approval_prompt="", approval_options=[]),
        process(action="ask_user", reason="kept?", data={"x": 1}, user_message="m"),
    ]

    def approvals(name: str, *steps: Step, **spec: Any) -> Step:
        return program(
            f"approvals: {name}",
            *(steps or asks),
            before=({"do": "thing", "as_": "approvals", "kind": "approvals", **spec},),
            coordinator={"do": "coordinator", "approval": "approvals"},
        )

    custom = process(action="ask_user", approval_prompt="go?", approval_options=["Yes", "No"])
    return [
        program("approvals: nobody to ask", *asks),
        *[
            approvals(f"{says}", says=says)
            for says in ("Allow", "allow once", "ALLOW ALWAYS", "Deny", "Allow  ", "perhaps", "")
        ],
        *[approvals(f"a decision that is {says}", says=says) for says in (None, True, 5)],
        *[
            approvals(f"the custom option {says}", custom, says=says)
            for says in ("Yes", "No", "yes", "Allow", "Deny", "Other")
        ],
        approvals("asked plainly", says="Allow", sync=True),
        approvals("a timeout", **{"raise": ["ApprovalTimeoutError", "late"]}),
        approvals(
            "a builtin timeout", process(action="ask_user"), **{"raise": ["TimeoutError", "late"]}
        ),
        approvals(
            "an error",
            process(action="ask_user"),
            process(action="ask_user", approval_default="allow"),
            **{"raise": ["ValueError", "broken"]},
        ),
        approvals(
            "a cancellation",
            {"do": "in_task", "inner": process(action="ask_user")},
            **{"raise": ["CancelledError", "gone"]},
        ),
        approvals(
            "never answered",
            {
                "do": "in_task",
                "inner": process(action="ask_user", approval_timeout=0.01, approval_prompt="go?"),
                "cancel_after": 2500,
            },
            hangs=True,
        ),
    ]


def of_random_results(random: Random, count: int) -> list[Step]:
    """Results with fields at random, limits and systems at random."""
    choices: dict[str, list[Any]] = {
        "action": ["continue", "deny", "modify", "inject_context", "inject_context", "ask_user"],
        "data": [None, {}, {"x": [1]}],
        "reason": [None, "why"],
        "context_injection": [None, "look here", "a\tb", "x" * 30],
        "context_injection_role": ["system", "user", "assistant"],
        "ephemeral": [False, True],
        "approval_prompt": [None, "may I?"],
        "approval_options": [None, ["Allow", "Deny"]],
        "approval_timeout": [300.0, 1.5],
        "approval_default": ["allow", "deny"],
        "suppress_output": [False, True],
        "user_message": [None, "hello"],
        "user_message_level": ["info", "warning", "error"],
        "user_message_source": [None, "elsewhere"],
        "append_to_last_tool_result": [False, True],
    }
    made = []
    for number in range(count):
        steps = [mount("context", "memory")] if random.random() < 0.8 else []
        for _ in range(8):
            fields = {
                name: random.choice(values)
                for name, values in choices.items()
                if name == "action" or random.random() < 0.5
            }
            # What stays of an injection that was written, or was none, has a program of its own.
            remains = fields.get("ephemeral") and fields.get("context_injection")
            if fields["action"] == "inject_context" and not remains:
                for name in ("context_injection_role", "ephemeral", "append_to_last_tool_result"):
                    fields.pop(name, None)
            steps.append(process(**fields, hook_name=random.choice(["me", "you"])))
        limits = random.choice([{}, {"injection_size_limit": 12, "injection_budget_per_turn": 5}])
        made.append(
            program(
                f"results {number}",
                *steps,
                read("_current_turn_injections"),
                before=(
                    {"do": "thing", "as_": "memory", "kind": "context"},
                    {"do": "thing", "as_": "display", "kind": "display"},
                    {
                        "do": "thing",
                        "as_": "approvals",
                        "kind": "approvals",
                        "says": random.choice(["Allow", "Deny"]),
                    },
                ),
                coordinator={
                    "do": "coordinator",
                    "approval": "approvals",
                    "display": "display",
                    "config": {"session": limits},
                },
            )
        )
    return made


def programs(random: Random) -> list[Step]:
    return [
        *of_mounts(random, 15),
        *of_callables(),
        *of_results(),
        *of_approvals(),
        *of_random_results(random, 20),
    ]
