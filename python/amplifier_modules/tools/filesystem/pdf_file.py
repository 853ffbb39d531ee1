"""The text of a PDF by pages, in bounded time and memory as far as `pypdf` allows."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from amplifier_core import world

if TYPE_CHECKING:
    from pypdf import PdfReader

T = TypeVar("T")

BEGINNING = b"%PDF-"
"""What a PDF begins with."""
MAX_SECONDS = 30.0
"""How long a call reads."""

_SILENT = logging.NullHandler()
_MAX_STREAM_BYTES = 16 * 2**20
"""Of one part of the file, unpacked."""
_MAX_STREAM_TOKENS = 500_000
"""Of one page; nothing can stop it in between, and so many take some seconds."""


class PdfError(ValueError):
    """A PDF that cannot be read."""


class _StopReading(BaseException):
    """The call was stopped, or took too long; `pypdf` goes on after an `Exception`."""


class PdfPages:
    """The pages of an open PDF."""

    def __init__(self, path: str, file: io.RawIOBase, stop: Event) -> None:
        """Open a PDF.

        Args:
            path: The file, for messages.
            file: What it holds.
            stop: Once it is set, reading ends.

        Raises:
            PdfError: It is damaged, encrypted, takes too long, or `pypdf` is not installed.
            InterruptedError: The call was stopped.
        """
        # What it warns of may hold text of the file, and would go to the terminal.
        logging.getLogger("pypdf").addHandler(_SILENT)
        self._path = path
        self._stop = stop
        self._end = world.monotonic() + MAX_SECONDS
        try:
            import pypdf
        except ImportError:
            message = f"reading the PDF `{path}` needs `pip install 'amplifier-core[pdf]'`"
            raise PdfError(message) from None
        self._limits = pypdf.Configuration(
            maximum_declared_stream_length=_MAX_STREAM_BYTES,
            array_based_stream_maximum_output_length=_MAX_STREAM_BYTES,
            lzw_maximum_output_length=_MAX_STREAM_BYTES,
            run_length_maximum_output_length=_MAX_STREAM_BYTES,
            zlib_maximum_output_length=_MAX_STREAM_BYTES,
            stream_decoding_work_maximum_length=4 * _MAX_STREAM_BYTES,
            stream_parsing_work_maximum_count=_MAX_STREAM_TOKENS,
            jbig2dec_binary=None,
        )
        watched = _WatchedFile(file, self._check)
        self._reader: PdfReader = self._contain_errors(lambda: pypdf.PdfReader(watched))
        self.total = self._contain_errors(lambda: len(self._reader.pages))
        """How many there are."""

    def read(self, first: int, limit: int) -> Iterator[str]:
        """Yield the text of each page, or why it cannot be read; fewer if it takes too long.

        Args:
            first: The number of the first page, from 1.
            limit: The most pages.

        Raises:
            PdfError: Not even one can be read in time.
            InterruptedError: The call was stopped.
        """
        for number in range(first, min(first + limit, self.total + 1)):
            try:
                yield self._contain_errors(partial(self._read_page, number))
            except _TooSlowError:
                if number == first:
                    raise
                return
            except PdfError as error:
                yield f"({error})"

    def _read_page(self, number: int) -> str:
        page = self._reader.pages[number - 1]
        text = page.extract_text(visitor_operand_before=self._check_operation)
        return text.encode("utf-8", "replace").decode()

    def _check_operation(self, *_operation: Any) -> None:
        self._check()

    def _check(self) -> None:
        if self._stop.is_set() or world.monotonic() > self._end:
            raise _StopReading

    def _contain_errors(self, read: Callable[[], T]) -> T:
        """Return what a function of `pypdf` returns, whose errors may be any."""
        import pypdf
        from pypdf.errors import DependencyError, FileNotDecryptedError

        try:
            self._check()
            with pypdf.apply_configuration(self._limits):
                return read()
        except _StopReading:
            if self._stop.is_set():
                raise InterruptedError(f"reading `{self._path}` was stopped") from None
            message = f"`{self._path}` takes longer than {MAX_SECONDS:.0f} seconds to read"
            raise _TooSlowError(message) from None
        except FileNotDecryptedError:
            raise PdfError(f"`{self._path}` is encrypted, and opens only with a password") from None
        except DependencyError:
            message = f"`{self._path}` is encrypted; reading it needs `pip install cryptography`"
            raise PdfError(message) from None
        except Exception as error:
            reason = str(error)[:200] or type(error).__name__
            raise PdfError(f"`{self._path}` cannot be read as a PDF: {reason}") from error


class _TooSlowError(PdfError):
    """A PDF that takes too long."""


class _WatchedFile(io.BufferedReader):
    """A file that is asked before each read whether to go on."""

    def __init__(self, file: io.RawIOBase, check: Callable[[], None]) -> None:
        self._check = check
        super().__init__(file)

    def read(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().read(size)
