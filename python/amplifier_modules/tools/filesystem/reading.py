"""The tool that shows what is in a file: `read_file`."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from threading import Event
from typing import Any, cast

from pydantic import Field

from amplifier_core.events import ARTIFACT_READ
from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_guard.path import LineWindow
from amplifier_modules.tools.artifact_events import emit_artifact
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes, echo_argument
from amplifier_modules.tools.secret_files import SecretFiles

from .image_file import (
    HEAD_BYTES,
    MAX_IMAGE_BYTES,
    ImageTooLargeError,
    find_image_type,
    make_image_block,
)
from .pdf_file import BEGINNING, PdfPages
from .read_record import MAX_FILE_BYTES, ReadRecords

_OMITTED = "`omitted` counts what the limit of bytes left out."


class _ReadFile(Arguments):
    path: str = Field(description="The file, from the working folder.")
    offset: int = Field(
        default=1,
        ge=1,
        le=2**53,
        description="The number of the first line to show, of a PDF that of the first page, from 1.",
    )
    limit: int = Field(
        default=2000, ge=0, le=1_000_000, description="The most lines to show, or pages of a PDF."
    )


class ReadFile(BlockingTool[_ReadFile]):
    """Shows lines of a text file, pages of a PDF, or an image."""

    name = "read_file"
    read_only = True
    description = (
        "Read a text file of the working folder. Shows up to `limit` lines from line `offset` on;"
        " `truncated` says that the file goes on after them. `total_lines` counts the lines of the"
        " whole file, a last one without a newline character among them. Of a PDF the text is shown,"
        " by pages instead of lines; a PNG, JPEG, GIF or WebP is shown as the image that it is. A"
        f" person is asked about files that hold secrets, such as `.env`. {_OMITTED}"
    )

    def __init__(
        self,
        policy: PathPolicy,
        max_bytes: int = MAX_RESULT_BYTES,
        records: ReadRecords | None = None,
    ) -> None:
        super().__init__(_ReadFile, max_bytes)
        self._secret_files = SecretFiles(self.name, policy)
        self._records = ReadRecords() if records is None else records

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: the file holds secrets."""
        return self._secret_files.are_at(input.get("path"))

    def run(self, arguments: _ReadFile, stop: Event) -> dict[str, Any]:
        """Read the lines or pages asked for, or the image."""
        policy = self._secret_files.choose_policy(arguments.path)
        head = policy.read(arguments.path, HEAD_BYTES)
        if find_image_type(head) is not None:
            return self._read_image(policy, arguments)
        if head.startswith(BEGINNING):
            return self._read_pdf(policy, arguments, stop)
        return self._read_lines(policy, arguments, stop)

    async def finish(self, output: dict[str, Any]) -> dict[str, Any]:
        """Emit `artifact:read`."""
        keys = ("path", "bytes", "offset", "shown_lines", "shown_pages", "media_type")
        await emit_artifact(ARTIFACT_READ, {key: output[key] for key in keys if key in output})
        return output

    def make_result(self, output: dict[str, Any]) -> ToolResult:
        """Return the result, an image as content."""
        image = output.pop("image", None)
        if image is None:
            return ToolResult(output=output)
        text = TextBlock(text=json.dumps(output))
        return ToolResult(output=output, content=[text, ImageBlock.model_validate(image)])

    def _read_image(self, policy: PathPolicy, arguments: _ReadFile) -> dict[str, Any]:
        with policy.open(arguments.path) as file:
            content = file.read(MAX_IMAGE_BYTES + 1)
            size = len(content) if len(content) <= MAX_IMAGE_BYTES else file.seek(0, os.SEEK_END)
        path = policy.resolve(arguments.path)
        shown = echo_argument(path_text(path), self.max_bytes)
        if size > MAX_IMAGE_BYTES:
            raise ImageTooLargeError(shown, size)
        media_type = find_image_type(content) or "application/octet-stream"
        self._records.find_record().note(path, content)
        image = make_image_block(media_type, content)
        return {"path": shown, "bytes": size, "media_type": media_type, "image": image}

    def _read_pdf(self, policy: PathPolicy, arguments: _ReadFile, stop: Event) -> dict[str, Any]:
        path = policy.resolve(arguments.path)
        with policy.open(arguments.path) as file:
            figures: dict[str, Any] = {
                "path": echo_argument(path_text(path), self.max_bytes),
                "bytes": os.fstat(file.fileno()).st_size,
            }
            # What is known of the file is what is shown of it.
            content = file.read(MAX_FILE_BYTES + 1)
            is_small = len(content) <= MAX_FILE_BYTES
            if is_small:
                self._records.find_record().note(path, content)
            source = io.BytesIO(content) if is_small else file.raw
            pages = PdfPages(figures["path"], cast("io.RawIOBase", source), stop)
            figures |= {"total_pages": pages.total, "offset": arguments.offset, "shown_pages": 0}
            room = ResultBytes(self.max_bytes, figures)
            whole = b""
            shown = omitted = 0
            for text in pages.read(arguments.offset, arguments.limit):
                page = f"[page {arguments.offset + shown}]\n{text.rstrip()}\n\n".encode()
                fitting = room.take_beginning(whole + page)
                if len(fitting) < len(whole + page):
                    # A page that is too long even alone is cut; any other is left for the next call.
                    omitted = 0 if shown else len(page) - len(fitting)
                    whole, shown = (whole, shown) if shown else (fitting, 1)
                    break
                whole, shown = fitting, shown + 1
        output = {
            **figures,
            "shown_pages": shown,
            "content": whole.decode("utf-8", "replace"),
            "truncated": arguments.offset + shown <= pages.total,
        }
        return {**output, "omitted": {"bytes": omitted}} if omitted else output

    def _read_lines(self, policy: PathPolicy, arguments: _ReadFile, stop: Event) -> dict[str, Any]:
        window = policy.lines(
            arguments.path,
            first=arguments.offset,
            limit=arguments.limit,
            max_bytes=self.max_bytes,
            stop=stop,
        )
        path = policy.resolve(arguments.path)
        self._note_read(policy, path, arguments.offset, window)
        figures: dict[str, Any] = {
            "path": echo_argument(path_text(path), self.max_bytes),
            "bytes": window.bytes,
            "total_lines": window.total_lines,
            "offset": arguments.offset,
            "shown_lines": window.shown_lines,
        }
        content = ResultBytes(self.max_bytes, figures).take_beginning(window.content)
        whole = content.count(b"\n")
        if len(content) < len(window.content):
            figures["shown_lines"] = whole + (content[-1:] not in (b"\n", b""))
        truncated = window.truncated or len(content) < len(window.content)
        shown = whole if truncated else window.shown_lines
        wanted = min(arguments.limit, max(0, window.total_lines - arguments.offset + 1))
        output = {
            **figures,
            "content": content.decode("utf-8", "replace"),
            "truncated": truncated,
        }
        return {**output, "omitted": {"lines": wanted - shown}} if wanted > shown else output

    def _note_read(self, policy: PathPolicy, path: str, offset: int, window: LineWindow) -> None:
        """Note the file as read, if what is shown is a part of what it holds now."""
        if window.bytes > MAX_FILE_BYTES:
            return
        content = policy.read(path, MAX_FILE_BYTES + 1)
        start = 0
        for _ in range(min(offset, window.total_lines + 1) - 1):
            start = content.find(b"\n", start) + 1 or len(content)
        # Else it changed between the two reads, and is to be read again before it is changed.
        if content.startswith(window.content, start):
            self._records.find_record().note(path, content)
