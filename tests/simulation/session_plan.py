"""What a random session is made of, and what is done to it; all of it follows from its seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, Literal

from amplifier_modules.spending.budget import Budget

Deed = Literal["cancel", "cancel_gracefully", "cancel_task", "steer", "pause", "resume"]
"""What is done to a running turn; `cancel_task` cancels the task of asyncio that awaits it."""

DEEDS: tuple[Deed, ...] = ("cancel", "cancel_gracefully", "cancel_task", "steer", "steer", "pause")
PAUSE_SECONDS = 3.0
INSTANTS = (0.0, 0.0, 0.5, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 20.0)
"""Few of them, so that many things happen at the same one."""
HEARD = ("tool:pre", "tool:post", "tool:error", "llm:pre", "llm:post", "provider:request",
         "context:message", "task:start", "task:end", "execution:start", "execution:end",
         "content_block:start", "content_block:delta", "content_block:end", "agent:message_start",
         "agent:tool_call_start", "prompt:submit", "orchestrator:complete")  # fmt: skip
"""Events of which some have a handler that waits."""


@dataclass(frozen=True)
class TurnPlan:
    """A turn: what the user says, what it may use, and what is done to it at which second."""

    prompt: str
    budget: Budget | None
    deeds: tuple[tuple[float, Deed], ...]
    has_goal: bool
    """Whether a goal is set before it."""


@dataclass(frozen=True)
class SessionPlan:
    """A session."""

    loop: dict[str, Any]
    context: dict[str, Any]
    turns: tuple[TurnPlan, ...]
    is_shuffled: bool
    """Whether the order of callbacks is random."""
    is_tagged: bool
    """Whether the model writes its calls as tags."""
    window: int
    """Tokens that the model takes."""
    told_window: int
    """Tokens that the model is said to take."""
    fault_share: float
    """How many of the model calls fail."""
    call_share: float
    """How many of the answers have tool calls."""
    slow_events: tuple[str, ...]
    """Events with a handler that waits."""
    judges: bool
    """Whether a hook denies some calls and injects messages."""
    asks: bool
    """Whether a hook asks a person about some calls."""
    task_budget: Budget | None
    """What a task of `tool-task` may use."""
    agent_budget: Budget | None = field(default=None)
    """What the turns of the agent that is a tool may use."""


def session_plan(random: Random) -> SessionPlan:
    """Draw a session."""
    kind = random.choice(("basic", "streaming", "streaming", "tagged"))
    settings: dict[str, Any] = {"max_task_depth": random.choice((1, 2, 2))}
    if random.random() < 0.2:
        settings["max_tasks"] = random.choice((1, 2))
    if random.random() < 0.4:
        settings["max_parallel_tools"] = random.choice((1, 2))
    if random.random() < 0.3:
        settings["tool_timeout"] = random.choice((0.5, 2.0))
    if random.random() < 0.2:
        settings["max_iterations"] = random.choice((1, 2, 4))
    if random.random() < 0.3 and kind != "basic":
        settings["execute_while_streaming"] = True
    if random.random() < 0.2:
        settings["max_equal_errors"] = 2
    settings["goal_max_rounds"] = random.choice((1, 2, 3))
    settings["goal_summary"] = random.random() < 0.5
    window = random.choice((500, 1_000, 1_000, 2_000, 100_000))
    context: dict[str, Any] = {"summarize": random.random() < 0.3, "summary_tokens": 60}
    context["protected_tool_results"] = random.choice((0, 1, 5))
    if random.random() < 0.3:
        context["put_aside_bytes"] = 4_096
    return SessionPlan(
        loop={"module": f"loop-{kind}", "config": settings},
        context={"module": "context-simple", "config": context},
        turns=tuple(_turn(random, number) for number in range(random.choice((1, 1, 2, 3)))),
        is_shuffled=random.random() < 0.7,
        is_tagged=kind == "tagged",
        window=window,
        told_window=window * 2 if random.random() < 0.3 else window,
        fault_share=random.choice((0.0, 0.0, 0.1, 0.3)),
        call_share=random.choice((0.5, 0.7, 0.85)),
        slow_events=tuple(event for event in HEARD if random.random() < 0.12),
        judges=random.random() < 0.3,
        asks=random.random() < 0.25,
        task_budget=budget(random),
        agent_budget=budget(random),
    )


def budget(random: Random) -> Budget | None:
    """Draw what a turn may use; None for no limit."""
    if random.random() < 0.5:
        return None
    limits: dict[str, Any] = {
        "model_calls": random.choice((1, 2, 3, 5, 8)),
        "tool_calls": random.choice((1, 2, 4, 8)),
        "tokens": random.choice((300, 1_000, 5_000)),
        "cost": Decimal(random.choice((1, 3, 10))) / 100,
        "seconds": random.choice((0.5, 2.0, 6.0, 30.0)),
    }
    chosen = {name: limit for name, limit in limits.items() if random.random() < 0.4}
    return Budget(**{"model_calls": None, **chosen})


def _turn(random: Random, number: int) -> TurnPlan:
    count = random.choice((0, 0, 1, 1, 2, 3))
    deeds: list[tuple[float, Deed]] = []
    for _ in range(count):
        instant, deed = random.choice(INSTANTS), random.choice(DEEDS)
        deeds.append((instant, deed))
        if deed == "pause":
            deeds.append((instant + PAUSE_SECONDS, "resume"))
    said = " ".join(["word"] * random.choice((1, 5, 200)))
    has_goal = random.random() < 0.2
    return TurnPlan(f"prompt {number} {said}", budget(random), tuple(sorted(deeds)), has_goal)
