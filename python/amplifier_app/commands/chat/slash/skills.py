"""`/skills`: the skills of the user and of the project."""

from __future__ import annotations

import os

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown

_MAX_CHARS = 100


def _show_skills(context: CommandContext, _: str) -> Shown:
    """Return a line for each skill, and one for each that is not offered."""
    from amplifier_guard import TerminalText
    from amplifier_modules.tools.skill.skill_files import PROJECT_SKILLS, find_skills

    found = find_skills(context.turns.order.folder, os.environ)
    width = max(map(len, found.skills), default=0)
    lines = [
        f"{each.name:<{width}}  {each.origin:<7}  {TerminalText.line(each.description, _MAX_CHARS)}"
        for each in sorted(
            found.skills.values(), key=lambda each: (each.origin != "user", each.name)
        )
    ]
    if not lines:
        places = " or ".join(f"`{each}/NAME/SKILL.md`" for each in PROJECT_SKILLS)
        lines = [f"there are no skills; one of the project is in {places}"]
    return [*lines, *(f"warning: {each}" for each in found.problems)]


SKILLS = Command(
    name="/skills",
    brief="what can be loaded",
    about="List the skills: what they are for, whose they are, and which are not offered.",
    group=Group.TOOLS,
    run=_show_skills,
)
