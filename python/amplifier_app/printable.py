"""Text of models, tools and servers, made safe to print on a terminal."""

from __future__ import annotations

_REPLACEMENT = "\ufffd"

# Escape sequences begin with ESC or a C1 control, so that none of them survives this table.
# Bidirectional overrides make a line read differently from what it says.
_UNSAFE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT),
    **dict.fromkeys(range(0x202A, 0x202F), _REPLACEMENT),
    **dict.fromkeys(range(0x2066, 0x206A), _REPLACEMENT),
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT),
    ord("\r"): "",
}
_TEXT = {**_UNSAFE, ord("\n"): "\n", ord("\t"): "    "}
_LINE = {**_UNSAFE, ord("\n"): " ", ord("\t"): " ", 0x2028: " ", 0x2029: " "}


def printable(text: str) -> str:
    """Replace what a terminal would act on: escapes, controls, overrides, lone surrogates.

    Newlines stay and tabs become four spaces. It works on each character alone, so the pieces of
    a stream can be passed one by one.
    """
    return text.translate(_TEXT)


def printable_line(text: str, limit: int | None = None) -> str:
    """The same as one line, cut to `limit` characters (the last one an ellipsis)."""
    if limit is None:
        return " ".join(text.translate(_LINE).split())
    # Cut before the work: a tool may have returned megabytes.
    beginning = text[: 4 * limit]
    line = " ".join(beginning.translate(_LINE).split())
    if len(line) > limit or len(beginning) < len(text):
        return line[: limit - 1] + "…"
    return line


def whole_text(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
