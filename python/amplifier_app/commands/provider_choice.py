"""The providers that `--model` knows, and the one that it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_modules.providers.anthropic.models import DEFAULT_MODEL as CLAUDE
from amplifier_modules.providers.openai_chat.presets import PRESETS
from amplifier_modules.providers.openai_models import DEFAULT_MODEL as GPT

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules


@dataclass(frozen=True)
class KnownProvider:
    """A provider of ours, as far as the command must know it before it is loaded."""

    name: str
    """What `--model` calls it."""
    key_variable: str = ""
    """The variable with its key; empty where the provider itself says what it needs."""
    model: str = ""
    """The model where none is named; empty if one must be."""

    @property
    def module_id(self) -> str:
        """The module that is mounted."""
        return f"provider-{self.name}"

    def has_key(self, environment: Mapping[str, str]) -> bool:
        """Whether its key is set; also if the command need not look for it."""
        return not self.key_variable or bool(environment.get(self.key_variable, "").strip())


PROVIDERS: Mapping[str, KnownProvider] = {
    provider.name: provider
    for provider in (
        KnownProvider("anthropic", "ANTHROPIC_API_KEY", CLAUDE),
        KnownProvider("openai", "OPENAI_API_KEY", GPT),
        KnownProvider("openai-chat"),
        KnownProvider("azure-openai"),
        *(KnownProvider(name, preset.key_variable) for name, preset in PRESETS.items()),
    )
}
"""By their names; of those with a usual model, the first whose key is set answers by default."""
USUAL = PROVIDERS["anthropic"]
"""The provider where no key is set."""


@dataclass(frozen=True)
class ModelChoice:
    """A provider and one of its models."""

    provider: KnownProvider
    model: str | None
    """None where the user named none."""


def providers_with_key(environment: Mapping[str, str]) -> list[KnownProvider]:
    """Return the providers with a usual model whose keys are set; the first of them answers."""
    usual = (provider for provider in PROVIDERS.values() if provider.model)
    return [provider for provider in usual if provider.has_key(environment)]


def chosen_model(
    text: str | None, named: NamedModules | None, environment: Mapping[str, str]
) -> ModelChoice:
    """Return what `--model` means: a model, `PROVIDER:MODEL`, or `PROVIDER` alone.

    Only the name of a provider of ours counts, as models have colons in their names, too. Where the
    user mounts another provider, all of the text is the name of its model.

    Raises:
        Failure: There is no such provider, or it has no usual model.
    """
    default = next(iter(providers_with_key(environment)), USUAL)
    if text is None:
        return ModelChoice(default, None)
    name, colon, model = text.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None or (colon and not model):
        if named is None or not named.names_provider:
            _check_spelling(name, model)
        return ModelChoice(default, text)
    if named is not None and named.names_provider and not named.names(provider.module_id):
        return ModelChoice(default, text)
    if not colon and not provider.model:
        message = f"`{name}` has no usual model"
        raise Failure(message, hint=f"name one: `--model {name}:MODEL`", exit_code=WRONG_USAGE)
    return ModelChoice(provider, model or provider.model)


def _check_spelling(name: str, model: str) -> None:
    """Refuse what is almost the name of a provider, unless it may be the name of a model."""
    from difflib import get_close_matches  # late: few programs have a mistake

    alike = get_close_matches(name.lower(), PROVIDERS, n=1, cutoff=0.75)
    if alike:
        meant = f"{alike[0]}:{model}" if model else alike[0]
        hint = f"did you mean `--model {meant}`?"
        raise Failure(f"there is no provider `{name}`", hint=hint, exit_code=WRONG_USAGE)
