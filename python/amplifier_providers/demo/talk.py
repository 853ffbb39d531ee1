"""What the demo model says of itself, of the conversation, and to what it does not understand."""

from __future__ import annotations

import re

from .conversation import Turn
from .markup import code, quote
from .prompt import words_to_look_for
from .tool_schema import Tool

FILE_TOOLS = frozenset({"glob", "grep", "list_directory", "read_file"})
"""The tools with which it looks at a folder."""
_MAX_TOOLS = 30
_MAX_SHOWN = 20
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
    can_look = not FILE_TOOLS.isdisjoint(turn.tools)
    return can_look and bool(_SEARCH.search(turn.prompt) and words_to_look_for(turn.prompt))


def reply(turn: Turn) -> str | None:
    """Answer what is said to the model itself; None for anything else."""
    prompt = turn.prompt.strip()
    if _JUDGE.match(prompt):
        return f"{_SELF} I cannot judge whether a goal is reached."
    if said := _SAID.search(prompt):
        return _memory(turn, said)
    if _IDENTITY.search(prompt):
        return f"{_SELF}\n\n{abilities(turn)}"
    if _ABILITIES.search(prompt):
        return abilities(turn)
    if _GREETING.search(prompt):
        return f"Hello! {_SELF}\n\n{abilities(turn)}"
    return None


def misunderstood(turn: Turn) -> str:
    """Say that a request was not understood, and what can be asked instead."""
    if not turn.prompt.strip():
        return f"The request is empty.\n\n{abilities(turn)}"
    return (
        "I did not understand that: I am the demo model, a program and not a language model.\n\n"
        f"{abilities(turn)}"
    )


def abilities(turn: Turn) -> str:
    """List what can be asked."""
    lines: list[str] = []
    if not FILE_TOOLS.isdisjoint(turn.tools):
        lines += [
            "- I give a tour of this folder: “Give me a tour of this project”.",
            "- I look for words and files in it: “Where is `main`?”.",
        ]
    if turn.described:
        lines.append("- I call any of these tools when you name one, with its arguments:")
        tools = list(turn.described.values())
        lines += [f"  - {_tool(tool)}" for tool in tools[:_MAX_TOOLS]]
        if len(tools) > _MAX_TOOLS:
            lines.append(f"  - and {len(tools) - _MAX_TOOLS} more")
    else:
        lines.append("- No tool is mounted, so I cannot look at anything.")
    lines.append("- I remember this conversation: “What did I say first?”.")
    return "I can do this:\n\n" + "\n".join(lines) + "\n\nFor Claude, set `ANTHROPIC_API_KEY`."


def _tool(tool: Tool) -> str:
    arguments = ", ".join(name if name in tool.required else f"{name}?" for name in tool.properties)
    about = " ".join(tool.description.split()).partition(". ")[0].rstrip(".")
    if len(about) > _MAX_DESCRIPTION:
        about = about[:_MAX_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    return code(f"{tool.name}({arguments})") + (f": {about}" if about else "")


def _memory(turn: Turn, asked: re.Match[str]) -> str:
    """Say what was said before, by the user or by the model."""
    is_mine = (asked["who"] or asked["whose"]).lower() in {"you", "your"}
    said = turn.answers if is_mine else turn.earlier
    subject = "I" if is_mine else "You"
    words = asked[0]
    if not said:
        return f"{subject} said nothing before this: it is the first message of our conversation."
    if about := _ABOUT.search(words):
        word = about[1].strip("`\"'“”")
        found = [each for each in said if word.lower() in each.lower()]
        if not found:
            return f"{subject} said nothing about {code(word)} in this conversation."
        return f"{subject} said about {code(word)}:\n\n{_quote(found)}"
    if _FIRST.search(words):
        return f"First, {subject.replace('You', 'you')} said:\n\n{quote(said[0])}"
    if _LAST.search(words):
        return f"Last, {subject.replace('You', 'you')} said:\n\n{quote(said[-1])}"
    return f"{subject} said, in this order:\n\n{_quote(said)}"


def _quote(said: list[str]) -> str:
    more = len(said) - _MAX_SHOWN
    left_out = f"\n\nand {more} more" if more > 0 else ""
    return "\n\n".join(quote(each) for each in said[:_MAX_SHOWN]) + left_out
