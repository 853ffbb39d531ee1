"""Programs over what handlers answer: each answer alone, and chains of them at random."""

from __future__ import annotations

from random import Random
from typing import Any

from hook_parts import EVENTS, KINDS, Step, emit, handler, program, register
from hook_payloads import PAYLOADS

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
    "dict that injects": {
        "return": {
            "action": "inject_context",
            "context_injections": [{"content": "of a dict", "ephemeral": True}],
            "data": {"x": 1},
        }
    },
    "dict that asks": {"return": {"action": "ask_user", "approval_prompt": "may I?"}},
    "empty dict": {"return": {}},
    "empty text": {"return": ""},
    "zero": {"return": 0},
    "namespace": {"return": {"$": ["dataclass"]}},
    "bad action with data": {"return": {"action": "explode", "data": {"x": 1}}},
    "bad reason with data": {"return": {"reason": 5, "data": {"x": 1}}},
    "bad role": {"return": {"action": "inject_context", "context_injection_role": "tool"}},
    "bad level": {"return": {"user_message": "m", "user_message_level": "loud"}},
    "bad timeout": {"return": {"action": "ask_user", "approval_timeout": "soon"}},
    "bad options": {"return": {"action": "ask_user", "approval_options": "Allow"}},
    "bad list": {"return": {"action": "inject_context", "context_injections": [{"content": 5}]}},
    "bad item": {"return": {"action": "inject_context", "context_injections": ["text"]}},
    "list for data": {"return": {"data": [1]}},
    "unknown action": {"unvalidated": {"action": "explode", "data": {"x": 1}}},
    "bad action": {"return": {"action": "explode"}},
    "bad field": {"return": {"action": "continue", "ephemeral": "perhaps"}},
    "bad data": {"return": {"action": "modify", "data": 5}},
    "raise": {"raise": ["ValueError", "broken"]},
    "raise runtime": {"raise": ["RuntimeError", "broken"]},
    "raise stop": {"raise": ["StopAsyncIteration", "stop"]},
    "raise cancelled": {"raise": ["CancelledError", "gone"]},
}


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
