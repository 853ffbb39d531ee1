"""The results of servers as results of tools: text, data and images, bounded and harmless."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread

from amplifier_core.models import ToolResult
from amplifier_guard import Redactor, TerminalText
from amplifier_modules.tools.result_bytes import clip_bytes, whole_characters

from .put_aside import PutAside

if TYPE_CHECKING:
    from mcp.types import CallToolResult

FAILED = "tool_failed"
"""The `type` of the error of a call whose tool says that it has failed."""
_MAX_IMAGES = 20
_MIN_SECRET_CHARS = 4
"""What is shorter is not looked for."""


@dataclass
class Cleaning:
    """Which secrets are removed from what a server says."""

    rule: Literal["known", "all", "off"]
    find_redactor: Callable[[], Redactor | None]
    """Returns the redactor that knows the keys of the application; None without one."""
    secrets: Sequence[str]
    """The keys that the entries of the servers hold, and the tokens of their logins."""

    def __post_init__(self) -> None:
        """Know what is a secret."""
        self._own = Redactor(list(self.secrets))

    def learn(self, secrets: Iterable[str]) -> list[str]:
        """Remove these, too; return those that are new."""
        new = [each for each in secrets if each not in self.secrets]
        if new:
            self.secrets = [*self.secrets, *new]
            self._own = Redactor(list(self.secrets))
        return new

    def clean(self, text: str) -> str:
        """Return a text without secrets, and without anything that controls a terminal."""
        if self.rule != "off":
            for redactor in (self.find_redactor(), self._own):
                if redactor is not None:
                    text = redactor.redact_known(text)
        if self.rule == "all":
            text = self._own.redact(text)
        return TerminalText.show(text)


class Results:
    """Makes results of what servers answer."""

    def __init__(self, cleaning: Cleaning, put_aside: PutAside, max_bytes: int) -> None:
        """Return results with at most `max_bytes` bytes of text."""
        self._cleaning = cleaning
        self._learned: list[str] = []
        self._note_secrets: Callable[[list[str]], None] = lambda _: None
        self.put_aside = put_aside
        """What was too long."""
        self.max_bytes = max_bytes
        """Bytes of the text of a result, at most."""

    async def make_result(self, answer: CallToolResult) -> ToolResult:
        """Return the result of a call."""
        blocks = _read_blocks(answer.content)
        data = answer.structured_content
        texts = [each for each in blocks if isinstance(each, str)]
        if data == {"result": texts[0] if len(texts) == 1 else None}:
            data = None  # a text that is wrapped, as data must be an object for older hosts
        if data is not None and len(blocks) == len(texts) and _says_the_same(texts, data):
            blocks = []
        if data is not None and not answer.is_error and not blocks:
            text = _write(data)
            cleaned = self._cleaning.clean(text)
            if cleaned == text and len(text.encode("utf-8", "replace")) <= self.max_bytes:
                return ToolResult(output=data)
            return ToolResult(output=await self._fit_text(cleaned))
        if data is not None:
            blocks.append(_write(data))
        if answer.is_error:
            text = self._cleaning.clean("\n".join(each for each in blocks if isinstance(each, str)))
            message = (await self._fit_text(text)) or "the tool has failed, and does not say why"
            return ToolResult(success=False, error={"message": message, "type": FAILED})
        return await self.make_output(blocks)

    async def make_output(self, blocks: list[Any]) -> ToolResult:
        """Return texts and images as a result."""
        text = await self._fit_text(
            self._cleaning.clean("\n".join(each for each in blocks if isinstance(each, str)))
        )
        images = [each for each in blocks if not isinstance(each, str)]
        if not images:
            return ToolResult(output=text)
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        if len(images) > _MAX_IMAGES:
            note = f"[{len(images) - _MAX_IMAGES} more images are left out]"
            content.append({"type": "text", "text": note})
        return ToolResult(output=text, content=[*content, *images[:_MAX_IMAGES]])

    async def read_resource(self, contents: Iterable[Any]) -> ToolResult:
        """Return the contents of a resource."""
        return await self.make_output([_read_contents(each) for each in contents])

    async def make_prompt(self, contents: Iterable[Any]) -> str:
        """Return the text of a prompt."""
        blocks = _read_blocks(contents)
        texts = [each if isinstance(each, str) else "[an image is left out]" for each in blocks]
        return str((await self.make_output(texts)).output)

    def clean(self, text: str, most: int) -> str:
        """Return a text of a server in at most so many bytes, without secrets."""
        return clip_bytes(self._cleaning.clean(text), most)

    def learn_secrets(self, secrets: Iterable[str]) -> None:
        """Remove these from all that a server says from now on."""
        if new := self._cleaning.learn(each for each in secrets if len(each) >= _MIN_SECRET_CHARS):
            self._learned += new
            self._note_secrets(new)

    def watch_secrets(self, note: Callable[[list[str]], None]) -> None:
        """Call something with the secrets that were learned, and with each that will be."""
        self._note_secrets = note
        if self._learned:
            note(list(self._learned))

    async def _fit_text(self, text: str) -> str:
        """Return a text that is short enough; the whole of a longer one is put aside."""
        if len(text) * 4 <= self.max_bytes:
            return text
        content = text.encode("utf-8", "replace")
        if len(content) <= self.max_bytes:
            return text
        try:
            address = await anyio.to_thread.run_sync(self.put_aside.keep, text)
        except OSError as error:
            return clip_bytes(text, self.max_bytes - 200) + f"\n[the rest is not kept: {error}]"
        kept = whole_characters(content[: self.max_bytes - 300])
        note = (
            f"\n[{len(content) - len(kept):,} more bytes are put aside: `mcp_resources` with `uri`"
            f" `{address}` and `offset` {len(kept)} reads on]"
        )
        return kept.decode("utf-8", "replace") + note


def _read_blocks(content: Iterable[Any]) -> list[Any]:
    """Return texts, and images as blocks."""
    blocks: list[Any] = []
    for each in content:
        if each.type == "text":
            blocks.append(each.text)
        elif each.type == "image":
            blocks.append(_read_binary("image", each.data, each.mime_type))
        elif each.type == "audio":
            blocks.append(_describe_binary("audio", len(each.data) * 3 // 4, each.mime_type))
        elif each.type == "resource":
            blocks.append(_read_contents(each.resource))
        elif each.type == "resource_link":
            about = " -- ".join(filter(None, (each.title or each.name, each.description)))
            blocks.append(f"[resource `{each.uri}`: {about}]")
        else:
            blocks.append(f"[a block of type `{each.type}` is left out]")
    return blocks


def _read_contents(contents: Any) -> Any:
    """Return the contents of a resource as text, or as the block of an image."""
    text = getattr(contents, "text", None)
    if isinstance(text, str):
        return f"[resource `{contents.uri}`]\n{text}"
    return _read_binary(f"resource `{contents.uri}`", contents.blob, contents.mime_type)


def _read_binary(what: str, data: str, media_type: str | None) -> Any:
    # Late: the tools of files take a while to import.
    from amplifier_modules.tools.filesystem.image_file import (
        HEAD_BYTES,
        MAX_IMAGE_BYTES,
        find_image_type,
        make_image_block,
    )

    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{what} is left out: its data is no base64]"
    # Not as the server says: a service refuses a whole request because of one wrong type.
    found = find_image_type(content[:HEAD_BYTES])
    if found is None or len(content) > MAX_IMAGE_BYTES:
        return _describe_binary(what, len(content), media_type)
    return make_image_block(found, content)


def _describe_binary(what: str, size: int, media_type: str | None) -> str:
    return f"[{what} of type `{media_type}` with {size:,} bytes is left out: no model is shown it]"


def _says_the_same(texts: list[str], data: Any) -> bool:
    """Whether texts are the data again, as servers send it for older hosts."""
    if not texts:
        return True
    if len(texts) > 1 and isinstance(data, dict):
        # Of a list that is wrapped, each item is a text.
        data = cast("dict[str, Any]", data).get("result")
        return isinstance(data, list) and _read_all(texts) == data
    try:
        said = json.loads(texts[0])
    except (ValueError, RecursionError):
        said = texts[0]
    if said == data:
        return True
    return isinstance(data, dict) and data == {"result": said}


def _read_all(texts: list[str]) -> list[Any]:
    found: list[Any] = []
    for text in texts:
        try:
            found.append(json.loads(text))
        except (ValueError, RecursionError):
            found.append(text)
    return found


def _write(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "[data that cannot be written as JSON]"
