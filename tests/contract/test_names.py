"""Functions are verbs: none is named by a participle or a noun alone, unless a contract names it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CONTRACTS = (CHECKOUT / "CONTRACTS.md").read_text()

PAGES = "".join(page.read_text() for page in (CHECKOUT / "docs" / "api").glob("*.md"))
SHOWN_MODULES = frozenset(re.findall(r"^::: (\S+)", PAGES, re.MULTILINE))

IRREGULAR = frozenset(
    [
        "begun",
        "bent",
        "bought",
        "bound",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "done",
        "drawn",
        "driven",
        "dug",
        "eaten",
        "fallen",
        "fed",
        "felt",
        "forgotten",
        "fought",
        "found",
        "frozen",
        "given",
        "gone",
        "grown",
        "heard",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "led",
        "left",
        "lent",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "said",
        "sent",
        "seen",
        "shown",
        "shot",
        "sold",
        "sought",
        "spent",
        "spoken",
        "spun",
        "stolen",
        "stood",
        "stuck",
        "struck",
        "sung",
        "sunk",
        "swept",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "woken",
        "won",
        "worn",
        "written",
    ]
)
"""Participles that do not end in `ed`; those that look like their verb, such as `read`, are verbs."""

VERBS = frozenset(
    [
        "bleed",
        "embed",
        "exceed",
        "feed",
        "heed",
        "need",
        "proceed",
        "seed",
        "shed",
        "speed",
        "succeed",
    ]
)
"""Verbs that end in `ed`."""

OF_THE_ENGINE = frozenset({"raised"})
"""Methods of the extension's steps: what an awaitable raised goes back in by `raised`."""

MAX_TOLD = 60
"""How often the Python packages may say that somebody is told something."""


def is_participle(name: str) -> bool:
    """Whether a name, without underscores around it, is a participle and nothing else."""
    word = name.strip("_")
    is_regular = re.fullmatch("[a-z]+ed", word) is not None and word not in VERBS
    return word in IRREGULAR or is_regular


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of a file that are no properties."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [ast.unparse(each) for each in node.decorator_list]
            if not any("property" in each or each.endswith(".setter") for each in decorators):
                yield node


def sources() -> Iterator[tuple[str, str]]:
    """Each file of the packages and its text."""
    for path in sorted((CHECKOUT / "python").rglob("*.py")):
        yield path.relative_to(CHECKOUT / "python").as_posix(), path.read_text()


@pytest.mark.parametrize("name", ["told", "_shown", "linked", "_checked", "__left"])
def test_a_participle_is_recognized(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize(
    "name", ["read", "_set", "embed", "is_told", "shown_text", "red1", "__add__"]
)
def test_a_verb_or_a_phrase_is_none(name: str) -> None:
    assert not is_participle(name)


def test_no_function_is_named_by_a_participle_alone() -> None:
    named_by_contract = {*re.findall(r"`(?:\w+\.)*(\w+)(?:\(\))?`", CONTRACTS), *OF_THE_ENGINE}
    found = [
        f"{file}:{function.lineno} {function.name}"
        for file, text in sources()
        for function in functions(ast.parse(text))
        if is_participle(function.name) and function.name not in named_by_contract
    ]

    assert found == []


def test_little_is_told() -> None:
    count = sum(len(re.findall(r"\btold\b", text)) for _, text in sources())

    assert count <= MAX_TOLD


OF_A_CONTRACT = frozenset(
    [
        "chunk",
        "driver",
        "failure",
        "fragments",
        "limits",
        "lookup",
        "main",
        "news",
        "printable",
        "raised",
        "registrations",
        "result",
        "tasks",
        "types",
    ]
)
"""Names that programs, the extension, a protocol or the command line know: they stay as they are."""

STANDS_ALONE = frozenset((Path(__file__).parent / "verbs.txt").read_text().split())
"""The verbs that may be the whole name of a function."""

EXCEPTED = (
    "contextmanager",
    "override",
    "overload",
    "validator",
    "classmethod",
    "fixture",
    "command",
)
"""What decorators say of functions that may be named otherwise."""


def is_excepted(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator allows a function to be named by something else than a verb."""
    decorators = [ast.unparse(each) for each in function.decorator_list]
    return any(word in each for each in decorators for word in EXCEPTED)


def is_public(file: str, name: str) -> bool:
    """Whether a page of `docs/api` shows a name of a file."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return not name.startswith("_") and module in SHOWN_MODULES


def test_no_function_is_named_by_a_noun_alone() -> None:
    named_by_contract = set(re.findall(r"`(?:\w+\.)*(\w+)(?:\(\))?`", CONTRACTS))
    found = [
        f"{file}:{function.lineno} {function.name}"
        for file, text in sources()
        for function in functions(ast.parse(text))
        if "_" not in function.name.strip("_")
        and not re.fullmatch("__.*__", function.name)
        and not is_excepted(function)
        and function.name.strip("_") not in STANDS_ALONE | OF_A_CONTRACT
        and (function.name.startswith("_") or function.name not in named_by_contract)
        and not is_public(file, function.name)
    ]

    assert found == []


def test_each_verb_that_may_stand_alone_is_used() -> None:
    used = {
        function.name.strip("_") for _, text in sources() for function in functions(ast.parse(text))
    }

    assert STANDS_ALONE - used == set()
