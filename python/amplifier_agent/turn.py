"""One turn of a session: its answer, read as an object where that is asked for, and how it ended."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic

import anyio

from amplifier_core import events
from amplifier_core.session_capabilities import TURN_BUDGET, TURN_PROMPT_BLOCKS
from amplifier_modules.loops.loop import Loop, ledger_of_turn
from amplifier_modules.running.failure import is_token_cancellation
from amplifier_modules.spending.ledger import RUNNING

from .history import without_system
from .record import TurnRecord
from .result import CANCELLED, Result, TurnStatus, ending_of
from .type_parameters import T_co

if TYPE_CHECKING:
    from amplifier_core import AmplifierSession
    from amplifier_modules.spending.budget import Budget

    from .approvals import WaitingQuestions
    from .arguments import Prompt
    from .feed import Feed
    from .output import Output

logger = logging.getLogger(__name__)

_Ending = tuple[TurnStatus, str | None]

_OURS = events.LLM_PRE, events.LLM_POST
"""The events of a request and its response, as our loops emit them."""
_OF_OTHERS = events.PROVIDER_REQUEST, events.PROVIDER_RESPONSE


class Turn(Generic[T_co]):
    """A turn; `run` it once."""

    __slots__ = (
        "_coordinator",
        "_feed",
        "_output",
        "_session",
        "_waiting",
        "is_over",
        "record",
        "result",
    )

    def __init__(
        self,
        session: AmplifierSession,
        output: Output[T_co] | None,
        waiting: WaitingQuestions,
        feed: Feed | None = None,
    ) -> None:
        """Prepare a turn of the kernel's session.

        Args:
            session: The session.
            output: The type of the answer; None for text.
            waiting: Has the questions that the turn leaves.
            feed: Hands its deltas over; None where nobody takes them.
        """
        self._waiting = waiting
        self._session = session
        self._coordinator: Any = session.coordinator
        self._output = output
        self._feed = feed
        self.record = TurnRecord()
        """What the turn does, from its events."""
        self.result: Result[T_co] | None = None
        """The result, also where the turn raised."""
        self.is_over = False

    async def run(self, prompt: Prompt, budget: Budget | None) -> Result[T_co]:
        """Return the result.

        Raises:
            Exception: What the provider or the context raised.
        """
        coordinator = self._coordinator
        coordinator.register_capability(TURN_BUDGET, budget)
        text = prompt if isinstance(prompt, str) else self._offer_blocks(prompt)
        # Our loops emit the usage first, by itself, before a hook can end the turn.
        is_ours = isinstance(coordinator.get("orchestrator"), Loop)
        listeners = self.record.make_listeners(*(_OURS if is_ours else _OF_OTHERS))
        if self._feed is not None:
            self._feed.listen(listeners)
        coordinator.hooks._listen(listeners)
        try:
            if self._output is None:
                answer, value = await self._session.execute(text), None
                ending = self._find_ending()
            else:
                with self._one_budget():
                    answer, value, ending = await self._read_answer(text, self._output)
            result = self.result = await self._make_result(answer, value, ending)
        except BaseException as error:
            is_cancelled = self._coordinator.cancellation.is_cancelled and is_token_cancellation(
                error
            )
            ending = CANCELLED if is_cancelled else ending_of(error)
            with anyio.CancelScope(shield=True):
                result = self.result = await self._make_result("", None, ending)
            if not is_cancelled:
                raise
        finally:
            self.is_over = True
            if not isinstance(prompt, str):
                coordinator.register_capability(TURN_PROMPT_BLOCKS, None)
            coordinator.hooks._listen(None)
            coordinator.cancellation.reset()
        return result  # pyright: ignore[reportPossiblyUnboundVariable] -- shielded: never left early

    def _offer_blocks(self, prompt: Prompt) -> str:
        """Have the loop take the blocks of a prompt; return the text that stands for them."""
        from amplifier_modules.loops.prompt_blocks import write_text  # late: most prompts are text

        from .arguments import read_blocks

        blocks = read_blocks(prompt) or []
        self._coordinator.register_capability(TURN_PROMPT_BLOCKS, blocks)
        loop = self._coordinator.get("orchestrator")
        if not isinstance(loop, Loop) and any(block["type"] != "text" for block in blocks):
            name = getattr(loop, "name", None) or type(loop).__name__
            logger.warning("the loop `%s` takes text only: it gets the names of images", name)
        return write_text(blocks)

    async def _read_answer(
        self, prompt: str, output: Output[T_co]
    ) -> tuple[str, T_co | None, _Ending]:
        """Read the answer, after one round of repair if that is needed."""
        text = await self._session.execute(prompt)
        ending = self._find_ending()
        if ending[0] != "completed":
            return text, None, ending
        value, problems = output.read(text)
        if problems is None:
            return text, value, ending
        self._coordinator.register_capability(TURN_PROMPT_BLOCKS, None)
        text = await self._session.execute(output.repair_prompt(problems))
        ending = self._find_ending()
        if ending[0] == "completed":
            value, problems = output.read(text)
            if problems is not None:
                ending = "error", f"the answer does not fit `output`: {problems}"
        return text, value, ending

    @contextmanager
    def _one_budget(self) -> Generator[None]:
        """Let the round of repair, which is a turn for the loop, use the same budget."""
        loop = self._coordinator.get("orchestrator")
        configured = loop.settings.budget if isinstance(loop, Loop) else None
        ledger = ledger_of_turn(configured, self._coordinator)
        token = RUNNING.set(ledger)
        try:
            yield
        finally:
            RUNNING.reset(token)
            if ledger is not None:
                ledger.end()

    def _find_ending(self) -> _Ending:
        return self.record.find_ending(is_cancelled=self._coordinator.cancellation.is_cancelled)

    async def _make_result(self, text: str, value: T_co | None, ending: _Ending) -> Result[T_co]:
        context = self._coordinator.get("context")
        status, reason = ending
        record = self.record
        if status != "completed":
            text = record.unfinished or text
        messages = [] if context is None else without_system(await context.get_messages())
        return Result(
            text="" if status == "denied" else text,
            status=status,
            reason=reason,
            stop_reason=record.stop_reason,
            usage=record.usage,
            cost=record.total_cost(),
            model_calls=record.model_calls,
            tool_calls=record.tool_calls,
            prompt_cache=record.prompt_cache,
            messages=messages,
            session_id=self._session.session_id,
            goal=record.goal,
            questions=self._waiting.take_put_off(),
            value=value if status == "completed" else None,
        )
