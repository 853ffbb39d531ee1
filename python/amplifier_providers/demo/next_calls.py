"""The tool calls of the next step."""

from __future__ import annotations

from typing import Any

from .build_files import is_build_file
from .conversation import Turn
from .prompt import name_pattern, word_pattern, words_to_look_for
from .survey import EVERY_FILE, TODO_PATTERN, Survey
from .wire import Call, new_call

_MAX_LARGEST_FILES = 10
_MAX_PLACES = 5
_MAX_LINES = 400
_MAX_BUILD_FILES = 6
_MAX_NAMED_FILES = 2
_README_ORDER = (".md", ".markdown", ".rst", ".txt", "")


def next_calls(turn: Turn, survey: Survey) -> list[Call]:
    """Return the calls to make now, in parallel; none means that it is time to report."""
    match turn.rounds:
        case 0:
            return _look_around(turn)
        case 1:
            return _read_what_matters(turn, survey)
        case _:
            return []


def files_to_read(survey: Survey) -> list[str]:
    """Return the files that say what the folder is, then those that the prompt seems to mean."""
    if survey.listing is not None:
        names = survey.listing.files
    else:
        found = survey.files.files if survey.files else []
        names = [path for path, _ in found if "/" not in path]
    readme = readme_of(names)
    chosen = [readme] if readme else []
    if not chosen and survey.listing is not None and survey.listing.truncated:
        chosen = ["README.md"]  # it may be in the part of the listing that was cut off
    chosen += [name for name in names if is_build_file(name)][:_MAX_BUILD_FILES]
    for count in survey.names.values():
        chosen += [path for path, _ in count.files[:_MAX_NAMED_FILES]]
    return list(dict.fromkeys(chosen))


def readme_of(names: list[str]) -> str | None:
    """Return the README among `names`, the one that is meant for people if there are several."""
    for ending in _README_ORDER:
        for name in names:
            if name.lower() == f"readme{ending}":
                return name
    return next((name for name in names if name.lower().startswith("readme.")), None)


def _look_around(turn: Turn) -> list[Call]:
    wishes: list[tuple[str, dict[str, Any]]] = [
        ("list_directory", {"path": "."}),
        ("glob", {"pattern": EVERY_FILE, "sort": "size", "limit": _MAX_LARGEST_FILES}),
        ("grep", {"pattern": TODO_PATTERN, "mode": "content", "limit": _MAX_PLACES}),
    ]
    for word in words_to_look_for(turn.prompt):
        search = {"pattern": word_pattern(word), "mode": "content", "ignore_case": True}
        wishes.append(("grep", {**search, "limit": _MAX_PLACES}))
        if (pattern := name_pattern(word)) is not None:
            wishes.append(("glob", {"pattern": pattern, "limit": _MAX_PLACES}))
    return _keep_available(turn, wishes)


def _read_what_matters(turn: Turn, survey: Survey) -> list[Call]:
    return _keep_available(
        turn,
        [("read_file", {"path": path, "limit": _MAX_LINES}) for path in files_to_read(survey)],
    )


def _keep_available(turn: Turn, wishes: list[tuple[str, dict[str, Any]]]) -> list[Call]:
    """Keep the calls of available tools, with the parameters that they declare."""
    calls: list[Call] = []
    for name, arguments in wishes:
        declared = turn.tools.get(name)
        if declared is not None:
            kept = {
                key: value for key, value in arguments.items() if not declared or key in declared
            }
            calls.append(new_call(name, kept))
    return calls
