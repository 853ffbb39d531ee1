"""What a client asks of the proxy: the head of `CONNECT`, or of a request of plain HTTP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from amplifier_guard import Destination, UrlDenied, UrlPolicy

from .problem import ProxyProblem

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rf"(?P<method>{_TOKEN}) (?P<target>[!-~]+) (?P<version>HTTP/1\.[01])")
_FIELD = re.compile(rf"(?P<name>{_TOKEN}):[ \t]*(?P<value>[^\x00-\x08\x0a-\x1f\x7f]*)")
_AUTHORITY = re.compile(r"(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", re.ASCII)
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)

_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
    }
)
_REWRITTEN = frozenset({"host", "content-length", "transfer-encoding"})


@dataclass(frozen=True)
class Chunked:
    """A body in chunks, whose end is in itself."""


Body: TypeAlias = int | Chunked | None
"""The bytes of a body, or how its end is found; None for no body."""


@dataclass(frozen=True)
class TunnelRequest:
    """`CONNECT`: bytes go both ways, whatever they are."""

    destination: Destination


@dataclass(frozen=True)
class PlainRequest:
    """A request of plain HTTP, which is forwarded."""

    destination: Destination
    head: bytes
    """What the server is sent, without the body."""
    body: Body


def parse_head(head: bytes) -> TunnelRequest | PlainRequest:
    """Read the head of a request, to the empty line at its end.

    Raises:
        ProxyProblem: It is malformed, or leads where no request may.
    """
    lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line = _REQUEST_LINE.fullmatch(lines[0])
    if line is None:
        raise ProxyProblem(400, "the request line is malformed")
    fields = [_parse_field(field) for field in lines[1:]]
    if line["method"] == "CONNECT":
        return TunnelRequest(_read_authority(line["target"]))
    destination = _read_url(line["target"])
    body = _find_body(fields, line["version"])
    lines = [
        f"{line['method']} {_write_target(destination)} {line['version']}",
        f"Host: {urlsplit(destination.url).netloc}",
        *_keep_fields(fields),
        *_write_framing(body),
        "Connection: close",
    ]
    return PlainRequest(destination, "\r\n".join([*lines, "", ""]).encode("latin-1"), body)


def parse_chunk_size(line: bytes) -> int:
    """Read the line before a chunk of a body; the last one has the size 0.

    Raises:
        ProxyProblem: It is malformed.
    """
    found = _CHUNK_LINE.fullmatch(line)
    if found is None:
        raise ProxyProblem(400, "a chunk of the body is malformed")
    return int(found[1], 16)


def _parse_field(line: str) -> tuple[str, str]:
    field = _FIELD.fullmatch(line)
    if field is None:
        raise ProxyProblem(400, "a header of the request is malformed")
    return field["name"], field["value"].rstrip(" \t")


def _read_authority(target: str) -> Destination:
    found = _AUTHORITY.fullmatch(target)
    if found is None:
        raise ProxyProblem(400, "the target of `CONNECT` is not `host:port`")
    return _judge_url(f"https://{target}/", int(found["port"]))


def _read_url(target: str) -> Destination:
    if not target.lower().startswith("http://"):
        raise ProxyProblem(400, "the target is not a URL of `http`; other ones need `CONNECT`")
    try:
        port = urlsplit(target).port
    except ValueError as error:
        raise ProxyProblem(400, "the URL is malformed") from error
    return _judge_url(target, 80 if port is None else port)


def _judge_url(url: str, port: int) -> Destination:
    if not 0 < port < 65536:
        raise ProxyProblem(400, "the port is not between 1 and 65535")
    try:
        return UrlPolicy(ports=[port], deny_private=False).destination(url)
    except UrlDenied as error:
        raise ProxyProblem(403, str(error)) from error


def _find_body(fields: list[tuple[str, str]], version: str) -> Body:
    """Where the body ends; what two readers could understand differently is refused."""
    lengths = {value for name, value in fields if name.lower() == "content-length"}
    codings = [value.lower() for name, value in fields if name.lower() == "transfer-encoding"]
    if codings:
        if codings != ["chunked"] or lengths or version == "HTTP/1.0":
            raise ProxyProblem(400, "the end of the body is ambiguous")
        return Chunked()
    if not lengths:
        return None
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise ProxyProblem(400, "the length of the body is ambiguous")
    return int(length)


def _write_framing(body: Body) -> list[str]:
    if isinstance(body, Chunked):
        return ["Transfer-Encoding: chunked"]
    return [] if body is None else [f"Content-Length: {body}"]


def _keep_fields(fields: list[tuple[str, str]]) -> list[str]:
    named = {
        word.strip().lower()
        for name, value in fields
        if name.lower() == "connection"
        for word in value.split(",")
    }
    dropped = _OF_ONE_CONNECTION | _REWRITTEN | named
    return [f"{name}: {value}" for name, value in fields if name.lower() not in dropped]


def _write_target(destination: Destination) -> str:
    rest = destination.url.split("/", 3)[3]
    return "/" + rest.partition("#")[0]
