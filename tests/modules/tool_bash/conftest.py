"""The tools of `tool-bash`, mounted on a folder of the test, and what runs their commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.command import Command, Ending, Tier
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.unconfined import UnconfinedRunner
from amplifier_modules.tools import bash


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's caches."""
    folder = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


class FakeRunner:
    """Says that it is a sandbox, and runs commands without one."""

    reaches_hosts = True
    takes_layers = False

    def __init__(self, tier: Tier = Tier.NAMESPACES) -> None:
        self.tier = tier
        self.commands: list[Command] = []
        self.confinement: Confinement | None = None

    def start(self, command: Command, output: int) -> Any:
        self.commands.append(command)
        return UnconfinedRunner().start(command, output)

    def close(self) -> None:
        pass


class ScriptedRunner(FakeRunner):
    """Ends each command at once as it was told."""

    def __init__(self, ending: Ending | Exception, output: bytes = b"") -> None:
        super().__init__()
        self.ending = ending
        self.output = output

    def start(self, command: Command, output: int) -> Any:
        import os

        self.commands.append(command)
        os.write(output, self.output)
        return self

    def wait(self) -> Ending:
        if isinstance(self.ending, Exception):
            raise self.ending
        return self.ending

    def kill(self) -> None:
        pass

    def list_ports(self) -> list[int]:
        return []


class Tools:
    """The mounted tools of one session."""

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self.coordinator = coordinator
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.bash = coordinator.get("tools")["bash"]
        self.job = coordinator.get("tools")["bash_job"]

        def note(event: str, data: dict[str, Any]) -> None:
            shared = ("session_id", "parent_id", "timestamp")
            self.events.append((event, {k: v for k, v in data.items() if k not in shared}))

        for event in ("job:start", "job:end"):
            coordinator.hooks.register(event, note, name="note")

    async def run(self, command: str, **arguments: Any) -> Any:
        """The output of a call of `bash` without the time that it took; an error as a tuple."""
        return read(await self.bash.execute({"command": command, **arguments}))

    async def ask(self, action: str, **arguments: Any) -> Any:
        """The same for a call of `bash_job`."""
        return read(await self.job.execute({"action": action, **arguments}))


def read(result: ToolResult) -> Any:
    if not result.success:
        assert result.error is not None
        return (result.error["type"], result.error["message"])
    output: Any = result.output
    for each in (output, *output.get("jobs", ())):
        assert each.pop("seconds", 0) >= 0
    return output


Mount = Callable[..., Awaitable[Tools]]


@pytest.fixture
async def mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mount]:
    """Mount the tools: `await mount(runner, timeout=3)`; they end with the test."""
    coordinators: list[ModuleCoordinator] = []

    async def mount(runner: FakeRunner | None = None, **config: Any) -> Tools:
        if runner is not None:

            def open_runner(confinement: Confinement) -> FakeRunner:
                runner.confinement = confinement
                return runner

            monkeypatch.setattr(runners, "open_runner", open_runner)
        project = tmp_path / "project"
        project.mkdir(exist_ok=True)
        coordinator = ModuleCoordinator()
        coordinators.append(coordinator)
        # What is kept of changes has tests of its own.
        config = {"root": str(project), "keep_changes": False, **config}
        await bash.mount(coordinator, config)
        return Tools(coordinator)

    yield mount
    for each in coordinators:
        await each.cleanup()


@pytest.fixture
async def tools(mount: Mount) -> Tools:
    """Tools that ask nobody and have no sandbox."""
    return await mount(safety_profile="unrestricted")


@pytest.fixture
def fake() -> type[FakeRunner]:
    return FakeRunner


@pytest.fixture
def scripted() -> type[ScriptedRunner]:
    return ScriptedRunner


@pytest.fixture
def started() -> Callable[[Path], Awaitable[str]]:
    """Wait until a command has written a line into a pipe that it made; return that."""

    async def wait(pipe: Path) -> str:
        with anyio.fail_after(20):
            async with await anyio.open_file(pipe) as file:
                return (await file.readline()).strip()

    return wait
