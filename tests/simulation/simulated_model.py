"""A model that answers at random: texts, calls of tools, and every fault of a service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from decimal import Decimal
from typing import Any, cast

from budgets import SpentTurn
from history_check import check_request
from pursued_goal import NOT_REACHED, REACHED
from session_plan import SessionPlan
from simulated_world import ASKING, World

from amplifier_core.llm_errors import (
    AuthenticationError,
    ContextLengthError,
    NetworkError,
    ProviderUnavailableError,
    RateLimitError,
    StreamError,
)
from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_core.models import ModelInfo
from amplifier_modules.loops.answers.response import text_of
from amplifier_modules.loops.goal.judgement import judge_prompt
from amplifier_modules.loops.model_calls import WRAP_UP
from amplifier_providers.base import Piece
from amplifier_providers.requests.token_estimate import estimate_tokens
from amplifier_providers.scripted import ScriptedProvider

WINDOW_OF_OTHERS = 1_000_000
FIRST_FAULTS = (RateLimitError, ProviderUnavailableError, AuthenticationError, NetworkError)
"""Before an answer begins."""
JUDGING = judge_prompt("", "", ())[:60]
"""How a question to the judge of a goal begins."""
CUTS = (StreamError, NetworkError)
"""In the middle of an answer."""


class SimulatedModel(ScriptedProvider):
    """Answers at random; it knows which session asks, and what that may still use."""

    name = "simulated"
    reports_cost = True

    def __init__(self, world: World, plan: SessionPlan) -> None:
        """Answer as a plan says."""
        super().__init__([self._invented], repeat=True)
        self._world = world
        self._plan = plan

    def request_budget(self, request: ChatRequest | None = None) -> int | None:
        """Return what the model is said to take."""
        return self._plan.told_window

    def get_model_info(self) -> ModelInfo | None:
        """Say nothing else of the model."""
        return None

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        """Yield an answer, or the beginning of one, or fail."""
        self.requests.clear()
        world, random = self._world, self._world.random
        is_closing = _is_closing(request)
        with world.noting():
            check_request(request)
        turn = world.begin_call(is_closing=is_closing)
        try:
            await world.pause()
            self._check_length(request)
            is_faulty = random.random() < self._plan.fault_share
            if is_faulty and random.random() < 0.5:
                raise world.will_raise(random.choice(FIRST_FAULTS)("the service failed"))
            cut_at = random.randrange(4) if is_faulty else None
            piece: Any = None
            async with aclosing(cast("Any", super().chunks(request))) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ChatResponse) or cut_at == 0:
                        break
                    cut_at = None if cut_at is None else cut_at - 1
                    if random.random() < 0.3:
                        await world.pause()
                    yield piece
            if is_faulty:
                raise world.will_raise(random.choice(CUTS)("the stream was cut"))
        except Exception:
            turn.fail_call(is_closing=is_closing)
            raise
        assert piece.usage is not None
        piece.usage.cost_usd = Decimal(random.choice((0, 1, 2))) / 1000
        self._end(turn, piece)
        if _is_of_judge(request):
            world.sessions[ASKING.get()].goal.note_judgement(text_of(piece))
        yield piece

    def _end(self, turn: SpentTurn, response: ChatResponse) -> None:
        usage = response.usage
        assert usage is not None
        with self._world.noting():
            turn.end_call(usage.input_tokens + usage.output_tokens, usage.cost_usd or Decimal(0))

    def _check_length(self, request: ChatRequest) -> None:
        tokens = sum(estimate_tokens(each.model_dump()) for each in request.messages)
        if tokens > self._plan.window:
            raise self._world.will_raise(ContextLengthError(f"{tokens} tokens are too many"))

    def _invented(self, request: ChatRequest) -> Any:
        random = self._world.random
        if _is_of_judge(request):
            return random.choice((REACHED, NOT_REACHED, NOT_REACHED, "who knows"))
        # Some models call tools although they were told not to.
        is_plain = request.max_output_tokens is not None or (
            _is_closing(request) and random.random() < 0.8
        )
        said = len(request.messages)
        text = " ".join(random.choice(("yes", "so", "it is", "well")) for _ in range(3))
        if is_plain or random.random() > self._plan.call_share or said > 60:
            if random.random() < 0.05:
                return ""
            thought = {"type": "thinking", "thinking": "let me see"}
            answer: Any = {"type": "text", "text": text}
            return [thought, answer] if random.random() < 0.3 else [answer]
        calls = [self._call() for _ in range(random.choice((1, 1, 1, 2, 3, 4)))]
        if self._plan.is_tagged:
            tags = (
                f"<tool>{json.dumps({'tool_name': call['tool'], 'arguments': call['arguments']})}"
                f"</tool>{random.choice(('', ' and ', '<tool>{not json</tool>'))}"
                for call in calls
            )
            return f"{text} {' '.join(tags)}"
        return [{"type": "text", "text": text}, *calls] if random.random() < 0.5 else calls

    def _call(self) -> dict[str, Any]:
        world, random = self._world, self._world.random
        name = random.choice((
            "work", "work", "work", "look", "alone", "stubborn", "long", "delegate", "delegate",
            "task", "task", "expert", "nothing", "wrong",
        ))  # fmt: skip
        number = world.number()
        call: dict[str, Any] = {"id": f"call-{number}", "tool": name}
        call["arguments"] = {"number": number}
        if name == "task":
            call["arguments"] = self._task()
        elif name == "expert":
            prompt = world.job(ASKING.get(), self._plan.agent_budget)
            call["arguments"] = {"prompt": prompt}
        elif name == "wrong":
            call |= {"tool": "work", "arguments": {"number": "seven", "what": None}}
        return call

    def _task(self) -> dict[str, Any]:
        world, random = self._world, self._world.random
        action = random.choice(
            ("start", "start", "start", "result", "cancel", "status", "continue")
        )
        arguments: dict[str, Any] = {"action": action}
        if action in ("start", "continue"):
            arguments["prompt"] = world.job(ASKING.get(), self._plan.task_budget)
            arguments["background"] = random.random() < 0.5
        if action in ("result", "cancel", "continue"):
            arguments["id"] = f"task-{random.choice((1, 1, 1, 2, 3))}"
        return arguments


def _is_of_judge(request: ChatRequest) -> bool:
    """Whether it is asked whether a goal is reached."""
    return str(request.messages[-1].content).startswith(JUDGING)


def _is_closing(request: ChatRequest) -> bool:
    """Whether it is the call that ends a turn at the limit of its model calls."""
    return WRAP_UP in str(request.messages[-1].content)
