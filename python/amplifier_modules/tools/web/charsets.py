"""The text of bytes from the web: in which characters it is written."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(
    rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE | re.ASCII
)
_HEAD_BYTES = 4096
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_SAME = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030"}
"""Names that stand for more than they say, as browsers read them."""
_UNSAFE = frozenset({"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape"})
"""Text that is another one than any browser shows."""


def decode(content: bytes, content_type: str, *, is_html: bool, is_cut: bool) -> str:
    """Return the text of an answer; what no character is becomes a mark.

    Args:
        content: The answer.
        content_type: Its header.
        is_html: Whether it can say itself in which characters it is.
        is_cut: Whether its end may be the middle of a character.
    """
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    named = _CHARSET.search(content_type)
    charset = _find_codec(named[1]) if named else None
    if charset is None and is_html and (said := _META.search(content, 0, _HEAD_BYTES)):
        charset = _find_codec(said[1].decode("ascii"))
        # What was read as bytes of ASCII is no UTF-16.
        charset = "utf-8" if charset and charset.startswith("utf-16") else charset
    if charset is not None:
        return content.decode(charset, "replace")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        is_utf8 = is_cut and error.start >= len(content) - 3
        return content.decode("utf-8" if is_utf8 else "cp1252", "replace")


def _find_codec(name: str) -> str | None:
    """Return the name of the codec for a charset; None where there is none for text."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # raises for what is no text, such as `hex`
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if found in _UNSAFE else _SAME.get(found, found)
