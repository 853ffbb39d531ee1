"""`amplifier-core session verify`: whether what is stored is what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import find_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store


def verify_sessions(
    report: Report, text: str | None, folder: Path, entry: Mapping[str, Any] | None
) -> None:
    """Read a session, or all of them, and write what is wrong.

    Raises:
        Failure: Something is.
    """
    from amplifier_app.commands.session.list import describe_info

    async def verify(store: Store) -> list[tuple[SessionInfo, list[str]]]:
        infos = await store.sessions()
        chosen = infos if text is None else [find_session(infos, text, folder)]
        return [(info, await _list_problems(store, info)) for info in chosen]

    unreadable: list[str] = []
    found = run_on_store(verify, entry, unreadable)
    damaged = [(info, problems) for info, problems in found if problems]
    if report.as_json:
        report.write_list(
            [{**describe_info(info), "problems": problems} for info, problems in found]
        )
    elif not damaged and not unreadable:
        whole = "is" if len(found) == 1 else "are"
        report.write_lines([f"{count_noun(len(found), 'session')} {whole} whole"])
    else:
        report.write_lines([each for _, problems in damaged for each in problems] + unreadable)
    if unreadable:
        raise Failure(f"{count_noun(len(unreadable), 'file')} of sessions cannot be read")
    if damaged:
        raise Failure(f"damaged: {len(damaged):,} of {count_noun(len(found), 'session')}")


async def _list_problems(store: Store, info: SessionInfo) -> list[str]:
    from amplifier_modules.stores import StoreError

    verify: Any = getattr(store, "verify", None)
    try:
        if verify is not None:
            return list(await verify(info.id))
        await store.read(info.id)
    except StoreError as error:
        return [str(error)]
    return []
