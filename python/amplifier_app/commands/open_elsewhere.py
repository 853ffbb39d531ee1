"""`--resume` of a session that another process has open: it is followed, or taken over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.sessions.choice import SHORT_ID_CHARS
from amplifier_app.sessions.process import describe_stopped

if TYPE_CHECKING:
    from amplifier_app.sessions.resume import StoredSession
    from amplifier_app.sessions.wish import SessionWish


def meet_process(
    stored: StoredSession,
    entry: Mapping[str, Any] | None,
    folder: Path,
    wish: SessionWish,
    *,
    is_interactive: bool,
) -> int | None:
    """Take the session over or follow it; return the exit code, None where it can go on here.

    Raises:
        Failure: It can neither be had nor followed.
    """
    assert stored.process is not None
    if wish.takes_over:
        from amplifier_app.sessions.taking_over import take_over

        take_over(stored.id, stored.process, entry)
        return None
    says = f"process {stored.process} has `{stored.title}` open"
    if not is_interactive:
        if stopped := describe_stopped(stored.process, stored.id[:SHORT_ID_CHARS]):
            raise Failure(says, hint=stopped)
        hint = f'`amplifier-core queue {stored.id} "…"` sends it a prompt, `--take-over` takes it'
        raise Failure(says, hint=hint)
    from amplifier_app.commands.report import Report
    from amplifier_app.commands.session.follow import follow_session

    show_notice(f"{says}, and is followed here; with `--take-over` it goes on here")
    return Report().run_command(lambda report: follow_session(report, stored.id, folder, entry))
