"""What a request begins with: model, tools, system prompt and messages, as a cache reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import is_
from typing import Any, Protocol

from .blocks import MessageBlocks, digest


@dataclass(slots=True)
class Prompt:
    """The blocks of a request, in the order in which caches of services read them.

    What is of this request alone is not among them.
    """

    model: str
    names: list[str]
    """The names of the blocks before the messages."""
    digests: list[bytes]
    """The hash of each block."""
    sizes: list[int]
    """Bytes of each block."""
    settings: frozenset[int]
    """Those of the blocks that are no content: a change of them still loses what follows."""
    counts: list[int]
    """Blocks of each turn of the messages."""
    marks: list[int] = field(default_factory=list[int])
    """The blocks that are marked as ends of what a cache keeps."""
    lasts: str = ""
    """How long the request asks a cache to keep it."""
    forgets_thoughts: bool = False
    """Whether the service may leave thoughts out of what it reads."""
    has_tail: bool = False
    """Whether more stands behind the blocks, of this request alone."""
    chain: list[bytes] = field(default_factory=list[bytes])
    """The hash of all blocks up to each."""

    def label_block(self, place: int) -> str:
        """Return the name of a block: `tools[3]`, `system[0]`, `messages[4][1]`."""
        if place < len(self.names):
            return self.names[place]
        start = len(self.names)
        for turn, count in enumerate(self.counts):
            if place < start + count:
                return f"messages[{turn}][{place - start}]"
            start += count
        return f"messages[{len(self.counts)}]"

    def link(self, other: Prompt | None, common: int) -> None:
        """Hash the beginnings, those that are as in another prompt not again.

        Args:
            other: A prompt whose first blocks are the same; None for none.
            common: How many.
        """
        self.chain = [] if other is None else other.chain[:common]
        before = self.chain[-1] if self.chain else b""
        for each in self.digests[len(self.chain) :]:
            before = digest(before, each)
            self.chain.append(before)


class SentPrompt(Protocol):
    """A request as it is sent."""

    model: str
    fields: dict[str, Any]
    blocks: MessageBlocks | None
    marks: list[int]
    has_tail: bool

    @property
    def system(self) -> Iterable[Mapping[str, Any]]:
        """The blocks of the system prompt of its history."""
        ...


class PromptReader:
    """Reads the prompts of requests; tools and texts that were hashed are not hashed again."""

    def __init__(self, *, reads_settings: bool) -> None:
        """Begin with nothing hashed.

        Args:
            reads_settings: Whether `tool_choice` and the like are a part of prompts.
        """
        self._reads_settings = reads_settings
        self._tools: tuple[list[Any], list[bytes], list[int]] = [], [], []
        """The tools as they were asked for, the hash of each, and its bytes."""
        self._texts: dict[str, bytes] = {}

    def read(self, sent: SentPrompt, tools: list[Any]) -> Prompt | None:
        """Return the prompt of a request; None where it goes on with a part of an answer.

        Args:
            sent: The request as it is sent.
            tools: Its tools as they were asked for: always the same objects while they are the same.
        """
        blocks, fields = sent.blocks, sent.fields
        if blocks is None:
            return None
        names, digests, sizes, settings = ["model"], [digest(sent.model.encode())], [0], [0]

        def add(name: str, value: object) -> None:
            settings.append(len(names))
            names.append(name)
            text = repr(value).encode("utf-8", "surrogatepass")
            digests.append(digest(text))
            sizes.append(len(text))

        self._add_tools(fields.get("tools") or [], tools, names, digests, sizes)
        marks = [len(names) - 1] if sent.marks and fields.get("tools") else []
        form, effort = _find_form(fields)
        add("answer_form", form)
        texts = fields.get("system") or sent.system
        for place, block in enumerate(texts):
            names.append(f"system[{place}]")
            text = block["text"]
            digests.append(self._hash_text(text))
            sizes.append(len(text))
        if sent.marks and fields.get("system"):
            marks.append(len(names) - 1)
        if self._reads_settings:
            add("tool_choice", fields.get("tool_choice"))
            add("thinking", [fields.get("thinking"), *effort])
            add("images", blocks.has_images)
        start, steady = len(names), blocks.steady
        return Prompt(
            sent.model,
            names,
            digests
            + (blocks.digests if steady == len(blocks.digests) else blocks.digests[:steady]),
            sizes + blocks.sizes,
            frozenset(settings),
            blocks.counts,
            marks + sorted(start + mark for mark in sent.marks),
            str(fields.get("prompt_cache_retention") or ""),
            blocks.first_thought is not None and blocks.first_thought < blocks.last_question,
            sent.has_tail or steady < len(blocks.digests),
        )

    def _add_tools(
        self,
        written: list[Any],
        asked: list[Any],
        names: list[str],
        digests: list[bytes],
        sizes: list[int],
    ) -> None:
        known, hashes, lengths = self._tools
        is_known = len(known) == len(asked) and all(map(is_, known, asked))
        if not is_known or len(hashes) != len(written):
            texts = [repr(_without_mark(each)).encode("utf-8", "surrogatepass") for each in written]
            hashes, lengths = [digest(each) for each in texts], [len(each) for each in texts]
            self._tools = list(asked), hashes, lengths
        names += [f"tools[{place}]" for place in range(len(hashes))]
        digests += hashes
        sizes += lengths

    def _hash_text(self, text: str) -> bytes:
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            known = self._texts[text] = digest(text.encode("utf-8", "surrogatepass"))
        return known


_MOST_TEXTS = 16
"""Texts of system prompts whose hash is kept."""


def _without_mark(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key != "cache_control"}


def _find_form(fields: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return what a request says of the form of the answer and the mode, and of the effort."""
    output: Mapping[str, Any] = fields.get("output_config") or {}
    form = [fields.get(key) for key in ("text", "response_format", "format", "speed")]
    return [output.get("format"), *form], [output.get("effort")]
