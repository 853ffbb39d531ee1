"""Answers about the demo model itself and the conversation, and to what it does not understand."""

from __future__ import annotations

import re

from .edit_progress import EDIT_TOOLS, RUN
from .foreign import list_names, quote, write_code
from .known_functions import KNOWN_FUNCTIONS
from .prompt import words_to_look_for
from .tool_schema import Tool
from .turn import Turn

SEARCH_TOOLS = frozenset({"glob", "grep"})
"""The tools with which it finds words and files."""
FOLDER_TOOLS = SEARCH_TOOLS | {"list_directory"}
"""The tools with which it looks at a folder."""
_MAX_TOOLS = 30
_MAX_SHOWN = 20
_MAX_FUNCTIONS = 8
_MAX_DESCRIPTION = 120

_SELF = (
    "I am the demo model: a program, not a language model. I run on this computer, I need no key and"
    " cost nothing, and I understand only a few kinds of requests."
)
_IDENTITY = re.compile(
    r"\b(?:who|what) are you\b|\bwhat(?:'s| is) your name\b|\bintroduce yourself\b"
    r"|\bare you (?:an? |the |really )?(?:ai|claude|gpt|chatgpt|human|person|robot|bot|program|model"
    r"|language model|llm|demo|real)\b|\bwhat (?:kind of )?model (?:are|is)\b",
    re.IGNORECASE,
)
_JUDGE = re.compile(r"you judge whether\b.*\bgoal\b", re.IGNORECASE)
_ABILITIES = re.compile(
    r"\A\s*help(?: me)?\s*[.!?]*\s*\Z|\bwhat (?:else )?can (?:you|i) (?:do|ask|say)\b"
    r"|\b(?:what|which) tools (?:do|have|can|are)\b|\blist (?:the |your |all )*tools\b|\bhow do you work\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\A\s*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|bye|goodbye)\b"
    r"(?:[\s,]+(?:there|you|demo|model|again|all|very|much))*\s*[.!?]*\s*\Z",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\bwhat (?:did|have|had) (?P<who>i|you) (?:just |first |last )?"
    r"(?:say|said|ask|asked|tell|told|write|wrote|written|answer|answered|reply|replied)\b(?P<rest>.*)"
    r"|\bwhat (?:was|were) (?P<whose>my|your) (?P<which>.*?)"
    r"(?:message|question|prompt|request|answer|reply|words|sentence)s?\b",
    re.IGNORECASE | re.DOTALL,
)
_FIRST = re.compile(r"\b(?:first|begin\w*|start\w*|initial\w*)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:last|latest|previous\w*|before|just|recent\w*)\b", re.IGNORECASE)
_ABOUT = re.compile(r"\babout\s+(.+?)[\s.?!]*\Z", re.IGNORECASE | re.DOTALL)
_TOUR = re.compile(
    r"\b(?:tour|overview|introduction|introduce|summar(?:y|ise|ize)|describe|explain|look around)\b"
    r"|\b(?:project|folder|repo|repository|codebase|directory)\b|\bwhat is (?:here|this)\b",
    re.IGNORECASE,
)
_SEARCH = re.compile(
    r"\?\s*\Z|[`\"“]"
    r"|\A\W*(?:and |so |then |please |now |can you |could you )*(?:where|which|what|who|how|why|when"
    r"|find|search|look|locate|grep|show|list|count|read|open|give|tell|is|are|does|do|has|have)\b",
    re.IGNORECASE,
)


def wants_a_look(turn: Turn) -> bool:
    """Whether the request is for a tour of the folder, or for the places of some words in it."""
    if _TOUR.search(turn.prompt):
        return True
    can_search = not SEARCH_TOOLS.isdisjoint(turn.tools)
    return can_search and bool(_SEARCH.search(turn.prompt) and words_to_look_for(turn.prompt))


def answer_talk(turn: Turn) -> str | None:
    """Answer a message about the model itself or the conversation; None for anything else."""
    prompt = turn.prompt.strip()
    if _JUDGE.match(prompt):
        return f"{_SELF} I cannot judge whether a goal is reached."
    if question := _SAID.search(prompt):
        return _quote_messages(turn, question)
    if _IDENTITY.search(prompt):
        return f"{_SELF}\n\n{list_abilities(turn)}"
    if _ABILITIES.search(prompt):
        return list_abilities(turn)
    if _GREETING.search(prompt):
        return f"Hello! {_SELF}\n\n{list_abilities(turn)}"
    return None


def explain_blindness() -> str:
    """Say that images cannot be seen."""
    return f"{_SELF} I cannot see images; with a key, a model answers that can."


def explain_abilities(turn: Turn) -> str:
    """Answer a request that was not understood with the requests that are."""
    if not turn.prompt.strip():
        return f"The request is empty.\n\n{list_abilities(turn)}"
    return (
        "I did not understand that: I am the demo model, a program and not a language model.\n\n"
        f"{list_abilities(turn)}"
    )


def list_abilities(turn: Turn) -> str:
    """List the requests that are understood with these tools, each with an example to type."""
    lines: list[str] = []
    if not FOLDER_TOOLS.isdisjoint(turn.tools):
        lines.append("- I give a tour of this folder: “Give me a tour of this project”.")
    if not SEARCH_TOOLS.isdisjoint(turn.tools):
        lines.append("- I look for words and files in it: “Where is `main`?”.")
    if turn.tools.keys() >= EDIT_TOOLS:
        known = list_names(sorted(KNOWN_FUNCTIONS), _MAX_FUNCTIONS)
        tests = " and run its test" if RUN in turn.tools else " and write its test"
        lines.append(
            f"- I add a function to a Python file{tests}: “Add a function add to calc.py and test it”."
            f" I can write {known}."
        )
        lines.append("- I take back what I changed last in this conversation: “Undo that”.")
    if turn.tools:
        lines.append("- I call any of these tools when you name one, with its arguments:")
        tools = list(turn.tools.values())
        lines += [f"  - {_describe_tool(tool)}" for tool in tools[:_MAX_TOOLS]]
        if len(tools) > _MAX_TOOLS:
            lines.append(f"  - and {len(tools) - _MAX_TOOLS} more")
        if turn.far is not None and turn.far.named:
            others = list_names(list(turn.far.named), _MAX_TOOLS)
            lines.append(f"  - and, once I have looked them up: {others}")
    else:
        lines.append("- No tool is mounted, so I cannot look at anything.")
    lines.append("- I remember this conversation: “What did I say first?”.")
    return "I can do this:\n\n" + "\n".join(lines) + "\n\nFor Claude, set `ANTHROPIC_API_KEY`."


def _describe_tool(tool: Tool) -> str:
    arguments = ", ".join(name if name in tool.required else f"{name}?" for name in tool.properties)
    about = " ".join(tool.description.split()).partition(". ")[0].rstrip(".")
    if len(about) > _MAX_DESCRIPTION:
        about = about[:_MAX_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    return write_code(f"{tool.name}({arguments})") + (f": {about}" if about else "")


def _quote_messages(turn: Turn, question: re.Match[str]) -> str:
    """Quote earlier messages, of the user or of the model."""
    is_mine = (question["who"] or question["whose"]).lower() in {"you", "your"}
    messages = turn.answers if is_mine else [each.prompt for each in turn.past]
    subject = "I" if is_mine else "You"
    words = question[0]
    if not messages:
        return f"{subject} said nothing before this: it is the first message of our conversation."
    if about := _ABOUT.search(words):
        word = about[1].strip("`\"'“”")
        found = [each for each in messages if word.lower() in each.lower()]
        if not found:
            return f"{subject} said nothing about {write_code(word)} in this conversation."
        return f"{subject} said about {write_code(word)}:\n\n{_quote(found)}"
    if _FIRST.search(words):
        return f"First, {subject.replace('You', 'you')} said:\n\n{quote(messages[0])}"
    if _LAST.search(words):
        return f"Last, {subject.replace('You', 'you')} said:\n\n{quote(messages[-1])}"
    return f"{subject} said, in this order:\n\n{_quote(messages)}"


def _quote(messages: list[str]) -> str:
    more = len(messages) - _MAX_SHOWN
    left_out = f"\n\nand {more} more" if more > 0 else ""
    return "\n\n".join(quote(each) for each in messages[:_MAX_SHOWN]) + left_out
