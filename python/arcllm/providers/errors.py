"""Errors of the kernel's providers as errors of this package: here, and nowhere else."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_modules.settings import SettingError

from ..exceptions import ArcLLMAPIError, ArcLLMConfigError, ArcLLMError


@contextmanager
def translated(provider: str) -> Generator[None]:
    """Raise the errors of the kernel as those of this package; theirs are the `__cause__`.

    Args:
        provider: The name of the provider here.
    """
    try:
        yield
    except LLMError as error:
        raise _translated(error, provider) from error


def _translated(error: LLMError, provider: str) -> ArcLLMError:
    if isinstance(error, SettingError):
        said = str(error).removeprefix(f"{error.module}: ")
        return ArcLLMConfigError(f"settings of `{provider}`: {said}")
    if isinstance(error, ConfigurationError) and error.status_code is None:
        return ArcLLMConfigError(f"{error}; {error.hint}" if error.hint else str(error))
    return ArcLLMAPIError(
        error.status_code,
        str(error),
        provider,
        error.retry_after,
        error.retryable,
        error.hint,
    )
