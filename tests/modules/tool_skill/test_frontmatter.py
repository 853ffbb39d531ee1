"""The head of a skill: texts alone, whatever YAML may see in it, and no work without end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.instructions.frontmatter import (
    Frontmatter,
    FrontmatterError,
    read_line_of,
    read_name,
    read_names,
    split_frontmatter,
)


# Holds: skills-2
def test_every_value_is_a_text_as_it_is_written() -> None:
    text = "---\nname: on\nversion: 2026-01-01\nlist: [1, ~]\n!x tag: !!python/object:os.x y\n---\nBody"

    assert split_frontmatter(text) == Frontmatter(
        {"name": "on", "version": "2026-01-01", "list": ["1", "~"], "tag": "y"}, "Body"
    )


# Holds: skills-3
@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("a: &x [1]\nb: *x", "its fields have references (`&` or `*`)"),
        ("a: &x 1", "its fields have references (`&` or `*`)"),
        ("[" * 4_000, "its fields are too many or nested too deeply"),
        ("{" * 99 + "}" * 99, "its fields are too many or nested too deeply"),
        ("- " * 2_000, "its fields are too many or nested too deeply"),
        ("a: 1\n" * 1_500, "its fields are too many or nested too deeply"),
        ("a" * 9_000, "its fields have more than 8,192 characters"),
        ("a: b: c", "its fields are no YAML (line 2)"),
        ("- a", "its fields are no mapping"),
    ],
)
def test_what_is_hostile_is_one_line(head: str, reason: str) -> None:
    with pytest.raises(FrontmatterError) as error:
        split_frontmatter(f"---\n{head}\n---\nBody")

    assert str(error.value) == reason


# Holds: skills-3
def test_without_a_head_that_ends_there_is_none() -> None:
    for text in ("", "Body", "---\nname: a\n", " ---\nname: a\n---\n"):
        with pytest.raises(FrontmatterError, match="does not begin with fields"):
            split_frontmatter(text)


# Holds: skills-3
@given(st.text(max_size=300))
def test_any_text_is_a_mapping_or_an_error(head: str) -> None:
    reasons: list[str] = []
    try:
        assert isinstance(split_frontmatter(f"---\n{head}\n---\n").fields, dict)
    except FrontmatterError as error:
        reasons.append(str(error))

    assert "\n" not in "".join(reasons)


# Holds: skills-3
@pytest.mark.parametrize("name", ["", "a b", "../a", "a/b", "\x1b[2J", "a" * 65, "-a", ["a"]])
def test_a_name_that_is_no_short_name_is_refused(name: object) -> None:
    with pytest.raises(FrontmatterError, match="its name must have letters"):
        read_name({"name": name}, "usual")


# Holds: skills-3
def test_escapes_of_yaml_make_no_characters_that_control_a_terminal() -> None:
    fields = split_frontmatter('---\ndescription: "a\\x1b[2J\\nb\\u202e"\n---\n').fields

    line = read_line_of(fields, "description")

    assert line.isprintable()


# Holds: skills-2
@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Read, Bash(git log:*, x) Grep", ("Read", "Bash(git log:*, x)", "Grep")),
        (["Read", " Grep ", ""], ("Read", "Grep")),
        ("", ()),
    ],
)
def test_names_are_a_list_or_separated(written: object, names: tuple[str, ...]) -> None:
    assert read_names({"tools": written}, "tools") == names


# Holds: skills-2
def test_without_the_field_there_are_no_names_and_a_mapping_is_none() -> None:
    assert read_names({}, "tools") is None
    with pytest.raises(FrontmatterError, match="its `tools` is no list of names"):
        read_names({"tools": {"a": "b"}}, "tools")
