"""The report on a function that was added; what it says of a step is what its tool has said."""

from __future__ import annotations

from amplifier_guard import TerminalText

from .edit_progress import RUN, EditProgress
from .foreign import list_names, read_text, read_whole, write_code, write_output
from .known_functions import KNOWN_FUNCTIONS
from .seen_file import File, is_done
from .source_change import Change
from .turn import Result

_MAX_REASON_CHARS = 300


def write_edit_report(progress: EditProgress, *, can_run: bool) -> str:
    """Return the report in Markdown.

    Args:
        progress: What was done.
        can_run: Whether there is a tool that runs commands.
    """
    request = progress.request
    heading = f"# {write_code(request.function)} in {write_code(request.path)}"
    files = "\n".join(_list_files(progress))
    parts = [heading, files, _describe_run(progress, can_run=can_run), _describe_limits(progress)]
    return "\n\n".join(part for part in parts if part)


def _list_files(progress: EditProgress) -> list[str]:
    request = progress.request
    path, function = write_code(request.path), write_code(request.function)
    if progress.had_function:
        lines = [f"- {path} already has {function}, which I leave as it is"]
    else:
        lines = [
            _describe_file(
                progress.code, progress.code_change, progress.code_write, request.path, function
            )
        ]
    test_path, test = write_code(request.test_path), write_code(request.test)
    if progress.had_test:
        return [*lines, f"- {test_path} already has {test}, which I leave as it is"]
    if progress.is_foreign:
        about = f"I do not know what it is to do, as I have not written {function}"
        return [*lines, f"- {test_path} has no {test}, and I write none: {about}"]
    if not progress.has_function:
        return lines
    change, write = progress.test_change, progress.test_write
    return [*lines, _describe_file(progress.test, change, write, request.test_path, test)]


def _describe_file(
    file: File | None, change: Change | None, write: Result | None, path: str, function: str
) -> str:
    shown = write_code(path)
    if change is None:
        reason = _write_reason(file.problem) if file else "nobody has looked at it"
        return f"- {shown} was not changed: {reason}"
    if write is None:
        return f"- {shown} was not changed"
    if not is_done(write):
        return f"- {shown} was not changed: {_write_reason(write.text)}"
    lines = f"lines {change.first_line} to {change.last_line}"
    if file is not None and file.text is None:
        return f"- {shown} is new, with {function} in {lines}"
    return f"- {shown} has {function} in {lines} now; the rest is as it was"


def _describe_run(progress: EditProgress, *, can_run: bool) -> str:
    request, run = progress.request, progress.run
    command = write_code(request.command)
    if not (progress.has_function and progress.has_test):
        return "Nothing was run, as there is no test to run."
    if run is None:
        reason = "" if can_run else f", as there is no tool {write_code(RUN)}"
        return f"I could not run the test{reason}. This runs it: {command}."
    if run.failed:
        return f"{command} did not run:\n\n{write_output(run.text.strip() or 'no reason')}"
    output, end = read_text(run.data.get("output")).rstrip("\n"), _describe_end(run)
    if not run.data:
        output, end = run.text.strip(), "ran"
    said = f"{command} {end} and wrote nothing." if not output else (
        f"{command} {end} and wrote:\n\n{write_output(output)}"
    )  # fmt: skip
    return "\n\n".join(part for part in (said, _judge(progress, run, output)) if part)


def _describe_end(run: Result) -> str:
    code = read_whole(run.data.get("exit_code"))
    if code is not None:
        return f"ended with exit code {code}"
    if run.data.get("timed_out"):
        return "was ended at its time limit"
    signal = read_text(run.data.get("signal"))
    return f"was ended by {write_code(signal)}" if signal else "was ended"


def _judge(progress: EditProgress, run: Result, output: str) -> str:
    """What the end of the command means."""
    request = progress.request
    if not run.data:
        return "How it ended is not said."
    code = read_whole(run.data.get("exit_code"))
    if code:
        return "The test fails, and I do not know how to repair that."
    if code == 0 and request.test not in output:
        return f"This does not say that {write_code(request.test)} was run."
    return ""


def _describe_limits(progress: EditProgress) -> str:
    """What it did not know or did not understand."""
    request = progress.request
    function = write_code(request.function)
    parts: list[str] = []
    if request.function not in KNOWN_FUNCTIONS and is_done(progress.code_write):
        known = list_names(sorted(KNOWN_FUNCTIONS), len(KNOWN_FUNCTIONS))
        parts.append(
            f"I am a program, not a language model, and do not know what {function} is to do: it"
            " raises `NotImplementedError`, and its test is still to be written, too. These are the"
            f" functions that I can write: {known}."
        )
    if request.rest:
        rest = TerminalText.line(request.rest, _MAX_REASON_CHARS)
        parts.append(f"This part of the request I did not understand: “{rest}”.")
    return "\n\n".join(parts)


def _write_reason(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "no reason")
    return TerminalText.line(line, _MAX_REASON_CHARS)
