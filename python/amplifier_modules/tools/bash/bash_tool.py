"""The tool `bash`: runs commands in the project."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from amplifier_core.event_loop import find_asyncio_task
from amplifier_core.interruption import is_ending
from amplifier_core.models import ToolResult
from amplifier_modules.changes.open_change import HeldChangeError
from amplifier_modules.sandbox.command import CommandRunner, LaunchError, Tier
from amplifier_modules.tool.context import ToolContext, find_context
from amplifier_modules.tools.blocking import (
    INVALID,
    Arguments,
    InvalidArgumentsError,
    build_schema,
    check_arguments,
    make_failure,
)
from amplifier_modules.tools.secret_files import is_call_approved

from .captured_output import CapturedOutput
from .change_approval import ask_about_changes, stop_waiting
from .command_result import describe_end, describe_file
from .command_run import CommandRun
from .command_session import CommandSession
from .continued_command import continue_command
from .description import describe_tool
from .edges import Edges
from .host_questions import HostQuestions
from .jobs import Jobs, TooManyJobsError
from .kept_changes import KeptChanges
from .permission import Permission
from .settings import MAX_SECONDS

MAX_COMMAND_BYTES = 120_000
"""What systems let the argument of a program be, less what is added."""
KILL_SECONDS = 1.5
"""How long a call that is cancelled waits for the end of its command; loops leave it after 2 s."""


class BashArguments(Arguments):
    """What the model says of a command."""

    command: str = Field(description="What bash runs.")
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=MAX_SECONDS,
        description=f"Seconds after which it is ended, at most {MAX_SECONDS:.0f}.",
    )
    run_in_background: bool = Field(
        default=False, description="Whether to return at once, with the id of a job."
    )
    sandbox: Literal["default", "direct", "none"] = Field(
        default="default",
        description=(
            "`direct` changes the project itself, as renaming its folders needs; `none` asks a"
            " person to run it outside of the sandbox."
        ),
    )
    reason: str | None = Field(
        default=None, description="With `none`: why it is needed, for the person."
    )


class NotApprovedError(PermissionError):
    """A command that a person has not agreed to."""


class BashTool:
    """Runs a command and returns its output."""

    name = "bash"
    is_session_bound = True
    continues_calls = True
    """Whether it goes on with a call that asked in another process; loops read it."""

    def __init__(
        self,
        session: CommandSession,
        jobs: Jobs,
        permission: Permission,
        edges: Edges,
        runner: CommandRunner,
        unconfined: CommandRunner,
        kept: KeptChanges,
        hosts: HostQuestions | None,
        *,
        timeout: float,
        find_limit: Callable[[], float | None],
        max_bytes: int,
    ) -> None:
        """Run commands of a session.

        Args:
            session: Where they run.
            jobs: Those in the background.
            permission: Which a person is asked about.
            edges: Where the sandbox stops them.
            runner: What runs them.
            unconfined: What runs them outside of the sandbox.
            kept: How their changes can be taken back.
            hosts: Asks about the hosts that they connect to; None to ask about none.
            timeout: Seconds after which a command is ended that says nothing else.
            find_limit: Returns the seconds that loops give to a call.
            max_bytes: Bytes of an error, at most.
        """
        self._session = session
        self._jobs = jobs
        self._permission = permission
        self._edges = edges
        self._runner = runner
        self._unconfined = unconfined
        self._kept = kept
        self._hosts = hosts
        self._timeout = timeout
        self._find_limit = find_limit
        self._max_bytes = max_bytes
        self._lock = anyio.Lock()
        reads = permission.is_confined and permission.profile == "read-only"
        self.parallel = reads
        """Whether its calls may run at the same time as others; loops read it."""
        self.read_only = reads and edges.network == "off"
        """Whether it changes nothing; loops read it."""
        self.is_confined = permission.is_confined
        """Whether its commands run in a sandbox; `hooks-approval` reads it."""
        self.description = describe_tool(
            permission, edges.network, asks_about_hosts=hosts is not None
        )
        self.input_schema = build_schema(BashArguments)

    @property
    def directory(self) -> str:
        """Where the next command runs; `hooks-approval` reads it."""
        return str(self._session.directory)

    def is_harmless(self, command: str) -> bool:
        """Whether `allow` names a command; `hooks-approval` asks it."""
        return self._permission.is_harmless(command, self.directory)

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: outside of the sandbox, and where there is none."""
        try:
            arguments = self._check(dict(input))
        except InvalidArgumentsError:
            return False  # the call itself says so
        return self._needs_person(arguments)

    def shows_changes(self, input: Mapping[str, Any]) -> bool:
        """Whether a person can be asked about the changes of a command before they are made."""
        try:
            arguments = self._check(dict(input))
        except InvalidArgumentsError:
            return True  # it changes nothing
        if arguments.sandbox != "default" or arguments.run_in_background:
            return False
        return self._permission.profile == "read-only" or self._kept.has_layers()

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run a command; what it does wrong is in the result."""
        try:
            arguments = self._check(input)
            context = find_context()
            if context is not None and (before := context.asked_before) is not None:
                async with self._take_turn():
                    return ToolResult(output=await continue_command(context, before, self._kept))
            if arguments.run_in_background:
                return ToolResult(output=await self._begin_job(arguments))
            async with self._take_turn():
                return ToolResult(output=await self._run(arguments))
        except InvalidArgumentsError as error:
            return make_failure(str(error), INVALID, self._max_bytes)
        except HeldChangeError as error:
            message = f"the command has run, and nothing that it changed is kept: {error}"
            return make_failure(message, type(error).__name__, self._max_bytes)
        except (LaunchError, NotApprovedError, TooManyJobsError) as error:
            return make_failure(str(error), type(error).__name__, self._max_bytes)

    def _check(self, input: dict[str, Any]) -> BashArguments:
        arguments = check_arguments(BashArguments, input)
        size = len(arguments.command.encode("utf-8", "surrogatepass"))
        if size > MAX_COMMAND_BYTES:
            raise InvalidArgumentsError(
                f"`command` has {size:,} bytes, and no more than {MAX_COMMAND_BYTES:,} can be run"
                " (write them to a file, and run that)"
            )
        if "\0" in arguments.command or not arguments.command.strip():
            raise InvalidArgumentsError("`command` must be text that is not empty and has no NUL")
        if arguments.sandbox == "none" and not (arguments.reason or "").strip():
            raise InvalidArgumentsError('`reason` is missing; `sandbox: "none"` needs it')
        return arguments

    def _needs_person(self, arguments: BashArguments) -> bool:
        return self._permission.needs_person(
            arguments.command,
            str(self._session.directory),
            leaves_sandbox=arguments.sandbox == "none",
        )

    def _choose_runner(self, arguments: BashArguments) -> CommandRunner:
        """Return what runs a command.

        Raises:
            NotApprovedError: It needs a person's approval, and has none.
        """
        # Once more: a hook may have changed the arguments, or another command the folder.
        if self._needs_person(arguments) and not is_call_approved(self.name):
            raise NotApprovedError(
                "the command was not run: a person must agree to it, and nobody has"
            )
        return self._unconfined if arguments.sandbox == "none" else self._runner

    async def _keep_changes(self, runner: CommandRunner, *, in_layer: bool) -> CommandRunner:
        if self._permission.profile == "read-only":
            return runner
        make_runner = partial(self._kept.make_runner, runner, in_layer=in_layer)
        return await anyio.to_thread.run_sync(make_runner)

    @asynccontextmanager
    async def _take_turn(self) -> AsyncGenerator[None]:
        """Wait until no other command of the session writes."""
        if self.parallel:
            yield
            return
        async with self._lock:
            yield

    async def _begin_job(self, arguments: BashArguments) -> dict[str, Any]:
        runner = self._choose_runner(arguments)
        self._jobs.check()
        runner = await self._keep_changes(runner, in_layer=False)
        note = self._session.find_directory()
        run, over = self._session.prepare(
            arguments.command, arguments.timeout, runner, lambda _output: None
        )
        job = self._jobs.add(run, over)
        try:
            await job.start(self._session.start)
        except BaseException:
            self._jobs.remove(job)
            raise
        begun = {"id": job.id, "status": "running", "sandbox": runner.tier.value}
        return {**begun, "note": note} if note else begun

    async def _run(self, arguments: BashArguments) -> dict[str, Any]:
        runner = self._choose_runner(arguments)
        runner = await self._keep_changes(runner, in_layer=arguments.sandbox == "default")
        notes: list[str | None] = [self._session.find_directory()]
        begun_in = self._session.directory
        limit = self._limit(arguments.timeout)
        run, over = self._session.prepare(arguments.command, limit, runner, _make_reporter())
        try:
            notes += await self._run_to_end(run, over)
        except anyio.get_cancelled_exc_class():
            run.kill()
            with anyio.move_on_after(KILL_SECONDS, shield=True):
                await over.wait()
            await stop_waiting(runner)
            if not over.is_set() or not _may_answer():
                raise
        end = describe_end(run)
        taken = run.output.take(is_over=True)
        if run.ending is not None:
            notes.append(self._session.follow(run.ending.directory))
            if run.ending.timed_out and limit < (arguments.timeout or 0):
                notes.append(
                    f"the session gives a call {limit:g} s (`run_in_background` has no limit)"
                )
            notes += [*run.notes]
            notes += [f"the sandbox removed `{each}`" for each in run.ending.removed]
        result = {"output": taken.text, **end, "seconds": round(run.seconds, 2)}
        if self._session.directory != begun_in:
            result["directory"] = self._session.show(self._session.directory)
        result |= {"sandbox": runner.tier.value, **describe_file(taken)}
        if runner.tier is not Tier.NONE and run.ending is not None:
            edge = self._edges.find_edge(taken.text, run.ending)
            if edge is not None:
                result["edge"] = edge
        said = list(filter(None, notes))
        if run.ending is not None:
            said += await ask_about_changes(runner, result, said)
        return {**result, **({"note": "; ".join(said)} if said else {})}

    async def _run_to_end(self, run: CommandRun, over: anyio.Event) -> list[str]:
        """Start a command and wait for its end; return what is to be said of hosts."""
        if self._hosts is not None:
            return await self._hosts.run_to_end(run, over, self._session.start)
        self._session.start(run)
        await over.wait()
        return []

    def _limit(self, timeout: float | None) -> float:
        """Return the seconds that a command has: its loop ends the call, and loses its output."""
        seconds = self._timeout if timeout is None else timeout
        limit = self._find_limit()
        return seconds if limit is None else min(seconds, max(limit - KILL_SECONDS, limit / 2))


def _may_answer() -> bool:
    """Whether the call that is cancelled may have a result: what ends it is a loop of ours.

    The cancellation of anybody else goes on, and so does every one of trio.
    """
    task = find_asyncio_task()
    return task is not None and task.cancelling() <= 1 and is_ending()


def _make_reporter() -> Callable[[CapturedOutput], object]:
    """Return what shows the end of an output as the progress of the call that runs here."""
    try:
        progress = ToolContext.current().progress
    except LookupError:
        return lambda _output: None

    def report(output: CapturedOutput) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            progress(output.show_end())

    return report
