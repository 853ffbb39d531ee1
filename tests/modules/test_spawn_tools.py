"""The tools of sub-agents, after any sequence of what a program does with those of the parent."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_agent import BaseProvider
from amplifier_core import AmplifierSession, ChatRequest, ChatResponse, TextBlock
from amplifier_core import session as plain
from amplifier_core.models import ToolResult
from amplifier_modules.spawn import child_session

PLAIN, BOUND = ("a", "b"), ("c", "d", "task")
"""The tools of modules: those that are shared, and those that belong to one session."""
NAMES = (*PLAIN, *BOUND, "e", "f")
FEW = settings(max_examples=max(settings().max_examples // 5, 10))


class Shared:
    """A tool that sub-agents share; one of 2.0.2 keeps the coordinator that it was mounted with."""

    description = "Does something."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    def __init__(self, name: str, coordinator: Any = None) -> None:
        self.name = name
        self.coordinator = coordinator

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(output=self.name)


class Bound(Shared):
    """A tool that each session has of its own."""

    is_session_bound = True


async def mount_shared(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    for name in PLAIN:
        await coordinator.mount("tools", Shared(name, coordinator), name=name)


async def mount_bound(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    for name in BOUND[:2]:
        await coordinator.mount("tools", Bound(name, coordinator), name=name)


@pytest.fixture(autouse=True, scope="module")
def installed() -> Any:
    """Have both as modules of others."""
    with pytest.MonkeyPatch.context() as patch:
        for name, mount in (("shared", mount_shared), ("bound", mount_bound)):
            module = ModuleType(f"amplifier_module_tool_{name}")
            module.mount = mount  # pyright: ignore[reportAttributeAccessIssue] -- made here
            patch.setitem(sys.modules, module.__name__, module)
        yield


@dataclass(frozen=True)
class Step:
    """What a program does with one name: unmounts it, or mounts something under it."""

    name: str
    what: str
    """`unmount`, `new`, or the name of a tool that the modules had mounted."""


@dataclass(frozen=True)
class Asked:
    """How a sub-agent is asked for, and what its program then does with its tools."""

    by_task_tool: bool
    names: tuple[str, ...] | None
    given: tuple[str, ...]
    """Names of tools that the program hands over beside those of the parent."""
    steps: tuple[Step, ...]
    below: tuple[str, ...] | None
    """The names that its own sub-agent is given."""


steps = st.lists(
    st.builds(Step, st.sampled_from(NAMES), st.sampled_from(("unmount", "new", *PLAIN, *BOUND))),
    max_size=8,
).map(tuple)
names = st.none() | st.lists(st.sampled_from(NAMES), unique=True).map(tuple)
asked = st.builds(
    Asked,
    by_task_tool=st.booleans(),
    names=names,
    given=st.lists(st.sampled_from((*NAMES, "g")), unique=True, max_size=2).map(tuple),
    steps=steps,
    below=names,
)


class Witness(BaseProvider):
    """Notes the tools of each session that asks it, and asks for a sub-agent in turn."""

    name = "witness"

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.sessions: list[Any] = []
        self.seen: list[dict[str, Any]] = []
        self.offered: list[set[str]] = []
        self.expected: dict[str, Any] = {}

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        coordinator = self.sessions[-1]
        self.seen.append(dict(coordinator.get("tools")))
        self.offered.append({each.name for each in request.tools or ()})
        if len(self.seen) == 1:
            made = dict(self.seen[0])
            await do(coordinator, self.asked.steps, made)
            self.expected = narrowed(coordinator, self.asked.below)
            spawn = coordinator.get_capability("session.spawn")
            below = self.asked.below
            known = None if below is None else [each for each in below if each in self.expected]
            assert (await spawn("go", tools=known)).status == "completed"
        return ChatResponse(content=[TextBlock(text="done")])


async def do(coordinator: Any, steps: tuple[Step, ...], made: Mapping[str, Any]) -> None:
    for step in steps:
        if step.what == "unmount":
            await coordinator.unmount("tools", step.name)
        elif (
            module := Shared(step.name) if step.what == "new" else made.get(step.what)
        ) is not None:
            await coordinator.mount("tools", module, name=step.name)


def narrowed(coordinator: Any, names: tuple[str, ...] | None) -> dict[str, Any]:
    """What is mounted, of these names."""
    mounted = dict(coordinator.get("tools"))
    return {n: each for n, each in mounted.items() if names is None or n in names}


def check(
    seen: Mapping[str, Any], expected: Mapping[str, Any], made: Mapping[str, Any], child: Any
) -> dict[str, Any]:
    """Compare the tools of a child with those of its parent; return those mounted anew.

    Args:
        seen: What the child has.
        expected: What it may have: what its parent had, and what it was given.
        made: What the modules of the parent had mounted.
        child: The coordinator of the child.
    """
    assert list(seen) == list(expected)
    own: dict[str, Any] = {}
    for name, tool in seen.items():
        parents = expected[name]
        if name in BOUND and parents is made.get(name):
            assert type(tool) is type(parents)
            assert tool is not parents
            assert getattr(tool, "coordinator", child) is child
            own[name] = tool
        else:
            assert tool is parents
    return own


# Holds: agent-53
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("kind", [AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
@FEW
@given(steps=steps, asked=asked)
def test_a_sub_agent_has_the_tools_of_its_parent_by_name_and_object(
    kind: Any, backend: str, steps: tuple[Step, ...], asked: Asked
) -> None:
    async def main() -> None:
        config = {} if asked.names is None else {"tools": list(asked.names)}
        plan = {
            "session": {"orchestrator": "loop-basic", "context": "context-simple"},
            "providers": [],
            "tools": ["tool-shared", {"module": "tool-task", "config": config}, "tool-bound"],
        }
        session, witness = kind(plan), Witness(asked)
        coordinator = session.coordinator
        await coordinator.mount("providers", witness, name=witness.name)
        await session.initialize()
        coordinator.get_capability("session.tasks").prepare = (witness.sessions.append,)
        made = dict(coordinator.get("tools"))
        await do(coordinator, steps, made)
        expected = narrowed(coordinator, asked.names)
        unknown = set(asked.names or ()) - expected.keys()
        if asked.by_task_tool:
            answer = await made["task"].execute({"prompt": "go"})
            assert answer.success is not bool(unknown), answer
            if unknown:
                assert "is mounted (there are: " in answer.error["message"]
        elif asked.names is None:
            assert (await coordinator.get_capability("session.spawn")("go")).status == "completed"
        else:
            own = [Shared(name) for name in asked.given]
            wanted = [each for each in asked.names if each in expected]
            spawn = coordinator.get_capability("session.spawn")
            assert (await spawn("go", tools=[*wanted, *own])).status == "completed"
            expected |= {each.name: each for each in own}
        if not (asked.by_task_tool and unknown):
            child, grandchild = witness.sessions
            first, second = witness.seen[0], witness.seen[1]
            own_tools = check(first, expected, made, child)
            assert witness.offered[0] == set(first)
            check(second, witness.expected, own_tools, grandchild)
        await session.cleanup()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_session, "AmplifierSession", kind)
        anyio.run(main, backend=backend)
