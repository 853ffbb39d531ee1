"""Errors of the kernel's providers as errors of this package: here, and nowhere else."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_modules.settings import SettingError

from ..exceptions import ArcLLMAPIError, ArcLLMConfigError, ArcLLMError
from .names import PROVIDERS


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
    said, hint = _named(str(error), provider), _named(error.hint or "", provider)
    if isinstance(error, SettingError):
        of_module = str(error).removeprefix(f"{error.module}: ")
        return ArcLLMConfigError(f"settings of `{provider}`: {of_module}")
    if isinstance(error, ConfigurationError) and error.status_code is None:
        return ArcLLMConfigError(f"{said}; {hint}" if hint else said)
    return ArcLLMAPIError(
        error.status_code,
        error.body or said,
        provider,
        error.retry_after,
        error.retryable,
        hint or None,
        said,
    )


def _named(text: str, provider: str) -> str:
    """Return a text with the name that a provider has here, not that of its module."""
    return text.replace(PROVIDERS[provider].module, f"`{provider}`")
