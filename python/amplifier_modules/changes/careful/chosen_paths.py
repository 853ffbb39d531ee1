"""Which changes of a command are made while others wait for a person."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from amplifier_modules.changes.change import ChangedPath

from .inherited import Inherited, list_parents


def choose_paths(changes: Sequence[ChangedPath], left_out: Collection[str]) -> list[str]:
    """Return the paths to commit, so that nothing at or beneath those left out changes.

    A folder is chosen with all that is beneath it: so none is in which something is left out. What
    stands where a folder was would replace all of it: it is left out, too. The project itself is one.

    Args:
        changes: All changes of a command.
        left_out: Paths that stay as they are.
    """
    above = {parent for path in left_out for parent in list_parents(path)}
    replaced = {each.path for each in changes if each.type != "folder" and each.path in above}
    stays = Inherited(frozenset({*left_out, *replaced}).__contains__)
    return [
        each.path
        for each in changes
        if each.path and each.path not in above and stays.find(each.path) is None
    ]
