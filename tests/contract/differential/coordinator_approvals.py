"""Programs over questions to the user."""

from __future__ import annotations

from typing import Any

from coordinator_parts import Step, process, program


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
