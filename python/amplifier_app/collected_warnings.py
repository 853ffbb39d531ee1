"""What modules warn of in their log, for commands that have no log."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator

from typing_extensions import override


@contextlib.contextmanager
def collect_warnings(name: str, warnings: list[str]) -> Generator[None]:
    """Collect what the loggers of a package warn of while in this block.

    Args:
        name: The package.
        warnings: Takes the warnings.
    """

    class Collector(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())

    logger = logging.getLogger(name)
    collector = Collector(logging.WARNING)
    logger.addHandler(collector)
    try:
        yield
    finally:
        logger.removeHandler(collector)
