"""`/init`, by which a model drafts the notes of a project."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always

_PROMPT = """\
Draft the file `AGENTS.md` in the working folder: what an agent has to know to work on this project.
Look first: the README, the build files, the tests, how the code is laid out. Where `AGENTS.md` is
there already, keep what is right in it and improve the rest; where there are `CLAUDE.md` or other
notes for agents, take over what counts.

Write down, in at most 60 short lines of Markdown:
- the commands to build, test (all, and one alone), lint and run, as you found them in files;
- what is where, if the names do not say so;
- rules of the code that cannot be seen in one file;
- what goes wrong easily.

Leave out what every project has, what can be seen at once, and all that you did not see. No keys,
no names of people, no paths of this computer."""


def _write_prompt(wish: str) -> str:
    """Return the prompt, with what the person wants besides."""
    return f"{_PROMPT}\n\nBesides: {wish}" if wish else _PROMPT


async def _write_notes(context: CommandContext, wish: str) -> Shown:
    await context.turns.run(_write_prompt(wish))
    return ()


INIT = Command(
    name="/init",
    usage="[WISH]",
    brief="draft `AGENTS.md`",
    about="Have `AGENTS.md` of the project drafted, or improved: what agents have to know of it.",
    group=Group.TOOLS,
    run=_write_notes,
    waits=wait_always,
    tools=("tool-filesystem",),
)
