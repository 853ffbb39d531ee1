"""What a hook says by its exit code and its output, and the strictest of several answers."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from amplifier_guard import TerminalText

from .hook_files import JUDGING, ShellHook
from .hook_process import FinishedHook

_BLOCKS = 2
_NOT_FOUND = 127
_NOT_EXECUTABLE = 126
_MAX_CHARS = 10_000
_MAX_REASON_CHARS = 2000
_SPEAKS_PLAINLY = frozenset({"SessionStart", "UserPromptSubmit"})
"""The events of which plain output is for the model."""


@dataclass(frozen=True)
class Answer:
    """What one hook says, or several together."""

    denied: str | None = None
    """Why it blocks; None if it does not."""
    asked: str | None = None
    """What it has a person asked; None for nothing."""
    changed: tuple[Mapping[str, Any], ...] = ()
    """The arguments that it wants in the place of those of the call."""
    contexts: tuple[str, ...] = ()
    """What the model is to read."""
    stopped: str | None = None
    """Why the turn is to end; None if it is not."""
    notes: tuple[str, ...] = field(default=())
    """What a person is to read."""


class _AnswerError(ValueError):
    """An answer that cannot be used."""


def read_answer(hook: ShellHook, finished: FinishedHook) -> Answer:
    """Return what a hook says.

    A hook that decides and says nothing that can be used denies; that of another event is a note.
    """
    try:
        failure = _find_failure(finished)
        if failure is not None:
            raise _AnswerError(failure)
        ending = finished.ending
        if ending is not None and ending.exit_code == _BLOCKS:
            reason = _show(finished.errors.decode("utf-8", "replace"), _MAX_REASON_CHARS)
            return Answer(denied=reason or "it gave no reason")
        return _read_output(hook, finished)
    except _AnswerError as error:
        note = f"the hook {_show_hook(hook)} of `{hook.event}` {error}"
        return Answer(denied=note) if hook.event in JUDGING else Answer(notes=(note,))


def join_answers(answers: Iterable[Answer]) -> Answer:
    """Return what several hooks say together."""
    listed = list(answers)
    changed: list[Mapping[str, Any]] = []
    for each in (changed_to for answer in listed for changed_to in answer.changed):
        if each not in changed:
            changed.append(each)
    return Answer(
        denied=_join_texts(each.denied for each in listed),
        asked=_join_texts(each.asked for each in listed),
        changed=tuple(changed),
        contexts=tuple(text for each in listed for text in each.contexts),
        stopped=_join_texts(each.stopped for each in listed),
        notes=tuple(text for each in listed for text in each.notes),
    )


def _join_texts(texts: Iterable[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(each for each in texts if each is not None)) or None


def _find_failure(finished: FinishedHook) -> str | None:
    """Return why what a hook wrote does not count; None where it does."""
    ending = finished.ending
    if ending is None:
        return f"could not be started: {_show(finished.failure, _MAX_REASON_CHARS)}"
    if ending.timed_out:
        return "did not end in time"
    if ending.signal is not None or ending.exit_code is None:
        return f"was killed{_name_signal(ending.signal)}"
    if ending.exit_code in (0, _BLOCKS):
        return None
    said = _show(finished.errors.decode("utf-8", "replace"), _MAX_REASON_CHARS)
    what = {
        _NOT_FOUND: "was not found",
        _NOT_EXECUTABLE: "cannot be executed",
    }.get(ending.exit_code, f"ended with exit code {ending.exit_code}")
    return f"{what}: {said}" if said else what


def _name_signal(number: int | None) -> str:
    try:
        return "" if number is None else f" by {signal.Signals(number).name}"
    except ValueError:
        return f" by signal {number}"


def _read_output(hook: ShellHook, finished: FinishedHook) -> Answer:
    written = finished.output.strip()
    if not written.startswith(b"{"):
        text = _show(written.decode("utf-8", "replace"), _MAX_CHARS)
        return Answer(contexts=(text,) if text and hook.event in _SPEAKS_PLAINLY else ())
    if finished.is_cut:
        raise _AnswerError("wrote too much")
    try:
        found: Any = json.loads(written.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _AnswerError(f"wrote JSON that cannot be read: {type(error).__name__}") from error
    return _read_object(hook.event, cast("dict[str, Any]", found))


def _read_object(event: str, found: Mapping[str, Any]) -> Answer:
    specific: Any = found.get("hookSpecificOutput")
    if specific is None:
        specific = {}
    if not isinstance(specific, dict):
        raise _AnswerError("wrote a `hookSpecificOutput` that is no object")
    of_event = cast("dict[str, Any]", specific)
    if of_event.get("hookEventName", event) != event:
        raise _AnswerError("answered another event")
    decision, reason = _find_decision(event, found, of_event)
    shown = _read_text(reason, "a reason") or "it gave no reason"
    context = _read_text(of_event.get("additionalContext"), "`additionalContext`", _MAX_CHARS)
    message = _read_text(found.get("systemMessage"), "`systemMessage`")
    changed = of_event.get("updatedInput") if event == "PreToolUse" else None
    if changed is not None and not isinstance(changed, dict):
        raise _AnswerError("wrote an `updatedInput` that is no object")
    continues: Any = found.get("continue", True)
    if not isinstance(continues, bool):
        raise _AnswerError("wrote a `continue` that is neither true nor false")
    stopped = None
    if not continues:
        stopped = _read_text(found.get("stopReason"), "`stopReason`") or "a hook ended the turn"
    return Answer(
        denied=shown if decision in ("block", "deny") else None,
        asked=shown if decision == "ask" else None,
        changed=() if changed is None else (cast("dict[str, Any]", changed),),
        contexts=(context,) if context else (),
        stopped=stopped,
        notes=(message,) if message else (),
    )


def _find_decision(
    event: str, found: Mapping[str, Any], specific: Mapping[str, Any]
) -> tuple[str | None, Any]:
    """Return what is decided, and why.

    Raises:
        _AnswerError: It is a word that we do not know.
    """
    decision: Any = specific.get("permissionDecision") if event == "PreToolUse" else None
    known, reason = ("allow", "deny", "ask"), specific.get("permissionDecisionReason")
    if decision is None:
        decision, reason = found.get("decision"), found.get("reason")
        known = (
            ("approve", "allow", "block", "deny", "ask")
            if event == "PreToolUse"
            else ("block", "approve")
        )
    if decision is None:
        return None, None
    if not isinstance(decision, str) or decision not in known:
        raise _AnswerError("wrote a decision that is not known here")
    return decision, reason


def _read_text(value: Any, what: str, most: int = _MAX_REASON_CHARS) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _AnswerError(f"wrote {what} that is no text")
    return _show(value, most)


def _show(text: str, most: int) -> str:
    """Return a text without what a terminal would act on, and not too long."""
    shown = TerminalText.show(text.strip())
    return shown if len(shown) <= most else f"{shown[:most]}… (cut)"


def _show_hook(hook: ShellHook) -> str:
    return f"`{TerminalText.line(hook.command, 100)}`"
