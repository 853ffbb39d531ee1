"""What a stored session knows: its conversation, and what was under way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events

from ..contexts import history_events, kept_view
from ..contexts.open_calls import OpenCalls, find_open_calls
from ..loops import stored_turn
from ..loops.boundary import call_context
from ..loops.goal import kept_goal
from ..loops.stored_turn import StoredTurn
from ..loops.turn_report import AWAITING_APPROVAL
from ..running.kept_state import STATE
from ..spawn.task import TASK_START
from ..spending import kept_spending
from .store import StoredEvent

Message = dict[str, Any]

PUT_ASIDE = "context:put_aside"
"""The kind of the row of a text that was put aside; it comes before its message."""


@dataclass(slots=True)
class StoredHistory:
    """A session as its events tell it."""

    messages: list[Message] = field(default_factory=list[Message])
    """The conversation."""
    texts: list[str] = field(default_factory=list[str])
    """The texts that were put aside, as they are too long for a conversation."""
    number: int = 0
    """The `number` of the last event of the conversation."""
    started: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """What `tool:start` said of the calls whose results are not in the conversation, by their ids."""
    results: dict[str, Message] = field(default_factory=dict[str, Message])
    """The messages of those of them that have ended, by their ids."""
    prompt: str | None = None
    """What the turn began with that has not ended; None where all have."""
    turn_began: int = 0
    """The number of the event that the last turn began with; 0 without one."""
    fruitless: int = 0
    """How often the turn was gone on with since anything of it had a result."""
    is_put_off: bool = False
    """Whether the turn that has not ended waits for the answer of a person."""
    turn: StoredTurn = field(default_factory=StoredTurn)
    """The last turn."""
    states: dict[str, Any] = field(default_factory=dict[str, Any])
    """The states of the modules, by their kinds."""
    questions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The questions about calls that have not started, by the ids of the calls."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The answers to them that were used, by the ids of the questions."""
    tasks: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=dict[str, dict[str, dict[str, Any]]]
    )
    """The sub-agents that calls without a result wait for, by the ids of the calls, and those of
    their own sessions, in their order."""
    steps: dict[str, Any] = field(default_factory=dict[str, Any])
    """How far calls are that have no result, by their ids."""
    ending: dict[str, Any] | None = None
    """What `orchestrator:complete` said of the last turn; None of one that has not ended."""
    shared_spending: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """What the turns have used that draw on the shared budget of the session, by their ids."""

    def forget_questions(self) -> None:
        """Forget what people were asked, and who asked, as the turn is over."""
        self.questions.clear()
        self.answers.clear()
        self.tasks.clear()
        self.steps.clear()

    def take_turn(self) -> StoredTurn:
        """Return the last turn; an empty one the next time."""
        turn, self.turn = self.turn, StoredTurn()
        turn.spent = self.states.get(kept_spending.SPENDING)
        turn.errors = self.states.get(stored_turn.ERRORS)
        self.states, self.shared_spending = {}, {}
        return turn

    def take_open_calls(self) -> OpenCalls:
        """Return the calls that have no result in the conversation; none the next time."""
        calls = find_open_calls(self.messages, self.started, self.results)
        self.messages, self.texts, self.started, self.results = [], [], {}, {}
        return calls


def read_history(stored: Iterable[StoredEvent]) -> StoredHistory:
    """Return what the events of a session amount to, all of them or the first ones."""
    history = StoredHistory()
    for event in stored:
        body = event.body
        match event.kind:
            case history_events.CONTEXT_MESSAGE:
                message = body["message"]
                history.messages.insert(body["index"], message)
                history.number = body["number"]
                history.turn.add_message(body.get("source"), message)
                if message.get("role") == "tool":
                    # Ids are those of an answer: a later one may have the same again.
                    history.started.pop(message.get("tool_call_id"), None)
                    history.results.pop(message.get("tool_call_id"), None)
                    history.questions.pop(message.get("tool_call_id"), None)
                    history.tasks.pop(message.get("tool_call_id"), None)
                    history.steps.pop(message.get("tool_call_id"), None)
            case history_events.CONTEXT_REPLACED:
                history.messages.clear()
                history.number = body["number"]
                history.states.pop(kept_view.VIEW, None)
                if not body["count"]:
                    history.texts.clear()
            case kind if kind == PUT_ASIDE:
                history.texts.append(body)
            case call_context.TOOL_START:
                history.started[body["tool_call_id"]] = body
                if not body.get("goes_on"):
                    history.questions.pop(body["tool_call_id"], None)
            case kind if kind == TASK_START:
                of_call = history.tasks.setdefault(body["tool_call_id"], {})
                of_call[body["child_session_id"]] = body
            case call_context.TOOL_STEP:
                history.steps[body["tool_call_id"]] = body["step"]
                history.questions.pop(body["tool_call_id"], None)
            case call_context.TOOL_RESULT:
                history.fruitless = 0
                history.results[body["tool_call_id"]] = body["message"]
                history.questions.pop(body["tool_call_id"], None)
                history.tasks.pop(body["tool_call_id"], None)
                history.steps.pop(body["tool_call_id"], None)
                history.turn.results[body["tool_call_id"]] = body["message"]
            case events.LLM_POST:
                history.fruitless = 0
                history.turn.count_answer(body)
            case kept_goal.ROUND:
                history.turn.add_round(body)
            case kind if kind.startswith(STATE):
                history.states[kind] = body
                if kind == kept_goal.GOAL and body is not None:
                    history.turn.goal = body["goal"] or history.turn.goal
                elif kind == kept_spending.SPENDING and body is not None and body["is_shared"]:
                    history.shared_spending[body["turn"]] = body
            case events.APPROVAL_REQUIRED:
                history.questions[body["tool_call_id"]] = body
            case events.APPROVAL_GRANTED | events.APPROVAL_DENIED:
                history.answers[body["question_id"]] = body
            case events.EXECUTION_START:
                history.prompt, history.ending = str(body["prompt"]), None
                history.is_put_off = False
                history.fruitless = history.fruitless + 1 if body.get("goes_on") else 0
                if not body.get("goes_on"):
                    history.turn_began = event.number
                    history.forget_questions()
                    goal = history.states.get(kept_goal.GOAL)
                    history.turn = StoredTurn(goal=None if goal is None else goal["goal"])
            case events.ORCHESTRATOR_COMPLETE if body.get("status") == AWAITING_APPROVAL:
                history.is_put_off, history.fruitless = True, 0
            case events.ORCHESTRATOR_COMPLETE:
                history.prompt, history.ending = None, body
                history.forget_questions()
            case _:
                pass
    return history
