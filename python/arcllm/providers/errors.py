"""Errors of the kernel's providers as errors of this package: here, and nowhere else."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from amplifier_core.llm_errors import ConfigurationError, LLMError
from amplifier_providers.settings import SettingError

from ..exceptions import ArcLLMAPIError, ArcLLMConfigError, ArcLLMError
from .names import PROVIDERS, ProviderName


@contextmanager
def translate_errors(provider: ProviderName) -> Generator[None]:
    """Raise the errors of the kernel as those of this package; theirs are the `__cause__`.

    Args:
        provider: The provider, with the name that it has here.
    """
    try:
        yield
    except LLMError as error:
        raise _translate(error, provider) from error


def _translate(error: LLMError, provider: ProviderName) -> ArcLLMError:
    message, hint = _rename(str(error), provider), _rename(error.hint or "", provider)
    if isinstance(error, SettingError):
        of_module = str(error).removeprefix(f"{error.module}: ")
        return ArcLLMConfigError(f"settings of `{provider.name}`: {of_module}")
    if isinstance(error, ConfigurationError) and error.status_code is None:
        return ArcLLMConfigError(f"{message}; {hint}" if hint else message)
    return ArcLLMAPIError(
        error.status_code,
        error.body or message,
        provider.name,
        error.retry_after,
        error.retryable,
        hint or None,
        message,
    )


def _rename(text: str, provider: ProviderName) -> str:
    """Return a text with the names that a provider and what it needs have here."""
    text = text.replace(provider.module, f"`{provider.name}`")
    if provider.name in PROVIDERS:
        return text
    # The key and the address of the configuration count, not those of the environment.
    for variable, here in (
        (provider.key_variable, "its key"),
        (provider.address_variable, "its address"),
    ):
        text = text.replace(f"`{variable}`", here) if variable else text
    return text
