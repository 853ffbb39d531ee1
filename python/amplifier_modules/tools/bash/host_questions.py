"""Questions about hosts: from the connections that wait to the call whose command has begun them.

The proxy decides in threads, and a person is asked in the event loop, by the call of `bash` that
runs. Which process of a session has made a connection is not known: it may be a job, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock

import anyio

from amplifier_modules.sandbox.network.rules import Allowed, Decision, Refused, write_entry
from amplifier_modules.tool.context import PersonAnswer, ask_person
from amplifier_providers.running.run_sync import caller_into_loop

from .agreed_hosts import AgreedHosts
from .command_run import CommandRun
from .host_question import HostQuestion

MAX_HOSTS = 20
"""Hosts that a person is asked about in one command."""
_MAX_REASON_CHARS = 200
_TO_ALLOW = "`{entry}` was not reached: {why}; to allow it, add `{entry}` to the setting `network`"


class HostQuestions:
    """Asks a person about hosts, in the call whose command is running."""

    def __init__(
        self,
        agreed: AgreedHosts,
        may_ask: Callable[[], bool],
        list_jobs: Callable[[], Sequence[str]],
    ) -> None:
        """Ask for a session, whose calls with commands run one after another.

        Args:
            agreed: What was said for the rest of the session.
            may_ask: Whether somebody may be asked now; called in the event loop.
            list_jobs: Returns the commands that run in the background.
        """
        self._agreed = agreed
        self._may_ask = may_ask
        self._list_jobs = list_jobs
        self._lock = Lock()
        self._call: _CallQuestions | None = None

    def decide(self, host: str, port: int, refused: Refused) -> Decision:
        """Decide on a host, as `AskAboutHost` says: by what was said, or by asking."""
        known = self._agreed.find(host, port)
        if known is not None:
            return known
        with self._lock:
            call = self._call
        return refused if call is None else call.decide(host, port, refused)

    async def run_to_end(
        self, run: CommandRun, over: anyio.Event, start: Callable[[CommandRun], object]
    ) -> list[str]:
        """Start a command, wait for its end, and ask about hosts meanwhile.

        Args:
            run: The command.
            over: Set when it has ended.
            start: Starts it.

        Returns:
            What is to be said of hosts about which it has not waited for an answer.
        """
        call = _CallQuestions(run, self._agreed, self._may_ask, self._list_jobs)
        with self._lock:
            self._call = call
        run.close_at_end(call.close)
        try:
            start(run)
            await call.answer_all()
            await over.wait()
            return call.list_unanswered()
        finally:
            with self._lock:
                self._call = None
            call.close()


@dataclass(eq=False)
class _HeldHost:
    """A host that connections wait for."""

    host: str
    port: int
    refused: Refused
    decision: Decision | None = None
    is_decided: Event = field(default_factory=Event)


class _CallQuestions:
    """The questions of one call, each asked once, one after another."""

    def __init__(
        self,
        run: CommandRun,
        agreed: AgreedHosts,
        may_ask: Callable[[], bool],
        list_jobs: Callable[[], Sequence[str]],
    ) -> None:
        self._run = run
        self._agreed = agreed
        self._may_ask = may_ask
        self._list_jobs = list_jobs
        self._call_soon = caller_into_loop()
        self._lock = Lock()
        self._held: dict[tuple[str, int], _HeldHost] = {}
        self._waiting: deque[_HeldHost] = deque()
        self._unanswered: list[str] = []
        self._is_closed = False
        self._woken = anyio.Event()
        self._asking: anyio.CancelScope | None = None

    def decide(self, host: str, port: int, refused: Refused) -> Decision:
        """Wait for the answer about a host; called in a thread for each connection."""
        with self._lock:
            if self._is_closed:
                return refused
            held = self._held.get((host, port))
            if held is None and len(self._held) >= MAX_HOSTS:
                return refused
            if held is None:
                held = self._held[host, port] = _HeldHost(host, port, refused)
                self._waiting.append(held)
        self._wake()
        held.is_decided.wait()
        return held.decision or refused

    def close(self) -> None:
        """Ask no more, and refuse what waits; safe to call from any thread, and again."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            left = [each for each in self._held.values() if each.decision is None]
        for each in left:
            refused = _refuse(each, "the command ended before a person had answered")
            if self._settle(each, refused):
                self._unanswered.append(refused.reason)
        self._wake()

    def list_unanswered(self) -> list[str]:
        """Return why hosts were not reached for which the command has not waited."""
        return self._unanswered

    async def answer_all(self) -> None:
        """Ask about each host that waits, until the command has ended."""
        while (held := await self._take()) is not None:
            try:
                await self._ask(held)
            finally:
                self._settle(held, held.refused)

    async def _take(self) -> _HeldHost | None:
        """Return the host to ask about next; None once there are no more."""
        while True:
            with self._lock:
                if self._is_closed:
                    return None
                if self._waiting:
                    return self._waiting.popleft()
                self._woken = anyio.Event()
            await self._woken.wait()

    async def _ask(self, held: _HeldHost) -> None:
        """Ask a person about a host, unless nobody can be, or the command ends before that."""
        question = HostQuestion(
            held.host, held.port, self._run.command.text, tuple(self._list_jobs())
        )
        # A sub-agent, or another command, may have been told meanwhile.
        known = self._agreed.find(held.host, held.port)
        if known is not None or not question.is_readable or not self._may_ask():
            self._settle(held, known or held.refused)
            return
        with anyio.CancelScope() as self._asking:
            if self._is_closed:
                return
            with self._run.hold_time():
                answer = await ask_person(
                    question.write(), question.describe(), for_session=question.name
                )
            self._take_answer(held, answer)

    def _take_answer(self, held: _HeldHost, answer: PersonAnswer) -> None:
        decision = Allowed() if answer.is_yes else _refuse(held, _describe_no(answer))
        if answer.for_session or (answer.is_answered and not answer.is_yes):
            self._agreed.note(held.host, held.port, decision)
        self._settle(held, decision)

    def _settle(self, held: _HeldHost, decision: Decision) -> bool:
        """Let the connections to a host go on, unless they do; return whether they did not."""
        with self._lock:
            if held.decision is not None:
                return False
            held.decision = decision
        held.is_decided.set()
        return True

    def _wake(self) -> None:
        """Have the event loop look at what there is, from any thread."""
        with suppress(RuntimeError):  # it is closed
            self._call_soon(self._look_around)

    def _look_around(self) -> None:
        self._woken.set()
        if self._is_closed and self._asking is not None:
            self._asking.cancel()


def _refuse(held: _HeldHost, why: str) -> Refused:
    return Refused(_TO_ALLOW.format(entry=write_entry(held.host, held.port), why=why))


def _describe_no(answer: PersonAnswer) -> str:
    """Return why it is no, on one line and without the question, which it may repeat."""
    if not answer.is_answered:
        return "nobody could be asked, or has answered in time"
    words = " ".join(answer.words.split())[:_MAX_REASON_CHARS]
    shown = words.encode("unicode_escape").decode() if not words.isprintable() else words
    return f"a person said no: {shown}" if shown else "a person said no"
