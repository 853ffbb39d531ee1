"""The time of a command stands still while it is held, wherever it is counted.

Holds: sandbox-110
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_world import World

from amplifier_modules.sandbox.command import Command, CommandRunner, Ending
from amplifier_modules.sandbox.command_clock import CommandClock
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

LATE = 0.5


@dataclass
class FakeAlarm:
    """Rings when it is told to, cancelled or not."""

    seconds: float
    ring: Callable[[], object]
    is_started: bool = False
    is_cancelled: bool = False

    def start(self) -> None:
        self.is_started = True

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class FakeTime:
    """A clock that is set, and the alarms that were made."""

    seconds: float = 0.0
    alarms: list[FakeAlarm] = field(default_factory=list[FakeAlarm])
    expired: int = 0

    def make_clock(self, seconds: float | None) -> CommandClock:
        return CommandClock(
            seconds, self.expire, now=lambda: self.seconds, make_alarm=self.make_alarm
        )

    def make_alarm(self, seconds: float, ring: Callable[[], object]) -> FakeAlarm:
        self.alarms.append(FakeAlarm(seconds, ring))
        return self.alarms[-1]

    def expire(self) -> None:
        self.expired += 1

    def list_alarms(self) -> list[tuple[float, bool]]:
        """The seconds of each alarm, and whether it still waits."""
        assert all(each.is_started for each in self.alarms)
        return [(each.seconds, not each.is_cancelled) for each in self.alarms]


def test_no_time_passes_while_a_clock_is_held() -> None:
    time = FakeTime()
    clock = time.make_clock(10)
    time.seconds = 4
    with clock.hold():
        time.seconds = 5000
        with clock.hold():
            time.seconds = 6000
        assert time.list_alarms() == [(10, False)]
    assert time.list_alarms() == [(10, False), (6, True)]
    time.seconds = 6005
    with clock.hold():
        pass
    assert time.list_alarms() == [(10, False), (6, False), (1, True)]
    time.alarms[-1].ring()
    assert time.expired == 1


def test_an_alarm_that_rings_after_it_was_cancelled_ends_nothing() -> None:
    time = FakeTime()
    clock = time.make_clock(10)
    with clock.hold():
        time.alarms[0].ring()
    time.alarms[0].ring()
    assert time.expired == 0
    clock.stop()
    time.alarms[1].ring()
    with clock.hold():
        pass
    assert (time.expired, len(time.alarms)) == (0, 2)


def test_a_clock_without_a_limit_has_no_alarm() -> None:
    time = FakeTime()
    with time.make_clock(None).hold():
        pass
    assert time.alarms == []


def run_held(runner: CommandRunner, project: Path) -> list[Ending]:
    """Run a command beyond its time while it is held, and another one after it was."""
    endings: list[Ending] = []
    environment = {"PATH": os.environ["PATH"]}
    with open(os.devnull, "wb") as nowhere:
        held = Command("sleep 1", str(project), environment, LATE)
        running = runner.start(held, nowhere.fileno())
        with running.hold_time():
            endings.append(running.wait())
        late = Command("sleep 1000", str(project), environment, LATE)
        running = runner.start(late, nowhere.fileno())
        with running.hold_time():
            pass
        endings.append(running.wait())
    return endings


def test_a_command_in_a_sandbox_is_not_ended_while_it_is_held_but_later(world: World) -> None:
    with closing(world.open()) as sandbox:
        endings = run_held(sandbox, world.project)
    assert endings == [
        Ending(0, directory=str(world.project)),
        Ending(None, timed_out=True),
    ]


def test_a_command_without_a_sandbox_is_not_ended_while_it_is_held_but_later(
    tmp_path: Path,
) -> None:
    endings = run_held(UnconfinedRunner(), tmp_path)
    assert endings == [
        Ending(0, directory=str(tmp_path)),
        Ending(None, signal=9, timed_out=True),
    ]


def test_a_held_command_can_be_ended(world: World) -> None:
    with closing(world.open()) as sandbox, open(os.devnull, "wb") as nowhere:
        command = Command("sleep 1000", str(world.project), {"PATH": os.environ["PATH"]}, LATE)
        running = sandbox.start(command, nowhere.fileno())
        with running.hold_time():
            running.kill()
            assert running.wait() == Ending(None, signal=9)
