"""The next step of a look at the folder: the tool calls, and the thoughts before them."""

from __future__ import annotations

from typing import Any

from amplifier_providers.running.count_noun import count_noun

from .foreign import list_names, read_text, write_code, write_number
from .project_files import count_languages, is_build_file
from .prompt import describe_request, name_pattern, word_pattern, words_to_look_for
from .survey import EVERY_FILE, TODO, TODO_PATTERN, Survey
from .turn import Call, Turn, new_call

_MAX_LARGEST_FILES = 10
_MAX_PLACES = 5
_MAX_LINES = 400
_MAX_BUILD_FILES = 6
_MAX_NAMED_FILES = 2
_README_ORDER = (".md", ".markdown", ".rst", ".txt", "")


def choose_calls(turn: Turn, survey: Survey) -> list[Call]:
    """Return the calls to make now, in parallel; none means that it is time to report."""
    match turn.rounds:
        case 0:
            return _look_around(turn)
        case 1:
            return _read_what_matters(turn, survey)
        case _:
            return []


def choose_files(survey: Survey) -> list[str]:
    """Return the files that say what the folder is, then those that the prompt seems to mean."""
    if survey.listing is not None:
        names = survey.listing.files
    else:
        found = survey.files.files if survey.files else []
        names = [path for path, _ in found if "/" not in path]
    readme = find_readme(names)
    chosen = [readme] if readme else []
    if not chosen and survey.listing is not None and survey.listing.truncated:
        chosen = ["README.md"]  # it may be in the part of the listing that was cut off
    chosen += [name for name in names if is_build_file(name)][:_MAX_BUILD_FILES]
    for count in survey.names.values():
        chosen += [path for path, _ in count.files[:_MAX_NAMED_FILES]]
    return list(dict.fromkeys(chosen))


def find_readme(names: list[str]) -> str | None:
    """Return the README among `names`, the one that is meant for people if there are several."""
    for ending in _README_ORDER:
        for name in names:
            if name.lower() == f"readme{ending}":
                return name
    return next((name for name in names if name.lower().startswith("readme.")), None)


def _look_around(turn: Turn) -> list[Call]:
    steps: list[tuple[str, dict[str, Any]]] = [
        ("list_directory", {"path": "."}),
        ("glob", {"pattern": EVERY_FILE, "sort": "size", "limit": _MAX_LARGEST_FILES}),
        ("grep", {"pattern": TODO_PATTERN, "mode": "content", "limit": _MAX_PLACES}),
    ]
    for word in words_to_look_for(turn.prompt):
        search = {"pattern": word_pattern(word), "mode": "content", "ignore_case": True}
        steps.append(("grep", {**search, "limit": _MAX_PLACES}))
        if (pattern := name_pattern(word)) is not None:
            steps.append(("glob", {"pattern": pattern, "limit": _MAX_PLACES}))
    return _keep_available(turn, steps)


def _read_what_matters(turn: Turn, survey: Survey) -> list[Call]:
    return _keep_available(
        turn,
        [("read_file", {"path": path, "limit": _MAX_LINES}) for path in choose_files(survey)],
    )


def _keep_available(turn: Turn, steps: list[tuple[str, dict[str, Any]]]) -> list[Call]:
    """Keep the calls of available tools, with the parameters that they declare."""
    calls: list[Call] = []
    for name, arguments in steps:
        tool = turn.tools.get(name)
        if tool is not None:
            declared = tool.properties
            known = {
                key: value for key, value in arguments.items() if not declared or key in declared
            }
            calls.append(new_call(name, known))
    return calls


_MAX_NAMES = 6
_MAX_LANGUAGES = 3


def think(turn: Turn, survey: Survey, calls: list[Call]) -> str:
    """Return the thoughts before `calls` are made, or before the report if there are none."""
    if not turn.results:
        return _before_looking(turn, calls)
    if calls:
        return _after_looking(survey, calls)
    return _before_reporting(survey)


def _before_looking(turn: Turn, calls: list[Call]) -> str:
    thoughts = [describe_request(turn.prompt)]
    if not calls:
        thoughts.append("I have no tools, so I cannot look at the folder.")
        return " ".join(thoughts)
    thoughts.append("I do not know this folder yet, so I look first.")
    plans = {
        "list_directory": "list the folder",
        "glob": "count all files by kind and find the largest",
        "grep": f"count the lines and find the places where {TODO} is written",
    }
    steps = [plan for name, plan in plans.items() if any(call.name == name for call in calls)]
    thoughts.append(f"In parallel, I {', '.join(steps)}.")
    if words := words_to_look_for(turn.prompt):
        thoughts.append(
            f"I also look for {list_names(words, _MAX_NAMES)}, which the request names."
        )
    return " ".join(thoughts)


def _after_looking(survey: Survey, calls: list[Call]) -> str:
    thoughts = _describe_impressions(survey)
    paths = [read_text(call.input.get("path")) for call in calls]
    thoughts.append(
        f"These files should say what it is about, so I read them: {list_names(paths, 10)}."
    )
    return " ".join(thoughts)


def _describe_impressions(survey: Survey) -> list[str]:
    thoughts: list[str] = []
    if survey.files is not None:
        size = f"{write_number(survey.files.total_bytes)} bytes"
        seen = "I see" if not survey.files.left_out else "The folder is large; I looked at"
        thoughts.append(f"{seen} {count_noun(survey.files.total, 'file')} with {size} in all.")
        known, _ = count_languages(survey.files.extensions)
        first = list(known.items())[:_MAX_LANGUAGES]
        if first:
            kinds = ", ".join(f"{language} ({write_number(count)})" for language, count in first)
            thoughts.append(f"Most common among them: {kinds}.")
        if survey.files.by_size and survey.files.files:
            path, size = survey.files.files[0]
            thoughts.append(f"The largest is {write_code(path)} with {write_number(size)} bytes.")
    if survey.todos is not None:
        lines = count_noun(survey.todos.total_matches, "line")
        thoughts.append(f"{lines} with {TODO}.")
    if survey.listing is not None and survey.listing.directories:
        shown = list_names(survey.listing.directories, _MAX_NAMES)
        folders = "folder" if len(survey.listing.directories) == 1 else "folders"
        thoughts.append(f"At the top level: the {folders} {shown}.")
    if survey.problems:
        thoughts.append("Some tool calls failed; the report says which.")
    return thoughts


def _before_reporting(survey: Survey) -> str:
    if survey.is_empty:
        return "The folder is empty, and the report says so."
    thoughts = [] if survey.texts else _describe_impressions(survey)
    if survey.texts:
        thoughts.append(f"I have read {list_names(list(survey.texts), 10)}.")
    thoughts.append("Now I write the report, with no figures but those of the tools.")
    return " ".join(thoughts)
