"""What a random session that is stored does, and the processes in which it lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar, TypeVar

from seeded_loop import SeededLoop

from amplifier_agent import Agent, Question, ScriptedProvider
from amplifier_core.message_models import ChatRequest
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_modules.tool.context import ToolContext

ResultT = TypeVar("ResultT")

ID = "work"
REPEATABLE = frozenset({"again", "look"})
"""The tools that may run twice."""
_KINDS = ("add", "add", "again", "look", "alone", "fail", "long", "expert")


@dataclass(frozen=True)
class WorkPlan:
    """A session: what its model asks for. Which tool a call is of follows from its id."""

    loop: dict[str, Any]
    context: dict[str, Any]
    turns: tuple[tuple[tuple[str, ...], ...], ...]
    """By turn and round: the tools that are called."""

    def answer(self, request: ChatRequest) -> Any:
        """Ask for the next calls of the turn, by what the history has of it, or end the turn."""
        users = [i for i, each in enumerate(request.messages) if each.role == "user"]
        turn = len(users) - 1
        done = sum(each.role == "assistant" for each in request.messages[users[-1] :])
        if done == len(self.turns[turn]):
            return f"answer {turn}"
        return [
            {
                "type": "tool_call",
                "id": (id := f"{name}-{turn}.{done}.{place}"),
                "name": name,
                "input": {"prompt" if name == "expert" else "number": id},
            }
            for place, name in enumerate(self.turns[turn][done])
        ]


@dataclass
class Effects:
    """What the tools did, and what a caller was given, whatever process it was in."""

    runs: list[tuple[str, str]] = field(default_factory=list)
    """The ids of the calls that had their effect, with their keys."""
    acknowledged: list[str] = field(default_factory=list)


class StoppedError(Exception):
    """The process is at the point at which it stops."""


class Life:
    """A process: it stops at one of its points, and then it is dead or frozen."""

    def __init__(
        self, plan: WorkPlan, effects: Effects, folder: Path, random: Random, stop_at: int | None
    ) -> None:
        """Prepare it.

        Args:
            plan: What it does.
            effects: Where the effects go.
            folder: Where it is stored.
            random: Decides the order in which things happen.
            stop_at: The number of the point at which it stops; None for never.
        """
        self.plan = plan
        self.effects = effects
        self.points = 0
        self.statuses: list[str] = []
        self._random = random
        self._stop_at = stop_at
        self._is_stopped = self._is_dead = False
        self._thawed: asyncio.Future[None] | None = None
        self.loop = SeededLoop(random, self._look_whether_it_stops)
        self.loop.set_exception_handler(lambda loop, context: None)
        self._store = SqliteStore(folder=str(folder), journal_mode="persist")
        self._store._writer = _Inline(self)
        self._main: asyncio.Task[None] | None = None

    def run(self) -> None:
        """Run until the work is done, or it stops.

        Raises:
            StoppedError: It has stopped. The next call goes on with it.
            Exception: What the session raises.
        """
        if self._main is None:
            self._main = self.loop.create_task(self._work())
        if self._thawed is not None:
            self._is_stopped = False
            self._thawed.set_result(None)
        self.loop.run_until_complete(self._main)

    def end(self) -> None:
        """Kill it: nothing that it does counts any more; nothing if it was killed."""
        if self._is_dead:
            return
        self._is_dead = True
        for _ in range(3):
            tasks = asyncio.all_tasks(self.loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self.loop.run_until_complete(asyncio.wait(tasks, timeout=100))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        self._store._files.close()

    async def point(self) -> None:
        """Take some time, or stop here.

        Raises:
            CancelledError: The process is dead.
        """
        self.points += 1
        if self.points == self._stop_at:
            self._is_stopped = True
            self._thawed = self.loop.create_future()
        if self._is_dead:
            raise asyncio.CancelledError
        if self._is_stopped:
            assert self._thawed is not None
            await asyncio.shield(self._thawed)
        elif self._random.random() < 0.5:
            await asyncio.sleep(self._random.choice((0.0, 0.1, 0.5)))

    async def work_on_store(self, work: Callable[[], ResultT]) -> ResultT:
        """Return what the work on the store returns; the process may stop before and after it."""
        if self._is_dead:
            raise StoreError("the process is dead")
        await self.point()
        result = work()
        await self.point()
        return result

    def _look_whether_it_stops(self) -> None:
        if self._is_stopped and not self._is_dead:
            raise StoppedError

    async def _work(self) -> None:
        add = _Tool(self, "add", needs_approval=True)
        expert = Agent(_Model(self, _answer_as_expert), tools=[add])
        agent = Agent(
            _Model(self, self.plan.answer),
            tools=[
                _Tool(self, "add"),
                _Tool(self, "again", idempotent=True),
                _Tool(self, "look", read_only=True),
                _Tool(self, "alone", parallel=False),
                _Tool(self, "fail"),
                _Tool(self, "long"),
                expert.as_tool("expert", "Knows more."),
            ],
            loop=self.plan.loop,
            context=self.plan.context,
            store=self._store,
            approvals=self._answer,
        )
        async with agent.session(session_id=ID) as session:
            context: Any = session.session.coordinator.get("context")
            while True:
                try:
                    result = await session.resume_turn()
                except RuntimeError as error:
                    if "no turn that was left open" not in str(error):
                        raise
                    messages = await context.get_messages()
                    turn = sum(each["role"] == "user" for each in messages)
                    if turn == len(self.plan.turns):
                        return
                    result = await session.run(f"prompt {turn}")
                self.statuses.append(result.status)
                self.effects.acknowledged.append(result.text)

    async def _answer(self, question: Question) -> bool:
        """Agree to what an expert asks, and to nothing that may have had its effect already."""
        await self.point()
        return "Run it again?" not in question.action


class _Inline:
    """In the place of the thread of a store: everything happens in the loop."""

    def __init__(self, life: Life) -> None:
        self._life = life

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        return await self._life.work_on_store(work)

    def stop(self) -> None:
        pass


class _Model(ScriptedProvider):
    def __init__(self, life: Life, answer: Callable[[ChatRequest], Any]) -> None:
        super().__init__([answer], repeat=True)
        self._life = life

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Any]:
        await self._life.point()
        async for piece in super().chunks(request, **options):
            yield piece
        await self._life.point()


class _Tool:
    description = "Does something."
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"number": {"type": "string"}},
        "required": ["number"],
    }

    def __init__(self, life: Life, name: str, **traits: bool) -> None:
        self.name = name
        self._life = life
        vars(self).update(traits)

    async def execute(self, input: dict[str, Any]) -> str:
        number = input["number"]
        await self._life.point()
        self._life.effects.runs.append((number, str(ToolContext.current().key)))
        await self._life.point()
        if self.name == "fail":
            raise ValueError(f"{number} cannot be done")
        return f"{number} is done" + " in full" * (1_000 if self.name == "long" else 0)


def _answer_as_expert(request: ChatRequest) -> Any:
    if request.messages[-1].role != "user":
        return "The expert has done it."
    number = request.messages[-1].content
    text = number if isinstance(number, str) else number[0].text
    call = {"type": "tool_call", "id": f"add-{text}", "name": "add"}
    return [{**call, "input": {"number": f"add-{text}"}}]


def draw_work(random: Random) -> WorkPlan:
    """Draw a session."""
    settings: dict[str, Any] = {}
    if random.random() < 0.4:
        settings["max_parallel_tools"] = random.choice((1, 2))
    context = {"put_aside_bytes": 4_096} if random.random() < 0.5 else {}
    turns = tuple(
        tuple(
            tuple(random.choice(_KINDS) for _ in range(random.choice((1, 2, 3, 4))))
            for _ in range(random.choice((0, 1, 1, 2)))
        )
        for _ in range(random.choice((1, 2)))
    )
    return WorkPlan(
        loop={"module": random.choice(("loop-basic", "loop-streaming")), "config": settings},
        context={"module": "context-simple", "config": context},
        turns=turns,
    )
