"""The report at the end of a turn; every figure in it comes from a tool result."""

from __future__ import annotations

from amplifier_guard import TerminalText
from amplifier_providers.running.count_noun import count_noun

from .foreign import list_names, quote, write_code, write_number, write_table
from .next_step import find_readme
from .project_files import count_languages, describe_build_file, is_build_file, read_readme
from .prompt import name_pattern, word_pattern, words_to_look_for
from .survey import TODO, FileCount, FileText, Search, Survey
from .turn import Turn

_MAX_NAMES = 20
_MAX_LINE_CHARS = 160
_MAX_SIZES = 10
_NEEDED_TOOLS = {
    "list_directory": "the entries of the folder",
    "glob": "counts, sizes and kinds of files",
    "grep": "lines of text and where words occur",
    "read_file": "what the README and the build files say",
}


def write_report(turn: Turn, survey: Survey) -> str:
    """Return the report in Markdown."""
    words = words_to_look_for(turn.prompt)
    parts = [_write_heading(words), _describe_limits(survey), _answer(words, survey)]
    if survey.is_empty:
        parts += [_describe_emptiness(survey)]
    else:
        parts += [
            _describe_counts(survey),
            _describe_readme(survey),
            _describe_languages(survey.files),
            _list_largest(survey.files),
            _describe_todos(survey.todos),
            _build_files(survey),
            _named_files(survey),
            _top_level(survey),
        ]
    parts += [_describe_missing_tools(turn, survey)]
    return "\n\n".join(part for part in parts if part)


def _write_heading(words: list[str]) -> str:
    if not words:
        return "# A tour of this folder"
    return (
        "# What this folder says about " + ", ".join(write_code(word) for word in words) + "\n\n"
        "I am a program, not a language model: I searched for the words of the question and list"
        " where they occur."
    )


def _describe_limits(survey: Survey) -> str:
    """What the tools say they did not look at: all figures of the report are without it."""
    searches = [survey.todos, *survey.words.values()]
    files = [survey.files, *survey.names.values()]
    counted_to = next((each.left_out for each in files if each and each.left_out), "")
    searched_to = next((each.left_out for each in searches if each and each.left_out), "")
    limits = [("files", counted_to), ("lines", searched_to)]
    # Its last sentence is advice for who calls the tool.
    lines = [f"- {what}: {each.partition(' Set `path`')[0]}" for what, each in limits if each]
    if not lines:
        return ""
    return "This covers only a part of the folder.\n\n" + "\n".join(lines)


def _answer(words: list[str], survey: Survey) -> str:
    lines: list[str] = []
    for word in words:
        search = survey.words.get(word_pattern(word))
        if search is not None:
            lines.append(_found_lines(word, search))
        names = survey.names.get(name_pattern(word) or "")
        if names is not None and names.total:
            shown = list_names([path for path, _ in names.files], _MAX_NAMES)
            has = "has" if names.total == 1 else "have"
            lines.append(
                f"- {count_noun(names.total, 'file')} {has} {write_code(word)} in the name: {shown}"
            )
    return "\n".join(lines)


def _found_lines(word: str, search: Search) -> str:
    if not search.total_matches:
        return (
            f"- {write_code(word)} is in none of {count_noun(search.searched_files, 'text file')}."
        )
    contain = "contains" if search.total_matches == 1 else "contain"
    head = (
        f"- {count_noun(search.total_matches, 'line')} in {count_noun(search.total_files, 'file')}"
    )
    return "\n".join([f"{head} {contain} {write_code(word)}:", *_list_places(search, indent="  ")])


def _describe_emptiness(survey: Survey) -> str:
    if survey.listing is None or survey.listing.total == 0:
        return "The folder is empty: there are no files here."
    names = survey.listing.directories + survey.listing.files
    shown = f" It holds {list_names(names, _MAX_NAMES)}." if names else ""
    return (
        "There are no files to look at: nothing outside `.git`, `.venv`, `target` and"
        f" `node_modules`.{shown}"
    )


def _describe_counts(survey: Survey) -> str:
    rows: list[tuple[str, str]] = []
    if survey.files is not None:
        seen = " looked at" if survey.files.left_out else ""
        rows.append((f"files{seen}", write_number(survey.files.total)))
        rows.append(
            ("their bytes" if seen else "bytes in all", write_number(survey.files.total_bytes))
        )
    search = survey.todos or next(iter(survey.words.values()), None)
    if search is not None:
        rows.append(("text files", write_number(search.searched_files)))
        rows.append(("lines of text", write_number(search.searched_lines)))
        rows.append(("binary files", write_number(search.binary_files)))
    if survey.todos is not None:
        rows.append((f"lines with `{TODO}`", write_number(survey.todos.total_matches)))
    return "## At a glance\n\n" + write_table(("what", "figure"), rows) if rows else ""


def _describe_readme(survey: Survey) -> str:
    name = find_readme(list(survey.texts))
    if name is None:
        if survey.listing is not None and not survey.listing.truncated:
            has_readme = find_readme(survey.listing.files) is not None
            return "" if has_readme else "## README\n\nThere is no README at the top level."
        return ""
    readme = read_readme(survey.texts[name].content)
    parts = [f"## What {write_code(name)} says"]
    if readme.title:
        parts.append(f"Its title is “{readme.title}”.")
    parts.append(quote(readme.opening) if readme.opening else "It has no paragraph of text.")
    return "\n\n".join(parts)


def _describe_languages(files: FileCount | None) -> str:
    if files is None or not files.extensions:
        return ""
    known, other = count_languages(files.extensions)
    parts = ["## Languages"]
    if known:
        rows = [(language, write_number(count)) for language, count in known.items()]
        parts.append(write_table(("language", "files"), rows))
    if other:
        named = [
            f"{write_code(extension) if extension else 'without an extension'} {write_number(count)}"
            for extension, count in list(other.items())[:_MAX_NAMES]
        ]
        more = ", …" if len(other) > _MAX_NAMES else ""
        parts.append(f"Other extensions: {', '.join(named)}{more}.")
    return "\n\n".join(parts)


def _list_largest(files: FileCount | None) -> str:
    if files is None or not files.by_size or not files.files:
        return ""
    rows = [(write_code(path), write_number(size)) for path, size in files.files[:_MAX_SIZES]]
    return "## Largest files\n\n" + write_table(("file", "bytes"), rows)


def _describe_todos(search: Search | None) -> str:
    if search is None:
        return ""
    if not search.total_matches:
        where = " of the files that were searched" if search.left_out else ""
        return f"## `{TODO}`\n\nNo line{where} contains the word."
    contain = "contains" if search.total_matches == 1 else "contain"
    head = f"{count_noun(search.total_matches, 'line')} in {count_noun(search.total_files, 'file')}"
    first = " The first:" if search.total_matches > len(search.places) else ""
    lines = _list_places(search)
    return f"## `{TODO}`\n\n{head} {contain} the word.{first}" + ("\n\n" + "\n".join(lines)) * bool(
        lines
    )


def _list_places(search: Search, indent: str = "") -> list[str]:
    return [
        f"{indent}- {write_code(f'{path}:{line}')} {write_code(TerminalText.line(written, _MAX_LINE_CHARS))}"
        for path, line, written in search.places
    ]


def _build_files(survey: Survey) -> str:
    lines: list[str] = []
    for path, file in survey.texts.items():
        if is_build_file(path):
            facts = "; ".join(describe_build_file(path, file.content))
            lines.append(f"- {write_code(path)}{': ' + facts if facts else _describe_length(file)}")
    return "## Build files\n\n" + "\n".join(lines) if lines else ""


def _named_files(survey: Survey) -> str:
    named = [path for names in survey.names.values() for path, _ in names.files]
    lines: list[str] = []
    for path in dict.fromkeys(named):
        file = survey.texts.get(path)
        if file is not None:
            first = next((line for line in file.content.splitlines() if line.strip()), "")
            begins = (
                f"; it begins with {write_code(TerminalText.line(first, _MAX_LINE_CHARS))}"
                if first
                else ""
            )
            lines.append(f"- {write_code(path)}{_describe_length(file)}{begins}")
    return "## Files that the question may mean\n\n" + "\n".join(lines) if lines else ""


def _describe_length(file: FileText) -> str:
    return f", {count_noun(file.total_lines, 'line')}"


def _top_level(survey: Survey) -> str:
    if survey.listing is None:
        return ""
    lines: list[str] = []
    if survey.listing.directories:
        lines.append(f"- folders: {list_names(survey.listing.directories, _MAX_NAMES)}")
    if survey.listing.files:
        lines.append(f"- files: {list_names(survey.listing.files, _MAX_NAMES)}")
    return "## Top level\n\n" + "\n".join(lines) if lines else ""


def _describe_missing_tools(turn: Turn, survey: Survey) -> str:
    used = {result.call.name for result in turn.results}
    lines = [
        f"- {what}: there is no tool `{name}`"
        for name, what in _NEEDED_TOOLS.items()
        if name not in turn.tools and name not in used
    ]
    lines += [f"- {problem}" for problem in survey.problems]
    if survey.files is not None and survey.todos is not None:
        searched = survey.todos.searched_files + survey.todos.binary_files
        is_whole = not survey.todos.left_out and not survey.files.left_out
        if is_whole and searched < survey.files.total:
            lines.append("- the text of some files: they could not be searched")
    return "## What I could not find out\n\n" + "\n".join(lines) if lines else ""
