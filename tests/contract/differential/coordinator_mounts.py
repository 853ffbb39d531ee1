"""Programs over slots and what is mounted on them."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator_parts import Step, mount, program, read

POINTS = ["orchestrator", "context", "providers", "tools", "module-source-resolver"]


def of_bad_names() -> list[Step]:
    """Names that are no text, on every kind of slot."""
    names: dict[str, Any] = {
        "number": 5,
        "boolean": True,
        "bytes": {"$": ["bytes"]},
        "tuple": {"$": ["tuple", "a"]},
    }
    return [
        program(
            f"a {kind} for a name on {point}",
            mount(point, "anna", name=name),
            {"do": "get", "point": point, "name": name},
            {"do": "unmount", "point": point, "name": name},
            read("mount_points"),
        )
        for kind, name in names.items()
        for point in ("tools", "providers", "context", "hooks")
    ] + [
        program(
            f"session state that is {kind}",
            {"do": "write", "of": "coordinator", "name": "session_state", "value": value},
            read("session_state"),
        )
        for kind, value in {"a dict": {"k": 1}, "none": None, "a list": [], "a text": "x"}.items()
    ]


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
    made += of_bad_names()
    for number in range(count):
        steps: list[Step] = []
        for _ in range(random.randint(6, 14)):
            point = random.choice(POINTS)
            name = random.choice(["anna", "x", None, None, 5])
            names = {} if name is None else {"name": name}
            choice = random.random()
            if choice < 0.5:
                thing = random.choice(["anna", "ben", "nameless", "bare", "numbered", "unnamed"])
                steps.append(mount(point, thing, **names))
            elif choice < 0.7:
                steps.append({"do": "unmount", "point": point, **names})
            else:
                steps.append({"do": "get", "point": point, **names})
        made.append(program(f"mounts {number}", *steps, read("mount_points"), {"do": "to_dict"}))
    return made
