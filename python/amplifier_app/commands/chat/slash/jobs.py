"""`/jobs`: the commands in the background of a session, as a person lists and ends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.line_input.candidate import Candidate
from amplifier_app.time_of_day import write_time
from amplifier_core.session_capabilities import BASH_JOBS, BASH_KILL_JOB

_MAX_CHARS = 200


def _answer(context: CommandContext, argument: str) -> Shown:
    """Obey `/jobs`; what follows it is nothing, or `kill` and an id.

    Raises:
        Failure: There is no such job, or it is not to be understood.
    """
    words = argument.split()
    if not words:
        lines = [line for job in _list_jobs(context) for line in _describe_job(job)]
        return lines or ["there are no jobs"]
    if words[0] != "kill" or len(words) != 2:
        hint = "`/jobs` lists the jobs, `/jobs kill ID` ends one"
        raise Failure(f"`/jobs {argument}` is not to be understood", hint=hint)
    return [_kill(words[1], context.turns.find_capability(BASH_KILL_JOB))]


def _list_jobs(context: CommandContext) -> list[Any]:
    list_jobs = context.turns.find_capability(BASH_JOBS)
    return [] if list_jobs is None else list_jobs()


def _kill(id: str, kill_job: Callable[[str], bool] | None) -> str:
    try:
        if kill_job is None:
            raise LookupError(f"no job `{id}`")
        is_ending = kill_job(id)
    except LookupError as error:
        raise Failure(str(error.args[0]), hint="`/jobs` lists them") from error
    return f"`{id}` {'is being ended' if is_ending else 'has ended already'}"


def _describe_job(job: Any) -> Iterator[str]:
    """Yield a line about a job, and one with the last of its output."""
    state = {"timed_out": "timed out"}.get(job.status, job.status)
    if job.exit_code is not None:
        state = f"exited with {job.exit_code}"
    command = SECRETS.write_line(job.command, _MAX_CHARS)
    yield f"{job.id}  {state}, since {write_time(job.begun)}: {command}"
    if last_line := SECRETS.write_line(job.last_line, _MAX_CHARS):
        yield f"    {last_line}"


def _complete_jobs(context: CommandContext, _: str) -> Iterator[Candidate]:
    for job in _list_jobs(context):
        if job.exit_code is None:
            yield Candidate(f"kill {job.id}", SECRETS.write_line(job.command, _MAX_CHARS))


JOBS = Command(
    name="/jobs",
    usage="[kill ID]",
    brief="what runs behind",
    about="List the commands in the background; `/jobs kill ID` ends one.",
    group=Group.TOOLS,
    run=_answer,
    complete=_complete_jobs,
    tools=("tool-bash",),
)
