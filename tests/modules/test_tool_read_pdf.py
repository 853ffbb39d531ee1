"""`read_file` of a PDF: its text by pages, and an error for whatever is no whole PDF."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter

from amplifier_core import world
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools.filesystem import ApplyPatch, ReadFile, ReadRecords
from amplifier_modules.tools.filesystem.pdf_file import MAX_SECONDS

PAGES = ("First page\nwith two lines", "Second page", "Third page")


def write_pdf(*pages: str, operations: bytes = b"") -> bytes:
    """Return a PDF in which each page shows one text.

    Args:
        *pages: The texts, a line of the page for each of theirs.
        operations: What each page draws before its text.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        lines = "".join(f"({line}) Tj 0 -14 Td\n" for line in text.split("\n"))
        drawn = operations + f"BT /F1 12 Tf 50 700 Td\n{lines}ET".encode()
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R"
            b" >> >> /Contents " + f"{5 + 2 * number} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n".encode() + drawn + b"\nendstream")
    written = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, content in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return bytes(written) + f"{end}startxref\n{len(written)}\n%%EOF\n".encode()


def failure(result: ToolResult) -> tuple[str, str]:
    assert not result.success
    assert result.error is not None
    return result.error["type"], result.error["message"]


def save(folder: Path, content: bytes) -> int:
    (folder / "a.txt").write_bytes(content)
    return len(content)


def output_of(result: ToolResult) -> dict[str, Any]:
    assert result.output is not None
    return result.output


async def read(folder: Path, max_bytes: int = 9999, **arguments: Any) -> ToolResult:
    return await ReadFile(PathPolicy(folder), max_bytes).execute({"path": "a.txt", **arguments})


# Holds: sink-72
async def test_a_pdf_is_shown_by_pages_whatever_its_name(tmp_path: Path) -> None:
    size = save(tmp_path, write_pdf(*PAGES))
    figures: dict[str, Any] = {"path": "a.txt", "bytes": size, "total_pages": 3}
    assert await read(tmp_path) == ToolResult(
        output={
            **figures,
            "offset": 1,
            "shown_pages": 3,
            "content": (
                "[page 1]\nFirst page\nwith two lines\n\n[page 2]\nSecond page\n\n[page 3]\nThird page\n\n"
            ),
            "truncated": False,
        }
    )
    assert await read(tmp_path, offset=2, limit=1) == ToolResult(
        output={
            **figures,
            "offset": 2,
            "shown_pages": 1,
            "content": "[page 2]\nSecond page\n\n",
            "truncated": True,
        }
    )
    assert await read(tmp_path, offset=9) == ToolResult(
        output={**figures, "offset": 9, "shown_pages": 0, "content": "", "truncated": False}
    )


async def test_pages_that_do_not_fit_are_left_for_the_next_call(tmp_path: Path) -> None:
    save(tmp_path, write_pdf(*("x" * 1500 for _ in range(5)), "y" * 9000))
    found: list[tuple[int, int]] = []
    offset = 1
    output: dict[str, Any] = {}
    while offset <= 6:
        output = output_of(await read(tmp_path, 4096, offset=offset))
        assert len(ToolResult(output=output).model_dump_json()) < 4096
        found.append((offset, output["shown_pages"]))
        assert output["truncated"] is (offset + output["shown_pages"] <= 6)
        offset += output["shown_pages"]
    assert found == [(1, 2), (3, 2), (5, 1), (6, 1)]
    assert output["omitted"] == {"bytes": 9000 + len("[page 6]\n\n\n") - len(output["content"])}


async def test_a_pdf_that_was_read_may_be_deleted(tmp_path: Path) -> None:
    save(tmp_path, write_pdf("x"))
    records = ReadRecords()
    policy = PathPolicy(tmp_path)
    delete = {"patch": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"}
    tool = ApplyPatch(policy, records=records)
    assert failure(await tool.execute(delete))[0] == "FileNotReadError"
    await ReadFile(policy, records=records).execute({"path": "a.txt"})
    assert (await tool.execute(delete)).success
    assert os.listdir(tmp_path) == []


def encrypt(password: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(write_pdf("Secret plans")))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


# Holds: sink-72
async def test_an_encrypted_pdf_is_read_if_it_opens_without_a_password(tmp_path: Path) -> None:
    save(tmp_path, encrypt("yes"))
    assert failure(await read(tmp_path)) == (
        "PdfError",
        "`a.txt` is encrypted, and opens only with a password",
    )
    save(tmp_path, encrypt(""))
    assert output_of(await read(tmp_path))["content"] == "[page 1]\nSecret plans\n\n"


# Holds: sink-72
@pytest.mark.parametrize("content", [b"%PDF-", b"%PDF-1.4\n%%EOF", b"%PDF-1.7\n" + b"\0" * 5000])
async def test_a_damaged_pdf_is_an_error(tmp_path: Path, content: bytes) -> None:
    save(tmp_path, content)
    type, message = failure(await read(tmp_path))
    assert type == "PdfError"
    assert message.startswith("`a.txt` cannot be read as a PDF: ")


@given(st.data())
@settings(max_examples=50)
def test_a_pdf_with_other_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    content = bytearray(write_pdf(*PAGES))
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(5, len(content) - 1))] = data.draw(st.integers(0, 255))
    save(folder, bytes(content))
    result = anyio.run(read, folder)
    assert result.success or failure(result)[0] == "PdfError"


async def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, write_pdf("x"))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    assert failure(await read(tmp_path)) == (
        "PdfError",
        "reading the PDF `a.txt` needs `pip install 'amplifier-core[pdf]'`",
    )


class Hurried(world.World):
    """A world in which each look at the clock takes a second."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        self.seconds += 1
        return self.seconds


@pytest.fixture
def hurried() -> Iterator[Hurried]:
    world_in_use = Hurried()
    with world.use(world_in_use):
        yield world_in_use


# Holds: sink-72
@pytest.mark.usefixtures("hurried")
def test_a_pdf_that_takes_too_long_ends_there(tmp_path: Path) -> None:
    tool = ReadFile(PathPolicy(tmp_path))
    arguments = tool._arguments.model_validate({"path": "a.txt"})  # pyright: ignore[reportPrivateUsage]
    save(tmp_path, write_pdf("x", operations=b"0 0 m " * 100))
    message = f"`a.txt` takes longer than {MAX_SECONDS:.0f} seconds to read"
    with pytest.raises(ValueError, match=message):
        tool.run(arguments, Event())


# Holds: sink-72
def test_a_stopped_call_reads_no_more_of_a_pdf(tmp_path: Path) -> None:
    tool = ReadFile(PathPolicy(tmp_path))
    arguments = tool._arguments.model_validate({"path": "a.txt"})  # pyright: ignore[reportPrivateUsage]
    save(tmp_path, write_pdf("x", operations=b"0 0 m " * 100))
    asked = 0

    class Later(Event):
        """An event that is set after it was asked some times."""

        def is_set(self) -> bool:
            nonlocal asked
            asked += 1
            return asked > 40

    with pytest.raises(InterruptedError, match=r"reading `a\.txt` was stopped"):
        tool.run(arguments, Later())
    assert asked == 42
