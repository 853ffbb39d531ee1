"""What the files of a project say: the language of each, the README and the build files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .foreign import read_items, read_mapping, read_text

_LANGUAGES = {
    "Ada": ".ada .adb .ads", "Assembly": ".asm .s", "Batch": ".bat .cmd", "C": ".c .h",
    "C#": ".cs .csx", "C++": ".cc .cpp .cxx .hh .hpp .hxx", "Clojure": ".clj .cljc .cljs",
    "CSS": ".css .less .sass .scss", "CSV": ".csv .tsv", "CUDA": ".cu .cuh", "D": ".d",
    "Dart": ".dart", "Elixir": ".ex .exs", "Elm": ".elm", "Erlang": ".erl .hrl", "F#": ".fs .fsx",
    "Fortran": ".f .f90 .f95 .for", "Go": ".go", "GraphQL": ".gql .graphql",
    "Groovy": ".gradle .groovy", "Haskell": ".hs .lhs", "HTML": ".htm .html .xhtml",
    "INI": ".cfg .conf .ini .properties", "Java": ".java", "JavaScript": ".cjs .js .jsx .mjs",
    "JSON": ".json .json5 .jsonc .jsonl .ndjson", "Julia": ".jl", "Jupyter": ".ipynb",
    "Kotlin": ".kt .kts", "LaTeX": ".bib .cls .sty .tex", "Lisp": ".cl .el .lisp .scm",
    "Lua": ".lua", "Markdown": ".markdown .md .mdx", "Nix": ".nix", "OCaml": ".ml .mli",
    "Perl": ".pl .pm", "PHP": ".php", "PowerShell": ".ps1 .psm1", "Protocol Buffers": ".proto",
    "Python": ".py .pyi .pyw .pyx", "R": ".r .rmd", "reStructuredText": ".rst", "Ruby": ".rb",
    "Rust": ".rs", "Scala": ".sbt .scala", "Shell": ".bash .fish .sh .zsh", "SQL": ".sql",
    "Svelte": ".svelte", "SVG": ".svg", "Swift": ".swift", "Terraform": ".hcl .tf",
    "plain text": ".text .txt", "TOML": ".toml", "TypeScript": ".cts .mts .ts .tsx",
    "Verilog": ".sv .v", "Vue": ".vue", "XML": ".xml .xsd .xsl", "YAML": ".yaml .yml",
    "Zig": ".zig", "images": ".bmp .gif .ico .jpeg .jpg .png .webp",
}  # fmt: skip
_BY_EXTENSION = {
    extension: language for language, all_of in _LANGUAGES.items() for extension in all_of.split()
}


def count_languages(extensions: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Add up the counts of files by extension to counts by language.

    Returns:
        The counts by language, and those of the extensions that belong to none; both with the
        most frequent first.
    """
    known: dict[str, int] = {}
    other: dict[str, int] = {}
    for extension, count in extensions.items():
        language = _BY_EXTENSION.get(extension.lower())
        counts, name = (other, extension) if language is None else (known, language)
        counts[name] = counts.get(name, 0) + count
    return _most_first(known), _most_first(other)


def _most_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0].lower())))


_MAX_SENTENCES = 3
_MAX_CHARS = 500
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<[^>\n]+>")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_UNDERLINE = re.compile(r"([=\-~^#*])\1{2,}\s*")
_NOT_PROSE = re.compile(r"\s*(?:[#>|]|[-*+] |\d+[.)] |\.\. |:\w+:|=+$)")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+(?=[A-Z\W])")


@dataclass(frozen=True)
class Readme:
    """The beginning of a README; a part that is missing is empty."""

    title: str
    opening: str
    """Its first sentences, on one line."""


def read_readme(content: str) -> Readme:
    """Find the title and the first paragraph of prose in a Markdown, RST or plain README."""
    plain = content.removeprefix("\ufeff").replace("\r\n", "\n")
    for pattern in (_FRONT_MATTER, _COMMENT, _FENCE):
        plain = pattern.sub("", plain)
    lines = [_without_markup(line) for line in plain.split("\n")]
    title, start = _find_title(lines)
    return Readme(title, _first_sentences(_first_paragraph(lines[start:])))


def _without_markup(line: str) -> str:
    line = _IMAGE.sub("", _TAG.sub("", line))
    while _LINK.search(line):  # a badge is an image inside a link
        line = _LINK.sub(r"\1", line)
    return line.rstrip()


def _find_title(lines: list[str]) -> tuple[str, int]:
    """Return the title and the number of the line after it."""
    for index, line in enumerate(lines):
        if heading := re.match(r"#{1,6}\s+(.+?)\s*#*$", line):
            return heading[1], index + 1
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.fullmatch(below):
            return line.strip(), index + 2
        if line.strip() and not _NOT_PROSE.match(line) and not _UNDERLINE.fullmatch(line):
            # Prose before any heading: a first line on its own is the title of a plain text.
            return ("", index) if below.strip() else (line.strip(), index + 1)
    return "", 0


def _first_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        is_prose = bool(line.strip()) and not _NOT_PROSE.match(line)
        if is_prose and not _UNDERLINE.fullmatch(line) and not _UNDERLINE.fullmatch(below or " "):
            paragraph.append(line.strip())
        elif paragraph:
            break
    return " ".join(" ".join(paragraph).split())


def _first_sentences(paragraph: str) -> str:
    opening = " ".join(_SENTENCE_END.split(paragraph)[:_MAX_SENTENCES])
    return opening if len(opening) <= _MAX_CHARS else opening[:_MAX_CHARS].rsplit(" ", 1)[0] + " …"


_MAX_NAMES = 12
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*)[ \t]*:(?!=)", re.MULTILINE)
_GO_MODULE = re.compile(r"^module[ \t]+(\S+)", re.MULTILINE)


def is_build_file(name: str) -> bool:
    """Return whether a file of this name says how a project is built or what it needs."""
    return name in _READERS


def describe_build_file(name: str, content: str) -> list[str]:
    """Return what `content` says, in short statements; none if it cannot be parsed."""
    reader = _READERS.get(name)
    try:
        return reader(content.removeprefix("\ufeff")) if reader else []
    except (ValueError, RecursionError):
        return []


def _read_pyproject(content: str) -> list[str]:
    data = tomllib.loads(content)
    project = read_mapping(data.get("project")) or read_mapping(
        read_mapping(data.get("tool")).get("poetry")
    )
    facts = _describe_project("Python project", project)
    facts += _write_value("needs Python", project.get("requires-python"))
    facts += _write_names("commands", list(read_mapping(project.get("scripts"))))
    return facts + _write_value(
        "built by", read_mapping(data.get("build-system")).get("build-backend")
    )


def _read_cargo(content: str) -> list[str]:
    data = tomllib.loads(content)
    members = [
        read_text(member)
        for member in read_items(read_mapping(data.get("workspace")).get("members"))
    ]
    return _describe_project("Rust crate", read_mapping(data.get("package"))) + _write_names(
        "workspace of", members
    )


def _package_json(content: str) -> list[str]:
    data = read_mapping(json.loads(content))
    return _describe_project("package", data) + _write_names(
        "scripts", list(read_mapping(data.get("scripts")))
    )


def _read_makefile(content: str) -> list[str]:
    return _write_names("targets", list(dict.fromkeys(_TARGET.findall(content))))


def _go_module(content: str) -> list[str]:
    return _write_names("Go module", _GO_MODULE.findall(content)[:1])


def _read_nothing(content: str) -> list[str]:
    del content
    return []


def _describe_project(kind: str, data: dict[str, Any]) -> list[str]:
    facts = _write_value(kind, data.get("name")) + _write_value("version", data.get("version"))
    description = " ".join(read_text(data.get("description")).split())
    return [*facts, f"“{description}”"] if description else facts


def _write_value(label: str, value: object) -> list[str]:
    return _write_names(label, [read_text(value)])


def _write_names(label: str, names: list[str]) -> list[str]:
    shown = [f"`{name}`" for name in names if name and "`" not in name and "\n" not in name]
    more = ", …" if len(shown) > _MAX_NAMES else ""
    return [f"{label} {', '.join(shown[:_MAX_NAMES])}{more}"] if shown else []


_READERS: dict[str, Callable[[str], list[str]]] = {
    "pyproject.toml": _read_pyproject,
    "Cargo.toml": _read_cargo,
    "package.json": _package_json,
    "Makefile": _read_makefile,
    "go.mod": _go_module,
    **dict.fromkeys(
        (
            "BUILD.bazel", "CMakeLists.txt", "Dockerfile", "Gemfile", "Justfile", "Taskfile.yml",
            "build.gradle", "build.gradle.kts", "build.zig", "composer.json", "deno.json",
            "docker-compose.yml", "dune-project", "flake.nix", "justfile", "makefile",
            "meson.build", "mix.exs", "pom.xml", "requirements.txt", "setup.cfg", "setup.py",
        ),
        _read_nothing,
    ),
}  # fmt: skip
