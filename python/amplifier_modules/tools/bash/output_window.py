"""The beginning and the end of an output, in a bounded memory."""

from __future__ import annotations

from amplifier_modules.tools.result_bytes import whole_characters


class OutputWindow:
    """What has come since it was last taken: at most so many bytes, from both ends."""

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` bytes."""
        self._head_bytes = limit // 2
        self._tail_bytes = limit - self._head_bytes
        self._clear(b"")

    def add(self, piece: bytes) -> None:
        """Take what has come."""
        room = self._head_bytes - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        surplus = len(self._tail) - self._tail_bytes
        if surplus > 0:
            self._dropped += surplus
            del self._tail[:surplus]

    def show_end(self, most: int) -> str:
        """Return the last whole lines of at most so many bytes; of one longer line its end."""
        content = bytes((self._head + self._tail)[-most:]) if self._dropped == 0 else b""
        content = content or bytes(self._tail[-most:])
        is_cut = self._dropped > 0 or len(self._head) + len(self._tail) > most
        _, found, lines = content.partition(b"\n") if is_cut else (b"", True, content)
        shown = lines if found and lines else _trim_start(content)
        return whole_characters(shown).decode("utf-8", "replace")

    def take(self, *, is_over: bool) -> tuple[str, bool]:
        """Return the text of what has come, and whether its middle is left out; it begins anew.

        Invalid bytes are replaced.

        Args:
            is_over: Whether nothing follows; else the bytes of a character that is not whole yet
                are kept for the next time.
        """
        content = bytes(self._tail if self._dropped else self._head + self._tail)
        shown = content if is_over else whole_characters(content)
        rest = content[len(shown) :]
        if not self._dropped:
            self._clear(rest)
            return shown.decode("utf-8", "replace"), False
        head = whole_characters(bytes(self._head))
        tail = _trim_start(shown)
        count = self._dropped + len(self._head) - len(head) + len(shown) - len(tail)
        self._clear(rest)
        line = f"[… {count:,} bytes are left out here …]"
        beginning = head.decode("utf-8", "replace")
        gap = "" if beginning.endswith("\n") else "\n"
        return f"{beginning}{gap}{line}\n{tail.decode('utf-8', 'replace')}", True

    def _clear(self, rest: bytes) -> None:
        self._head = bytearray(rest)
        self._tail = bytearray()
        self._dropped = 0


def _trim_start(content: bytes) -> bytes:
    """Return UTF-8 without the rest of the character that its start cuts in two."""
    start = 0
    while start < min(3, len(content)) and 0x80 <= content[start] < 0xC0:
        start += 1
    return content[start:]
