"""The skills of a user and of a project: where they are, and what their heads say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_guard import PathPolicy, TerminalText
from amplifier_modules.instructions.frontmatter import (
    Frontmatter,
    FrontmatterError,
    read_line_of,
    read_name,
    read_names,
    split_frontmatter,
)
from amplifier_modules.instructions.places import (
    Origin,
    find_claude_folder,
    list_project_folders,
)
from amplifier_modules.instructions.shelves import Problems, Shelf, list_entries, list_shelves
from amplifier_modules.instructions.written_text import (
    WrittenText,
    read_written_text,
)
from amplifier_modules.running.user_folders import find_config_folder

SKILL_FILE = "SKILL.md"
PROJECT_SKILLS = (".claude/skills", ".agents/skills")
"""The folders of a project that hold skills."""
MAX_SKILL_BYTES = 256 * 1024
"""The most that is read of a `SKILL.md`."""
_HEAD_BYTES = 64 * 1024
_MAX_ALLOWED = 100


@dataclass(frozen=True)
class Skill:
    """A skill, as its head describes it."""

    name: str
    description: str
    origin: Origin
    """Whose word it is."""
    folder: str
    """Its folder with links followed."""
    policy: PathPolicy
    """Opens what is in the folder, and nothing else."""
    allowed_tools: tuple[str, ...] | None = None
    """The tools that it allows while it is used; None for all."""

    def read(self) -> tuple[Skill, WrittenText]:
        """Return the skill and its instructions, as they are now.

        Raises:
            ValueError: They cannot be read.
        """
        text, head = _read_head(self.policy, MAX_SKILL_BYTES)
        now = _make_skill(self.name, self.origin, self.policy, head)
        return now, WrittenText(head.body.strip(), text.is_cut)


@dataclass
class FoundSkills:
    """What was found in all folders."""

    skills: dict[str, Skill] = field(default_factory=dict[str, Skill])
    problems: Problems = field(default_factory=Problems)


def find_skills(
    working: Path, environment: Mapping[str, str], *, user_skills: bool = True
) -> FoundSkills:
    """Return the skills of a user and of a project; of one name, the user's and then the inner one.

    Args:
        working: The working folder.
        environment: The variables that name the folder of the configuration.
        user_skills: Whether those of the user are looked for.

    Raises:
        OSError: The working folder cannot be opened.
    """
    found = FoundSkills()
    shelves = _list_shelves(working, environment, user_skills=user_skills)
    for shelf, folder in list_entries(shelves, "skills", found.problems):
        _add_skill(found, shelf, folder)
    return found


def has_skills(working: Path, environment: Mapping[str, str]) -> bool:
    """Whether there is anything that may be a skill; no file is opened."""
    try:
        shelves = _list_shelves(working, environment, user_skills=True)
    except OSError:
        return False
    for shelf in shelves:
        folder = os.path.join(shelf.policy.root, shelf.path)
        try:
            names, _ = shelf.list_names()
        except (OSError, ValueError):
            continue
        if any(os.path.lexists(os.path.join(folder, each, SKILL_FILE)) for each in names):
            return True
    return False


def _list_shelves(
    working: Path, environment: Mapping[str, str], *, user_skills: bool
) -> list[Shelf]:
    of_user = (find_config_folder(environment), find_claude_folder()) if user_skills else ()
    folders = [each and each / "skills" for each in of_user]
    return list_shelves(folders, list_project_folders(working), PROJECT_SKILLS)


def _add_skill(found: FoundSkills, shelf: Shelf, entry: str) -> None:
    shown = f"the {shelf.origin}'s skill `{TerminalText.line(entry, 80)}` is not offered"
    try:
        policy = shelf.open_folder(entry)
        _, head = _read_head(policy, _HEAD_BYTES)
        skill = _make_skill(read_name(head.fields, entry), shelf.origin, policy, head)
    except (FileNotFoundError, NotADirectoryError):
        return  # a file beside the skills, or a folder that is none
    except (OSError, ValueError) as error:
        found.problems.note(shown, error)
        return
    if head.fields.get("disable-model-invocation") == "true":
        return
    other = found.skills.get(skill.name)
    if other is None:
        found.skills[skill.name] = skill
    elif other.folder != skill.folder:
        found.problems.note(f"{shown}: the {other.origin} has one of this name")


def _read_head(policy: PathPolicy, max_bytes: int) -> tuple[WrittenText, Frontmatter]:
    text = read_written_text(policy, SKILL_FILE, max_bytes)
    if text is None:
        raise FileNotFoundError(SKILL_FILE)
    return text, split_frontmatter(text.text)


def _make_skill(name: str, origin: Origin, policy: PathPolicy, head: Frontmatter) -> Skill:
    allowed = read_names(head.fields, "allowed-tools")
    if allowed is not None and len(allowed) > _MAX_ALLOWED:
        raise FrontmatterError(f"its `allowed-tools` has more than {_MAX_ALLOWED} names")
    description = read_line_of(head.fields, "description")
    return Skill(name, description, origin, policy.root, policy, allowed)
