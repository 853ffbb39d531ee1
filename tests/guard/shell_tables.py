"""The tables of known programs, read a second time, and a slow judge of commands against them."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path, PurePosixPath

FOLDER = Path(__file__).parents[2] / "crates/amplifier-guard/src/shell/programs"
ROOT = "/srv/proj"

GOOD = {
    "PATH": ["src/a.py", "a", "-", ".", "a/../b", f"{ROOT}/a", "/dev/null", "-a b"],
    "FOLDER": ["src", "a/../b"],
    "NODE": ["tests/a.py::T::t[1:2=/x]", "tests"],
    "REV": ["HEAD~2", "main..x", "HEAD:a/b", ":(top)a", "a/b"],
    "TEXT": ["a b", "é", "/etc/passwd", "@x", "a=b", "%s %d", "a[$(id)]"],
    "FORMAT": ["%h %s", "X: y", "%{http_code}"],
    "NUMBER": ["5", "+2", "-3", "1,2-4", "10M"],
    "WORD": ["abc", "a.b:c", "x,y"],
    "KEY": ["user.email", "remote.origin.url"],
    "URL": ["https://example.com/a?b=c", "http://93.184.215.14/"],
    "SED": ["p", "1,3p", "s/a/b/g", "/x/!d", "s/[/]/_/g", "y/e/w/"],
    "AWK": ["{print $1}", "/a|b/", '$1 >= 5 || !x { print "a|b>c" }', "END {print s/NR}"],
    "FILTER": [".", ".a.env", "map(.x) | add"],
    "LISTED": ["test", "build"],
}
"""Words that are of a kind, whatever the implementation."""
BAD = {
    "PATH": ["../x", "/etc/passwd", "a/../../b", "a=b", "x:/y", "@a", "+5f", f"{ROOT}-evil"],
    "FOLDER": ["../x", "/etc", "x:/y"],
    "NODE": ["..::a", "/etc/x::y", "@a"],
    "REV": ["../x", "/etc/passwd"],
    "TEXT": [],
    "FORMAT": ["@/etc/passwd", "%G?", "%+GS", "%output{x}", "%(signature)"],
    "NUMBER": ["x", "", "/1", "1/2", "--5"],
    "WORD": ["", "@a", "a/b", "a=b", "a b", "$"],
    "KEY": ["edit", "", "@a.b", "-e.x", "a.b/c", "a.b=c"],
    "URL": ["file:///etc/passwd", "http://localhost/", "http://[::1]/", "x.org", "http://{a,b}.org/"],
    "SED": ["e id", "1w x", "s/a/b/e", "p;r x", "s/[/]/w a/g", "b#;e id", "s/a/b\\"],
    "AWK": ['BEGIN {system("id")}', '"id" | getline', '{print > "x"}', "@load x", '{print|"sh"}'],
    "FILTER": ["env", "$ENV.A", 'import "a" as a; .', "1|env.x"],
    "LISTED": ["deploy", "", "test build"],
}  # fmt: skip
"""Words that are not."""
LISTED = [f"{before} {word}" for before in ("make", "npm run", "awk") for word in GOOD["LISTED"]]


class Undecided(Exception):
    """A script of which is not known here what it does."""


@dataclass
class Values:
    """What follows an option."""

    kinds: list[str]
    optional: bool = False
    instead: bool = False


@dataclass
class Table:
    """What is known to be harmless behind a program or sub-command."""

    style: str = "getopt"
    options: dict[str, Values] = field(default_factory=dict[str, Values])
    operands: list[str] = field(default_factory=list[str])
    numeric: bool = False
    ordered: bool = False
    runs: bool = False
    needs: list[str] | None = None
    commands: dict[str, Table] = field(default_factory=dict[str, "Table"])


@cache
def read_tables() -> dict[str, Table]:
    """Read all tables."""
    tables: dict[str, Table] = {}
    names: list[str] = []
    paths: list[list[str]] = []
    for file in sorted(FOLDER.iterdir()):
        if file.suffix == ".md":
            continue
        text = "\n".join(line for line in file.read_text().splitlines() if line[:1] != "#")
        for row in re.sub(r"\n +", " ", text).splitlines():
            first, *rest = row.split() or [""]
            if first == "program":
                names, paths = rest, [[]]
            elif first == "command":
                paths = [path.split() for path in " ".join(rest).split(" | ")]
            for name, path in product(names, paths) if first else []:
                table = tables.setdefault(name, Table())
                used = [
                    deepcopy(tables[name].commands.get(word) or tables[word])
                    for word in (rest or path[-1:] if first == "use" else [])
                ]
                for word in path:
                    fresh = Table(style=table.style, needs=[])
                    table = table.commands.setdefault(word, fresh)
                _apply(table, first, rest, used)
    return tables


def _apply(table: Table, first: str, rest: list[str], added: list[Table]) -> None:
    if first in ("program", "command"):
        table.needs = None
    elif first == "style":
        table.style = rest[0]
    elif first == "numeric":
        table.numeric = True
    elif first == "ordered":
        table.ordered = True
    elif first == "runs":
        table.runs = True
    elif first == "needs":
        table.needs = rest
        table.options = {option: Values([]) for option in rest} | table.options
    elif first == "operands":
        table.operands = rest
    elif first == "use":
        for used in added:
            table.style = table.style if used.style == "getopt" else used.style
            table.options |= used.options
            table.commands |= used.commands
            table.operands = used.operands or table.operands
            table.numeric |= used.numeric
            table.needs = table.needs if used.needs is None else used.needs
    else:
        form = [word for word in [first, *rest] if not word.startswith("-")]
        kinds = [word.strip("[]")[1:] for word in form if "=" in word]
        values = Values(kinds, any("[" in word for word in form), "instead" in form)
        for word in [first, *rest]:
            if word.startswith("--[no-]"):
                table.options[word.replace("[no-]", "no-")] = Values([])
            if word.startswith("-"):
                table.options[word.replace("[no-]", "")] = values


def is_kind(word: str, kind: str, command: list[str]) -> bool:
    """Whether a word is of a kind."""
    for alternative in kind.split("|"):
        base = next((name for name in [*GOOD, "PATTERN"] if alternative.endswith(name)), "")
        start = alternative.removesuffix(base)
        if (
            word == start
            if not base
            else word.startswith(start) and _is(word[len(start) :], base, command)
        ):
            return True
    return False


def _is(word: str, base: str, command: list[str]) -> bool:
    match base:
        case "PATH" | "FOLDER":
            return not re.search("^[@+]|[:=]", word) and _is_inside(word)
        case "NODE":
            return _is(re.split(r"::|\[", word)[0], "PATH", command)
        case "REV":
            return _is_inside(word)
        case "NUMBER":
            return bool(re.fullmatch(r"[+-]?[0-9][A-Za-z0-9_.,:+@%^~!*#-]*", word))
        case "WORD":
            return bool(re.fullmatch(r"(?![-@])[A-Za-z0-9_.,:+@%^~!*#-]+", word))
        case "KEY":
            return "." in word and _is(word, "WORD", command)
        case "LISTED":
            return " ".join([*command, word]) in LISTED
        case "TEXT" | "PATTERN":
            return True
        case "FORMAT":
            return not re.search("^@|%[-+ ]*G|%output|signature", word)
        case "FILTER":
            beyond = "ENV|__prog_args|env|get_search_list|import|include|modulemeta"
            return not re.search(rf"(?<![.\w])({beyond})(?!\w)", word)
        case "SED" | "AWK" if word not in GOOD[base] + BAD[base]:
            raise Undecided(word)
        case _:
            return word in GOOD[base]


def _is_inside(word: str) -> bool:
    if word == "/dev/null":
        return True
    if word.startswith("/"):
        if not PurePosixPath(word).is_relative_to(ROOT):
            return False
        word = str(PurePosixPath(word).relative_to(ROOT))
    depth = 0
    for part in word.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return False
    return True


def passes(argv: list[str]) -> bool:
    """Whether all words behind a program with a table are known to be harmless."""
    tables = read_tables()
    table = replace(tables[argv[0]])
    if _is_evaluated(argv):
        return False
    command = argv[:1]
    words = argv[1:]
    seen: set[str] = set()
    operands: list[str] = []
    skipped = 0
    over = table.style == "text"
    if table.style == "tar" and words and not words[0].startswith("-"):
        letters, *words = words
        values = [table.options.get(f"-{letter}") for letter in letters]
        if any(each is None for each in values):
            return False
        seen |= {f"-{letter}" for letter in letters}
        kinds = [kind for each in values if each for kind in each.kinds]
        if len(words) < len(kinds):
            return False
        if not all(is_kind(*pair, command) for pair in zip(words, kinds, strict=False)):
            return False
        words = words[len(kinds) :]
    while words:
        word, *words = words
        over |= table.ordered and bool(operands)
        if not over and word in table.commands and (word == "--" or not operands):
            table, command = table.commands[word], [*command, word]
            operands, skipped = [], 0
            continue
        if over or word == "-" or not word.startswith("-"):
            operands.append(word)
            if not _operand_passes(table, operands, skipped, command):
                return False
            continue
        if word == "--":
            if table.style in ("words", "argparse"):
                return False
            over = True
            continue
        options = _split(table, word)
        if options is None:
            return False
        for name, value in options:
            known = table.options.get(name)
            if known is None or (operands and (known.instead or "FOLDER" in known.kinds)):
                return False
            seen.add(name)
            skipped |= known.instead
            if value is not None:
                if len(known.kinds) != 1 or not is_kind(value, known.kinds[0], command):
                    return False
                continue
            if known.optional:
                continue
            for kind in known.kinds:
                if not words:
                    return False
                following, *words = words
                if not _value_passes(table, following, bool(operands)):
                    return False
                if not is_kind(following, kind, command):
                    return False
    return table.needs is None or bool(seen & set(table.needs))


def _is_evaluated(argv: list[str]) -> bool:
    """Whether a shell that runs `printf` or `test` itself could evaluate a word."""
    number = re.compile(r"([+-]?[0-9][0-9A-Za-z.]*)?")
    if argv[0] == "test":
        compared = re.compile("-(eq|ne|lt|le|gt|ge)")
        pairs = pairwise(argv)
        return any(
            (compared.fullmatch(one) and not number.fullmatch(other))
            or (compared.fullmatch(other) and not number.fullmatch(one))
            for one, other in pairs
        )
    if argv[0] != "printf" or len(argv) == 1:
        return False
    text = re.sub(r"\\[0-7abcefnrtvx\\\"']", "", argv[1])
    directives = re.findall(r"%([-+ #.0-9*]*)(.?)", text, re.DOTALL)
    if (
        argv[1].startswith("-")
        or "\\" in text
        or any(e not in "%sbcqdiouxXeEfFgG" or not e for _, e in directives)
    ):
        return True
    numbers = [
        is_number
        for flags, end in directives
        for is_number in [True] * flags.count("*") + [end not in "sbcq"] * (end != "%")
    ]
    return bool(numbers) and any(
        numbers[index % len(numbers)] and not number.fullmatch(word)
        for index, word in enumerate(argv[2:])
    )


def _operand_passes(table: Table, operands: list[str], skipped: int, command: list[str]) -> bool:
    kinds = table.operands
    index = len(operands) - 1 + skipped
    if index >= len(kinds) and not (kinds and kinds[-1].endswith("*")):
        return False
    if table.style == "argparse" and operands[-1].startswith("@"):
        return False
    return is_kind(operands[-1], kinds[min(index, len(kinds) - 1)].removesuffix("*"), command)


def _value_passes(table: Table, value: str, behind_operand: bool) -> bool:
    """Whether a word can be nothing but a value."""
    if table.style in ("free", "argparse") and re.match(r"-(?![0-9])", value):
        return False
    if table.style == "argparse" and value.startswith("@"):
        return False
    return table.style != "getopt" or not behind_operand or _is(value, "PATH", [])


def _split(table: Table, word: str) -> list[tuple[str, str | None]] | None:
    """The options in a word, each with the value that is in the word, too."""
    if table.style == "words" or word.startswith("--"):
        name, equals, value = word.partition("=")
        return [(name, value if equals else None)]
    if table.numeric and re.fullmatch("-[0-9]+", word):
        return []
    options: list[tuple[str, str | None]] = []
    for index in range(1, len(word)):
        known = table.options.get(f"-{word[index]}")
        rest = word[index + 1 :]
        if known is None:
            return None
        if known.kinds and rest:
            if table.style == "separate" or len(known.kinds) > 1:
                return None
            return [*options, (f"-{word[index]}", rest)]
        options.append((f"-{word[index]}", None))
    return options
