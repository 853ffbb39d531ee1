"""Which skills are offered, whose word they are, and what is said of those that are not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from written_place import Place

from amplifier_modules.tools.skill.skill_files import find_skills, has_skills

NAME_RULE = "its name must have letters, digits, `-`, `_` and `.`, at most 64"


def head(name: str, description: str = "Does it.", more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\nDo it.\n"


def found(place: Place, working: str = "") -> tuple[list[tuple[str, str, str]], list[str]]:
    """The name, the origin and the description of each skill, and the problems."""
    skills = find_skills(place.project / working, {})
    rows = [(each.name, each.origin, each.description) for each in skills.skills.values()]
    return rows, list(skills.problems)


# Holds: skills-1
def test_skills_are_found_in_the_folders_of_the_user_and_the_project(place: Place) -> None:
    place.write("~/.config/amplifier-core/skills/one/SKILL.md", head("one"))
    place.write("~/.claude/skills/two/SKILL.md", head("two"))
    place.write(".claude/skills/three/SKILL.md", head("three"))
    place.write("inner/.agents/skills/four/SKILL.md", head("four"))
    place.write("beside/.agents/skills/five/SKILL.md", head("five"))
    place.write(".claude/skills/README.md", "no skill")
    place.write(".claude/skills/none/README.md", "no skill")

    assert found(place, "inner") == (
        [
            ("one", "user", "Does it."),
            ("two", "user", "Does it."),
            ("four", "project", "Does it."),
            ("three", "project", "Does it."),
        ],
        [],
    )


# Holds: skills-1
def test_a_skill_of_the_user_may_be_a_link_to_anywhere(place: Place, tmp_path: Path) -> None:
    place.write("~/dotfiles/one/SKILL.md", head("one"))
    (place.home / ".claude/skills").mkdir(parents=True)
    (place.home / ".claude/skills/one").symlink_to(place.home / "dotfiles/one")

    assert found(place)[0] == [("one", "user", "Does it.")]


# Holds: skills-4
def test_a_skill_of_the_project_cannot_take_the_place_of_one_of_the_user(place: Place) -> None:
    place.write("~/.claude/skills/deploy/SKILL.md", head("deploy", "Mine."))
    place.write(".claude/skills/deploy/SKILL.md", head("deploy", "Evil.", "source: user\n"))
    place.write(".claude/skills/other/SKILL.md", head("deploy", "Evil."))

    assert found(place) == (
        [("deploy", "user", "Mine.")],
        [
            "the project's skill `deploy` is not offered: the user has one of this name",
            "the project's skill `other` is not offered: the user has one of this name",
        ],
    )


# Holds: skills-4
def test_in_the_home_of_the_user_the_skills_are_the_users(place: Place) -> None:
    place.write("~/.claude/skills/one/SKILL.md", head("one"))

    skills = find_skills(place.home, {})

    assert [(each.name, each.origin) for each in skills.skills.values()] == [("one", "user")]
    assert skills.problems == []


# Holds: skills-5
def test_a_skill_of_the_project_that_leads_out_is_one_line(place: Place) -> None:
    place.write("~/private/SKILL.md", head("private"))
    folder = place.project / ".claude/skills"
    (folder / "file").mkdir(parents=True)
    (folder / "folder").symlink_to(place.home / "private")
    (folder / "file" / "SKILL.md").symlink_to(place.home / "private/SKILL.md")
    os.mkfifo(place.write(".claude/skills/pipe/x", "").parent / "SKILL.md")
    (place.project / ".agents").symlink_to(place.home)

    rows, problems = found(place)

    assert rows == []
    assert [each.partition(":")[0] for each in problems] == [
        "the project's skill `file` is not offered",
        "the project's skill `folder` is not offered",
        "the project's skill `pipe` is not offered",
        "the skills in `.agents/skills` are not read",
    ]


# Holds: skills-3
def test_hostile_files_are_one_line_each_and_others_stay(place: Place) -> None:
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\n"
    place.write(".claude/skills/bomb/SKILL.md", f"---\n{bomb}---\n")
    place.write(".claude/skills/huge/SKILL.md", "---\n" + "x" * 10 * 1024 * 1024)
    place.write(".claude/skills/binary/SKILL.md", b"---\0")
    place.write(".claude/skills/red\x1b[31m/SKILL.md", "---\ndescription: x\n---\n")
    place.write(".claude/skills/good/SKILL.md", head("good"))

    rows, problems = found(place)

    assert rows == [("good", "project", "Does it.")]
    assert [each.removeprefix("the project's skill ") for each in problems] == [
        "`binary` is not offered: it is no text",
        "`bomb` is not offered: its fields have references (`&` or `*`)",
        "`huge` is not offered: it does not begin with fields between two lines of `---`",
        f"`red\\x1b[31m` is not offered: {NAME_RULE}",
    ]


# Holds: skills-3
def test_of_very_many_folders_a_part_is_looked_at(place: Place) -> None:
    for number in range(100):
        place.write(f".claude/skills/s{number:03}/SKILL.md", "no head")

    rows, problems = found(place)

    assert rows == []
    assert len(problems) == 20
    assert problems[0] == "`.claude/skills` has 36 more entries, not looked at"
    assert problems[-1] == "and more than these"


# Holds: skills-1
def test_a_skill_that_models_must_not_use_is_not_offered(place: Place) -> None:
    more = "disable-model-invocation: true\n"
    place.write(".claude/skills/one/SKILL.md", head("one", more=more))

    assert found(place) == ([], [])


# Holds: skills-8
def test_whether_there_are_skills_is_seen_without_opening_files(place: Place) -> None:
    assert not has_skills(place.project, {})
    place.write(".agents/skills/one/SKILL.md", "")
    assert has_skills(place.project, {})
    assert not has_skills(place.project / "missing", {})
