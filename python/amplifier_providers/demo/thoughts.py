"""The thoughts of the demo model before each step."""

from __future__ import annotations

from amplifier_guard import TerminalText
from amplifier_providers.running.count_noun import count_noun

from .conversation import Turn
from .languages import count_languages
from .markup import code, list_names, number
from .prompt import words_to_look_for
from .readings import text
from .survey import TODO, Survey
from .wire import Call

_MAX_PROMPT_CHARS = 200
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
    asked = TerminalText.line(" ".join(turn.prompt.split()), _MAX_PROMPT_CHARS)
    thoughts = [f"The request is: “{asked}”." if asked else "The request is empty."]
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
    thoughts = _impressions(survey)
    paths = [text(call.input.get("path")) for call in calls]
    thoughts.append(
        f"These files should say what it is about, so I read them: {list_names(paths, 10)}."
    )
    return " ".join(thoughts)


def _impressions(survey: Survey) -> list[str]:
    thoughts: list[str] = []
    if survey.files is not None:
        size = f"{number(survey.files.total_bytes)} bytes"
        seen = "I see" if not survey.files.left_out else "The folder is large; I looked at"
        thoughts.append(f"{seen} {count_noun(survey.files.total, 'file')} with {size} in all.")
        known, _ = count_languages(survey.files.extensions)
        first = list(known.items())[:_MAX_LANGUAGES]
        if first:
            kinds = ", ".join(f"{language} ({number(count)})" for language, count in first)
            thoughts.append(f"Most common among them: {kinds}.")
        if survey.files.by_size and survey.files.files:
            path, size = survey.files.files[0]
            thoughts.append(f"The largest is {code(path)} with {number(size)} bytes.")
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
    thoughts = [] if survey.texts else _impressions(survey)
    if survey.texts:
        thoughts.append(f"I have read {list_names(list(survey.texts), 10)}.")
    thoughts.append("Now I write the report, with no figures but those of the tools.")
    return " ".join(thoughts)
