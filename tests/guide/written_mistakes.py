"""The mistakes of the guide with skills and notes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mistakes import mistake, model

from amplifier_agent import Agent, ScriptedProvider

HEAD = "---\ndescription: How.\nallowed-tools: Read\n---\n"


def run_in(folder: Path, *script: Any, **options: Any) -> ScriptedProvider:
    """Run a turn in a folder that no repository is around."""
    (folder / ".git").mkdir()
    scripted = model(*script, "Done.")
    Agent(scripted, directory=folder, **options).run_sync("go")
    return scripted


def told_of_skill(*calls: dict[str, Any], head: str = HEAD) -> str:
    """What the model is told of the last of its calls, with a skill called `release`."""
    with TemporaryDirectory() as name:
        skill = Path(name, ".claude/skills/release/SKILL.md")
        skill.parent.mkdir(parents=True)
        skill.write_text(head)
        tool = {"module": "tool-skill", "config": {"user_skills": False}}
        scripted = run_in(Path(name), *calls, tools=[tool, "tool-filesystem"])
        return str(scripted.requests[-1].messages[-1].content)


def take_notes(text: str) -> None:
    """Have notes read; what is said of them is logged."""
    with TemporaryDirectory() as name:
        folder = Path(name, "project")
        folder.mkdir()
        Path(name, "secret.md").touch()
        (folder / ".env").touch()
        (folder / "AGENTS.md").write_text(text)
        notes = {"module": "hooks-project-notes", "config": {"user_notes": False}}
        run_in(folder, hooks=[notes])


def skill(**arguments: str) -> dict[str, Any]:
    return {"tool": "skill", "arguments": arguments}


@mistake("skills", "a skill that is not there")
def _() -> str:
    return told_of_skill(skill(name="deploy"))


@mistake("skills", "a file outside of the folder of a skill")
def _() -> str:
    return told_of_skill(skill(name="release", file="../../settings.json"))


@mistake("skills", "a `SKILL.md` without fields")
def _() -> None:
    told_of_skill(head="Write the tag.")


@mistake("skills", "a call that a skill in use does not allow")
def _() -> str:
    write = {"tool": "write_file", "arguments": {"path": "a", "content": "b"}}
    return told_of_skill(skill(name="release"), write)


@mistake("project-notes", '`project_notes="yes"`')
def _() -> None:
    Agent("demo", project_notes="yes")  # pyright: ignore[reportArgumentType]


@mistake("project-notes", "an import that leads out of the project")
def _() -> None:
    take_notes("See @../secret.md")


@mistake("project-notes", "an import of a file that holds secrets")
def _() -> None:
    take_notes("See @.env")


@mistake("project-notes", "notes that are too long")
def _() -> None:
    take_notes("x" * 70_000)
