"""What a model reads of an answer: text, or an image."""

from __future__ import annotations

import io
from dataclasses import dataclass
from threading import Event
from typing import Any, cast

from amplifier_guard import TerminalText
from amplifier_modules.instructions.written_text import escape_marks

from .answer import Answer, FetchError, show_url
from .charsets import decode

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset(
    {
        "application/ecmascript",
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
_UNKNOWN = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_MAX_DEPTH = 500
"""Nested deeper, elements have no text: no page of people does that."""
_MAX_PDF_PAGES = 200
_MAX_TITLE_CHARS = 300


@dataclass(frozen=True)
class Page:
    """An address as a model reads it."""

    url: str
    media_type: str
    text: str = ""
    title: str = ""
    image: dict[str, Any] | None = None
    """The block of an image; then there is no text."""
    notes: tuple[str, ...] = ()
    """What is to be said of it."""


def make_page(answer: Answer, stop: Event) -> Page:
    """Return what a model reads of an answer; blocks.

    Raises:
        FetchError: It cannot be read.
        InterruptedError: Reading was stopped.
    """
    kind = answer.content_type.partition(";")[0].strip().lower()
    if kind in _UNKNOWN:
        kind = _guess_type(answer.body) or kind
    shown = TerminalText.line(kind, 80)
    notes = ("there is more than was read: the answer was cut",) if answer.is_cut else ()
    if kind in _HTML:
        written = _decode(answer, is_html=True)
        title, text = _convert_html(written, answer.url)
        return Page(answer.url, shown, _make_harmless(text), _make_line(title), notes=notes)
    if _is_text(kind):
        text = _decode(answer, is_html=False)
        return Page(answer.url, shown, _make_harmless(text), notes=notes)
    if kind == "application/pdf":
        return Page(answer.url, shown, _make_harmless(_read_pdf(answer, stop)), notes=notes)
    if kind.startswith("image/") and (image := _make_image(answer)) is not None:
        return Page(answer.url, shown, image=image)
    size = f"more than {len(answer.body):,}" if answer.is_cut else f"{len(answer.body):,}"
    return Page(answer.url, shown, notes=(f"it has {size} bytes, and no text that is read here",))


def _decode(answer: Answer, *, is_html: bool) -> str:
    return decode(answer.body, answer.content_type, is_html=is_html, is_cut=answer.is_cut)


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _TEXT or kind.endswith(("+json", "+xml", "+yaml"))


def _guess_type(body: bytes) -> str | None:
    """Return the type of an answer that does not say it; None where it is no text."""
    head = body[:1024].lstrip().lower()
    if head.startswith(b"%pdf-"):
        return "application/pdf"
    if head.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if b"\0" in body[:4096]:
        return None
    try:
        body[:4096].decode()
    except UnicodeDecodeError as error:
        return "text/plain" if error.start >= len(body[:4096]) - 3 else None
    return "text/plain"


def _convert_html(written: str, url: str) -> tuple[str, str]:
    """Return the title of a page, and its text as Markdown.

    Raises:
        FetchError: The library is not installed, or cannot read it.
    """
    try:
        # Late: 20 MB of it, for whoever reads a page.
        from html_to_markdown import ConversionOptions, convert
    except ImportError:
        raise FetchError(
            f"`{show_url(url)}` is HTML, which needs `pip install 'amplifier-core[web]'`"
        ) from None
    options = ConversionOptions(skip_images=True, max_depth=_MAX_DEPTH, base_url=url)
    try:
        # Half of a character of UTF-16, which no UTF-8 has, would end it.
        found: Any = convert(written.encode("utf-8", "replace").decode(), options)
    except Exception as error:
        why = TerminalText.line(str(error) or type(error).__name__, 200)
        raise FetchError(f"`{show_url(url)}` cannot be read as HTML: {why}") from error
    document = getattr(found.metadata, "document", None)
    return str(getattr(document, "title", None) or ""), _drop_head(str(found.content or ""))


def _drop_head(text: str) -> str:
    """Return a text without the block of fields that the library puts before it."""
    if text.startswith("---\n"):
        _, end, rest = text.partition("\n---\n")
        text = rest if end else text
    return text.strip("\n")


def _read_pdf(answer: Answer, stop: Event) -> str:
    # Late: files are not read by most sessions that read pages.
    from amplifier_modules.tools.filesystem.pdf_file import PdfError, PdfPages

    try:
        source = cast("io.RawIOBase", io.BytesIO(answer.body))
        pages = PdfPages(show_url(answer.url), source, stop)
        texts = list(pages.read(1, _MAX_PDF_PAGES))
    except PdfError as error:
        raise FetchError(str(error)) from error
    rows = [f"[page {number}]\n{text.rstrip()}\n" for number, text in enumerate(texts, 1)]
    if len(texts) < pages.total:
        rows.append(f"[{pages.total - len(texts)} more pages are not read]")
    return "\n".join(rows)


def _make_image(answer: Answer) -> dict[str, Any] | None:
    from amplifier_modules.tools.filesystem.image_file import (
        HEAD_BYTES,
        MAX_IMAGE_BYTES,
        find_image_type,
        make_image_block,
    )

    # Not as the server says: a service refuses a whole request because of one wrong type.
    found = find_image_type(answer.body[:HEAD_BYTES])
    if found is None or answer.is_cut or len(answer.body) > MAX_IMAGE_BYTES:
        return None
    return make_image_block(found, answer.body)


def _make_harmless(text: str) -> str:
    """Return a text that controls no terminal and forges no mark of ours."""
    return escape_marks(TerminalText.show(text.replace("\r\n", "\n")))


def _make_line(text: str) -> str:
    return escape_marks(TerminalText.line(" ".join(text.split()), _MAX_TITLE_CHARS))
