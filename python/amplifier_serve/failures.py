"""What has failed, in one line that followers may read, too."""

from __future__ import annotations

from typing import Any, cast

from amplifier_guard import Redactor

_MAX_CHARS = 1000


def write_failure(error: BaseException) -> str:
    """Return an error as a line without secrets; of several errors the first one."""
    first: Any = error
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    text = " ".join(str(first).split()) or type(first).__name__
    return Redactor().redact(text[:_MAX_CHARS])
