"""Stories: scripted conversations that are told without a restart, and again with one anywhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, ScriptedProvider, Session
from amplifier_core import ChatRequest, Usage
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_providers.base import Piece

_RANDOM_ID = re.compile("[a-z_]*[0-9a-f]{32}")
COST = Decimal("0.0012345678901234567")


@dataclass(frozen=True)
class Story:
    """What users say and models answer, and the agent that it is told to."""

    prompts: Sequence[str]
    script: Sequence[Any]
    options: Callable[[], dict[str, Any]] = dict
    """Makes the arguments of the agent, anew for each process."""
    goals: Sequence[str | None] = ()
    """The goal that is set before each prompt; an empty one leaves it as it is."""


@dataclass
class Told:
    """What came of a story."""

    requests: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    results: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    states: dict[str, Any] = field(default_factory=dict[str, Any])
    """The states that are stored at the end, without what differs with each process."""


class StoryModel(ScriptedProvider):
    """Copies the store before each answer, where a process may end; each call costs the same."""

    reports_cost = True

    def __init__(self, script: Sequence[Any], folder: Path, copies: Path | None) -> None:
        super().__init__(script)
        self._folder = folder
        self._copies = copies

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        if self._copies is not None:
            shutil.copytree(self._folder, self._copies / str(len(self.requests)))
        async for piece in super().chunks(request, **options):
            yield piece

    def _make_response(self, item: Any, request: ChatRequest) -> Any:
        response = super()._make_response(item, request)
        counts: Any = response.usage
        # More than is estimated, so that what was counted differs from that.
        asked = counts.input_tokens * 3
        usage = Usage(
            input_tokens=asked,
            output_tokens=counts.output_tokens,
            total_tokens=asked + counts.output_tokens,
            cost_usd=COST,
        )
        return response.model_copy(update={"usage": usage})


async def tell(story: Story, folder: Path, copies: Path | None = None) -> Told:
    """Tell a story in one process; copy the store before each answer if `copies` is a folder."""
    model = StoryModel(story.script, folder, copies)
    told = Told()
    async with Agent(model, **story.options(), store=store_in(folder)).session(
        session_id="chat"
    ) as session:
        for place in range(len(story.prompts)):
            await _say(session, story, place, told)
    return await _finish(told, model, folder)


async def tell_in_many(story: Story, folder: Path) -> Told:
    """Tell a story with a process for each of its turns."""
    told, asked = Told(), 0
    model = StoryModel([], folder, None)
    for place in range(len(story.prompts)):
        model = StoryModel(story.script[asked:], folder, None)
        agent = Agent(model, **story.options(), store=store_in(folder))
        async with agent.session(session_id="chat") as session:
            await _say(session, story, place, told)
        asked += len(model.requests)
        told.requests += _plain(model)
        model.requests.clear()
    return await _finish(told, model, folder)


async def go_on(story: Story, folder: Path, answered: int) -> Told:
    """Go on with the turn after so many answers, and tell one more."""
    model = StoryModel(story.script[answered:], folder, None)
    told = Told()
    async with Agent(model, **story.options(), store=store_in(folder)).session(
        session_id="chat"
    ) as session:
        result = await session.resume_turn()
        told.results.append(_describe(result, session))
        messages = [each["content"] for each in result.messages if each["role"] == "user"]
        said = sum(prompt in messages for prompt in story.prompts)
        if said < len(story.prompts):
            await _say(session, story, said, told)
    return await _finish(told, model, folder)


def store_in(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder)}}


async def read_states(folder: Path) -> dict[str, Any]:
    """Return the states of a stored session as they are at its end, by their kinds."""
    store = SqliteStore(folder=str(folder))
    events = await store.read("chat")
    await store.close()
    return {each.kind: each.body for each in events if each.kind.startswith("state:")}


async def _say(session: Session[Any], story: Story, place: int, told: Told) -> None:
    goal = story.goals[place] if place < len(story.goals) else ""
    if goal != "":
        session.goal = goal
    told.results.append(_describe(await session.run(story.prompts[place]), session))


def _describe(result: Any, session: Session[Any]) -> tuple[Any, ...]:
    messages = [
        (each["role"], _RANDOM_ID.sub("call", str(each["content"]))) for each in result.messages
    ]
    return result.text, result.status, result.reason, result.goal, session.goal, messages


def _plain(model: StoryModel) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    for request in model.requests:
        messages = [each.model_dump(exclude_none=True) for each in request.messages]
        for each in messages:
            each.get("metadata", {}).pop("timestamp", None)
        # Calls in tags have random ids.
        found.append(json.loads(_RANDOM_ID.sub("call", json.dumps(messages))))
    return found


async def _finish(told: Told, model: StoryModel, folder: Path) -> Told:
    told.requests += _plain(model)
    told.states = await read_states(folder)
    if (spending := told.states.get("state:spending")) is not None:
        told.states["state:spending"] = {**spending, "turn": "", "seconds": 0}
    # Where the view was described differs; what it shows is compared as requests.
    told.states.pop("state:view", None)
    return told


def verdict(reached: bool, reason: str) -> str:
    return json.dumps({"reached": reached, "reason": reason})
