"""Which language a file is written in, by its extension."""

from __future__ import annotations

from collections.abc import Mapping

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
