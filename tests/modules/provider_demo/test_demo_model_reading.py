"""What the demo model reads out of prompts, READMEs and build files."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_providers.demo.project_files import Readme, describe_build_file, read_readme
from amplifier_providers.demo.prompt import word_pattern, words_to_look_for


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("Give me a tour of this project", []),
        ("Hello!", []),
        ("", []),
        ("What does the parser do with config.toml?", ["parser", "config.toml"]),
        ('Find "retry policy" and `max_tokens` please, also Retries', None),
        ("parser Parser PARSER", ["parser"]),
        ("123 4567", []),
    ],
)
def test_the_words_that_are_particular_to_a_prompt(prompt: str, words: list[str] | None) -> None:
    expected = ["retry policy", "max_tokens", "Retries"] if words is None else words
    assert words_to_look_for(prompt) == expected


@given(st.text(min_size=1).filter(str.strip))
def test_a_word_pattern_finds_its_word(word: str) -> None:
    assert re.search(word_pattern(word), word)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", Readme("", "")),
        ("# A\n", Readme("A", "")),
        ("# A #\n\ntext here\nand on.\n\nmore", Readme("A", "text here and on.")),
        ("A\n===\n\nOne. Two! Three? Four.\n", Readme("A", "One. Two! Three?")),
        ("=====\nTitle\n=====\n\nBody.\n", Readme("Title", "Body.")),
        ("Only a line\n", Readme("Only a line", "")),
        ("Prose that goes\nover two lines.\n\nx", Readme("", "Prose that goes over two lines.")),
        ("<h1 align=center>Big</h1>\n\nSay.\n", Readme("Big", "Say.")),
        ("<!-- no\n# no -->\n# Yes\n\n```\n# no\n```\n- a\n\nYes [it](x) is.\n", Readme("Yes", "Yes it is.")),
        ("\ufeff# B\n", Readme("B", "")),
        ("---\ntitle: x\n---\n# Y\r\n\r\n![i](i.png)\r\nZ.\r\n", Readme("Y", "Z.")),
    ],
)  # fmt: skip
def test_the_title_and_opening_of_a_readme(content: str, expected: Readme) -> None:
    assert read_readme(content) == expected


@given(st.text(alphabet="#=-`<>![]()\n ab.\r", max_size=200))
def test_any_text_can_be_read_as_a_readme(content: str) -> None:
    read_readme(content)


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("Cargo.toml", '[package]\nname="a"\nversion="1"', ["Rust crate `a`", "version `1`"]),
        ("Cargo.toml", '[workspace]\nmembers=["b","c"]', ["workspace of `b`, `c`"]),
        ("Cargo.toml", "not = = toml", []),
        ("package.json", '{"name":"n","scripts":{"t":"x"}}', ["package `n`", "scripts `t`"]),
        ("package.json", "[" * 100_000, []),
        ("Makefile", "A := 1\nall: b\n\t@x\n.PHONY: b\nb:\n", ["targets `all`, `b`"]),
        ("go.mod", "module example.org/x\n\ngo 1.22\n", ["Go module `example.org/x`"]),
        ("Dockerfile", "FROM x", []),
    ],
)
def test_what_a_build_file_says(name: str, content: str, facts: list[str]) -> None:
    assert describe_build_file(name, content) == facts
