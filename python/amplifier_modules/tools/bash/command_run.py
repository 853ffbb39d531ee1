"""One command from its start to its end, in threads of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from threading import RLock, Thread

from amplifier_core import world
from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, RunningCommand

from .captured_output import CapturedOutput
from .output_reader import choose_reader


class CommandRun:
    """Runs a command; the event loop is never waited for, nor waits for it."""

    ending: Ending | None = None
    """How it ended; None while it runs, and where it could not be started."""
    failure: Exception | None = None
    """Why it could not be run."""
    notes: tuple[str, ...] = ()
    """What became of its changes, where that is to be said."""
    seconds = 0.0
    """How long it took."""

    def __init__(
        self,
        runner: CommandRunner,
        command: Command,
        output: CapturedOutput,
        *,
        on_output: Callable[[], object],
        on_end: Callable[[], object],
        settle: Callable[[Ending | None], tuple[str, ...]] = lambda _ending: (),
    ) -> None:
        """Prepare to run a command.

        Args:
            runner: What runs it.
            command: What to run.
            output: Takes what it writes.
            on_output: Called in a thread when something has come.
            on_end: Called in a thread when all has ended and all output was taken.
            settle: Called in a thread before that, with the ending or None where nothing was
                started; returns what is to be said of the changes.
        """
        self.command = command
        self.output = output
        self.runner = runner
        """What runs it."""
        self._on_output = on_output
        self._on_end = on_end
        self._settle = settle
        # Reentrant: a finalizer may call `kill` wherever this thread is.
        self._lock = RLock()
        self._running: RunningCommand | None = None
        self._holding: ExitStack | None = None
        self._is_killed = False
        self._closed_at_end: list[Callable[[], object]] = []
        self._begun = world.monotonic()
        self._thread = Thread(target=self._run, name="command", daemon=True)

    @property
    def is_killed(self) -> bool:
        """Whether it was ended by `kill`."""
        return self._is_killed and not (self.ending is not None and self.ending.timed_out)

    def start(self) -> None:
        """Begin to run it."""
        self._begun = world.monotonic()
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait for its end in this thread, for a limited time."""
        self._thread.join(seconds)

    def count_seconds(self) -> float:
        """Return for how long it has run."""
        return self.seconds if self.is_over else world.monotonic() - self._begun

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.ending is not None or self.failure is not None

    def kill(self) -> None:
        """End it and all that it began; returns at once, also where it has ended."""
        with self._lock:
            if self.is_over:
                return
            self._is_killed = True
            running = self._running
        if running is not None:
            running.kill()

    @contextmanager
    def hold_time(self) -> Generator[None]:
        """Let no time pass for it in a block, one at a time; it runs on."""
        with ExitStack() as holding:
            with self._lock:
                # A command may do something before it is known here that it was started.
                self._holding = holding
                if self._running is not None:
                    holding.enter_context(self._running.hold_time())
            try:
                yield
            finally:
                with self._lock:
                    self._holding = None

    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known; blocks."""
        running = self._running
        return [] if running is None or self.is_over else running.list_ports()

    def close_at_end(self, close: Callable[[], object]) -> None:
        """Have something closed in a thread when the command has ended; at once where it has."""
        with self._lock:
            if not self.is_over:
                self._closed_at_end.append(close)
                return
        close()

    def _run(self) -> None:
        ending, failure = None, None
        try:
            ending = self._run_to_end()
        except Exception as error:  # noqa: BLE001 -- it becomes the result
            failure = error
        try:
            self.notes = self._settle(ending)
        except Exception as error:  # noqa: BLE001 -- as above
            failure = failure or error
        self.seconds = world.monotonic() - self._begun
        with self._lock:
            self.ending, self.failure = ending, failure
        for close in self._closed_at_end:
            close()
        self.output.close()
        self._on_end()

    def _run_to_end(self) -> Ending:
        output = choose_reader(sys.platform)(self._take)
        try:
            output.hand_out(self._begin)
            output.start()
            running = self._running
            assert running is not None
            return running.wait()
        finally:
            output.finish()

    def _begin(self, writing: int) -> None:
        running = self.runner.start(self.command, writing)
        with self._lock:
            self._running = running
            if self._holding is not None:
                self._holding.enter_context(running.hold_time())
            is_killed = self._is_killed
        if is_killed:
            running.kill()

    def _take(self, piece: bytes) -> None:
        self.output.add(piece)
        with suppress(RuntimeError):  # the event loop is closed
            self._on_output()
