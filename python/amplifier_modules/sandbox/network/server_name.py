"""The name of the server in the first message of TLS, which tells servers of one address apart."""

from __future__ import annotations

HANDSHAKE = 22
"""The first byte of a connection that speaks TLS."""
MAX_HELLO_BYTES = 16 * 1024
"""The longest first message that is read; those of browsers have 2 KB."""

_MAX_RECORDS = 8
_CLIENT_HELLO = 1
_SERVER_NAME = 0
_HOST_NAME = 0


def read_hello(start: bytes) -> bytes | None:
    """The body of the first message of a client of TLS; None if more bytes are needed.

    Raises:
        ValueError: It is another message, or a longer one than is read.
    """
    message = b""
    offset = 0
    for _ in range(_MAX_RECORDS):
        header = start[offset : offset + 5]
        if header[:1] not in (b"", bytes([HANDSHAKE])):
            raise ValueError("not a record of a handshake")
        end = offset + 5 + int.from_bytes(header[3:])
        if len(header) < 5 or len(start) < end:
            if len(start) > MAX_HELLO_BYTES:
                break
            return None
        message += start[offset + 5 : end]
        offset = end
        size = 4 + int.from_bytes(message[1:4])
        if message[:1] not in (b"", bytes([_CLIENT_HELLO])):
            raise ValueError("not the first message of a client")
        if 4 < size <= len(message):
            return message[4:size]
    raise ValueError("the first message is too long")


def read_server_name(hello: bytes) -> str | None:
    """The server that a client names in its first message; None if it names none.

    Raises:
        ValueError: The message is malformed, or names more than one server.
    """
    message = _Message(hello)
    message.take(2 + 32)  # the version and the random bytes
    message.take_sized(1)  # the session
    message.take_sized(2)  # the ciphers
    message.take_sized(1)  # the compressions
    extensions = _Message(message.take_sized(2) if message.left else b"")
    found: str | None = None
    while extensions.left:
        kind = int.from_bytes(extensions.take(2))
        content = _Message(extensions.take_sized(2))
        if kind != _SERVER_NAME:
            continue
        names = _Message(content.take_sized(2))
        if found is not None or names.take(1)[0] != _HOST_NAME:
            raise ValueError("the name of the server is ambiguous")
        found = names.take_sized(2).decode("ascii")
        if names.left or content.left:
            raise ValueError("the name of the server is ambiguous")
    return found


class _Message:
    """Bytes that are taken from the start."""

    def __init__(self, content: bytes) -> None:
        self.left = content

    def take(self, size: int) -> bytes:
        taken, self.left = self.left[:size], self.left[size:]
        if len(taken) < size:
            raise ValueError("the message ends too early")
        return taken

    def take_sized(self, size_bytes: int) -> bytes:
        """Take what follows its own size."""
        return self.take(int.from_bytes(self.take(size_bytes)))
