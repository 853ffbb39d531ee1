"""Which stored session a person means: by its id, its name or a part of its title."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.printable import printable_line
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo

SHORT_ID_CHARS = 8
"""So much of an id is shown; as much is enough to name it."""
_MIN_ID_CHARS = 4
_MAX_TITLE_CHARS = 60
_MAX_NAMED = 5
LIST = "amplifier-core session list"


def list_in_folder(infos: Iterable[SessionInfo], folder: Path) -> list[SessionInfo]:
    """Return the sessions that work in a folder, without their sub-agents."""
    return [each for each in infos if each.parent is None and is_in_folder(each, folder)]


def is_in_folder(info: SessionInfo, folder: Path) -> bool:
    """Whether a session works in a folder."""
    return info.meta.get("folder") == str(folder)


def find_latest(infos: Iterable[SessionInfo], folder: Path) -> SessionInfo:
    """Return the session of a folder that was last written to.

    Raises:
        Failure: There is none.
    """
    found = next(iter(list_in_folder(infos, folder)), None)
    if found is None:
        hint = f"`{LIST} --all` shows those of other folders"
        message = f"no session is stored for the folder `{folder}`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    return found


def find_session(infos: Sequence[SessionInfo], text: str, folder: Path) -> SessionInfo:
    """Return the session that a text names: by its id, its name, or a part of its title.

    Raises:
        Failure: None or several are meant.
    """
    found = find_sessions(infos, text, folder)
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"no stored session has the id, the name or the title `{text}`"
        hint = f"`{LIST} --all` shows them"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    named = ", ".join(describe_session(each) for each in found[:_MAX_NAMED])
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    message = f"`{text}` is {len(found)} sessions: {named}{more}"
    raise Failure(message, hint="name one by its id", exit_code=WRONG_USAGE)


def find_sessions(infos: Sequence[SessionInfo], text: str, folder: Path) -> list[SessionInfo]:
    """Return the sessions that a text can mean; those of the folder alone where it has some."""
    for matches in _list_matchers(text):
        if found := [each for each in infos if matches(each)]:
            return [each for each in found if is_in_folder(each, folder)] or found
    return []


def describe_session(info: SessionInfo) -> str:
    """Return the short id of a session and what it is about."""
    return f"`{short_id(info)}` ({title_of(info)})"


def short_id(info: SessionInfo) -> str:
    """Return the beginning of an id."""
    return printable_line(info.id)[:SHORT_ID_CHARS]


def title_of(info: SessionInfo, limit: int = _MAX_TITLE_CHARS) -> str:
    """Return the name of a session, or else what its first prompt began with."""
    title = info.meta.get("name") or info.meta.get("title")
    return printable_line(title, limit) if isinstance(title, str) else "without a title"


def describe_fork(info: SessionInfo) -> dict[str, Any]:
    """Return the `meta` of a fork: it has a name of its own."""
    return {**info.meta, "name": f"{title_of(info)} (fork)", "started": world.time()}


def _list_matchers(text: str) -> Iterator[Callable[[SessionInfo], bool]]:
    folded = text.casefold()

    # Sub-agents are meant by their ids alone.
    def has_name(info: SessionInfo) -> bool:
        return info.parent is None and str(info.meta.get("name", "")).casefold() == folded

    def has_title(info: SessionInfo) -> bool:
        if info.parent is not None:
            return False
        titles = (info.meta.get("name", ""), info.meta.get("title", ""))
        return any(folded in str(each).casefold() for each in titles)

    yield lambda info: info.id == text
    if text:
        yield has_name
    if len(text) >= _MIN_ID_CHARS:
        yield lambda info: info.id.startswith(text)
    if text:
        yield has_title
