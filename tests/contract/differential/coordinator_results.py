"""Programs over what hook results do to the context and the display."""

from __future__ import annotations

from random import Random
from typing import Any

from coordinator_parts import Step, mount, process, program, read


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


def random_item(random: Random) -> dict[str, Any]:
    """An injection of a list, with some of its fields."""
    choices: dict[str, list[Any]] = {
        "content": ["look here", "abcd", "a\tb\r\n", "", "\u0007", "\u0000x\u009f", "x" * 13],
        "role": ["system", "user", "assistant"],
        "ephemeral": [False, True],
        "append_to_last_tool_result": [False, True],
        "hook_name": ["me", "unknown", ""],
        "event": ["tool:pre", ""],
    }
    return {
        name: random.choice(values)
        for name, values in choices.items()
        if name == "content" or random.random() < 0.5
    }


def of_random_results(random: Random, count: int) -> list[Step]:
    """Results with fields at random, limits and systems at random."""
    choices: dict[str, list[Any]] = {
        "action": ["continue", "deny", "modify", "inject_context", "inject_context", "ask_user"],
        "data": [None, {}, {"x": [1]}],
        "reason": [None, "why"],
        "context_injection": [None, "look here", "a\tb", "x" * 30, "", "\u0000"],
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
            if random.random() < 0.3:
                fields["context_injections"] = [
                    random_item(random) for _ in range(random.randint(0, 4))
                ]
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
