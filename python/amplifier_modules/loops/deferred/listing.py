"""Which tools are described in full in each request, and how the others are named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from amplifier_core.message_models import ToolSpec

from ...tool.endings import can_end_turn

_MAX_LINE_CHARS = 100
_MAX_LIST_CHARS = 24_000
"""Characters of a list of tools; what is beyond is found by a search alone."""


def choose_listed(tools: Mapping[str, Any], most: int, always: Collection[str]) -> list[str]:
    """Return the names of the tools that are described in full.

    All of them where there are no more than `most`. Else the tools of MCP servers are deferred, which
    say so by their attribute `deferred`, and of the others those after the first `most`; but none
    that ends the turn, as a model must know how it can end.

    Args:
        tools: The tools by name, in the order in which they were mounted.
        most: How many there may be.
        always: The names of those that are never deferred.
    """
    if len(tools) <= most:
        return list(tools)
    own = [name for name, each in tools.items() if getattr(each, "deferred", False) is not True]
    ending = [name for name, each in tools.items() if can_end_turn(each)]
    listed = {*own[:most], *ending, *always}
    return [name for name in tools if name in listed]


def list_lines(specs: Iterable[ToolSpec]) -> str:
    """Return a line for each tool, with its name and what it does; of very many only the first ones."""
    lines: list[str] = []
    length = left_out = 0
    for spec in specs:
        line = f"- {spec.name}: {_shorten_description(spec.description or '')}".rstrip(": ")
        length += len(line) + 1
        if length > _MAX_LIST_CHARS:
            left_out += 1
        else:
            lines.append(line)
    if left_out:
        lines.append(f"and {left_out} more, which a search finds")
    return "\n".join(lines)


def describe_fully(spec: ToolSpec) -> str:
    """Return a tool with its schema as one line of JSON."""
    about = {
        "name": spec.name,
        "description": spec.description or "",
        "parameters": spec.parameters,
    }
    return json.dumps(about, ensure_ascii=False, default=str)


def _shorten_description(text: str) -> str:
    lines = text.strip().splitlines()
    first = lines[0].strip() if lines else ""
    sentence = first.partition(". ")[0]
    return sentence if len(sentence) <= _MAX_LINE_CHARS else f"{sentence[:_MAX_LINE_CHARS]}…"


def find_specs(
    specs: Mapping[str, ToolSpec], query: str, most: int
) -> tuple[list[ToolSpec], list[str]]:
    """Return the tools that fit a query best, and the names of the others that fit.

    Where the query names tools, they are these.

    Args:
        specs: The tools by name.
        query: Names, or words about what is to be done.
        most: How many are returned that the query does not name.
    """
    named = [specs[word] for word in _split_names(query) if word in specs]
    if named:
        return named, []
    words = _split_words(query)
    found = [(spec, _weigh_words(spec, words)) for spec in specs.values()]
    # A word that few tools have says more than one that all have.
    counts = Counter(word for _, weights in found for word in weights)
    scored = [
        (sum(weight / counts[word] for word, weight in weights.items()), spec)
        for spec, weights in found
        if weights
    ]
    scored.sort(key=lambda each: -each[0])  # stable: equals stay in the order of the tools
    return [spec for _, spec in scored[:most]], [spec.name for _, spec in scored[most:]]


def _split_names(query: str) -> Iterator[str]:
    seen: set[str] = set()
    for word in query.replace(",", " ").split():
        name = word.strip("`'\"()[]{}.:;")
        if name not in seen:
            seen.add(name)
            yield name


def _split_words(text: str) -> set[str]:
    kept = "".join(letter.lower() if letter.isalnum() else " " for letter in text)
    return set(kept.split())


def _weigh_words(spec: ToolSpec, words: Collection[str]) -> dict[str, float]:
    """Return the words that a tool has; those of its name count most."""
    of_name = _split_words(spec.name)
    described = _split_words(spec.description or "")
    properties: Any = spec.parameters.get("properties")
    parameters = _split_words(" ".join(properties)) if isinstance(properties, dict) else set[str]()  # pyright: ignore[reportUnknownArgumentType] -- keys of a schema
    weights: dict[str, float] = {}
    for word in words:
        weight = 4.0 * (word in of_name) + (word in described) + 0.5 * (word in parameters)
        if not weight and len(word) > 3:
            weight = 2.0 * any(word in each for each in of_name)
        if weight:
            weights[word] = weight
    return weights
