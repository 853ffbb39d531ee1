"""The providers that `--model` knows, and the one that it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_providers.services import SERVICES

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules

PROVIDER_LIST = "amplifier-core provider list"
PROVIDER_MODELS = "amplifier-core provider models"


@dataclass(frozen=True)
class KnownProvider:
    """A provider of ours, as far as the command must know it before it is loaded."""

    name: str
    """What `--model` calls it."""
    key_variable: str = ""
    """The variable with its key; empty if it takes none."""
    model: str = ""
    """The model where none is named; empty if one must be."""
    other_variables: tuple[str, ...] = ()
    """Further variables in which the provider looks for its key."""
    without_key: str = ""
    """What else lets it answer, in a word or two; empty where it must have its key."""

    @property
    def module_id(self) -> str:
        """The module that is mounted."""
        return f"provider-{self.name}"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables with its key, the first one first."""
        return (self.key_variable, *self.other_variables) if self.key_variable else ()

    @property
    def needs_key(self) -> bool:
        """Whether it cannot answer without a key."""
        return bool(self.key_variable) and not self.without_key

    def key_set_in(self, environment: Mapping[str, str]) -> str:
        """Return the variable that holds its key, empty if none does."""
        return next((each for each in self.variables if environment.get(each, "").strip()), "")

    def has_key(self, environment: Mapping[str, str]) -> bool:
        """Whether its key is set; also if it can do without."""
        return not self.needs_key or bool(self.key_set_in(environment))


DEMO = KnownProvider("demo", model="demo")
"""The local program that answers where there is no key."""
PROVIDERS: Mapping[str, KnownProvider] = {
    **{
        each.name: KnownProvider(
            each.name,
            each.key_variable,
            each.default_model,
            each.other_key_variables,
            each.without_key,
        )
        for each in SERVICES.values()
    },
    DEMO.name: DEMO,
}
"""By their names; of those with a usual model and a key, the first whose key is set answers."""
USUAL = PROVIDERS["anthropic"]
"""The provider where no key is set."""

KeyOf = Callable[[KnownProvider], str]
"""Returns the key of a provider that is kept elsewhere than in the environment, or empty text."""


@dataclass(frozen=True)
class ModelChoice:
    """A provider and one of its models."""

    provider: KnownProvider
    model: str | None
    """None where the user named none."""


def usual_providers() -> list[KnownProvider]:
    """Return the providers that may answer without being named."""
    return [each for each in PROVIDERS.values() if each.model and each.key_variable]


def providers_with_key(environment: Mapping[str, str]) -> list[KnownProvider]:
    """Return the usual providers whose keys are set; the first of them answers."""
    return [provider for provider in usual_providers() if provider.has_key(environment)]


def default_provider(environment: Mapping[str, str], key_of: KeyOf) -> KnownProvider:
    """Return who answers where nobody is named; a key in the environment goes first."""
    keyed = providers_with_key(environment) or filter(key_of, usual_providers())
    return next(iter(keyed), USUAL)


def known_provider(name: str) -> KnownProvider:
    """Return the provider of a name.

    Raises:
        Failure: There is none.
    """
    provider = PROVIDERS.get(name)
    if provider is None:
        alike = _find_similar_name(name)
        hint = f"did you mean `{alike}`?" if alike else f"see `{PROVIDER_LIST}`"
        raise Failure(f"there is no provider `{name}`", hint=hint, exit_code=WRONG_USAGE)
    return provider


def chosen_model(
    text: str | None,
    named: NamedModules | None,
    environment: Mapping[str, str],
    key_of: KeyOf = lambda _: "",
) -> ModelChoice:
    """Return what `--model` means: a model, `PROVIDER:MODEL`, or `PROVIDER` alone.

    Only the name of a provider of ours counts, as models have colons in their names, too. Where the
    user mounts another provider, all of the text is the name of its model.

    Args:
        text: What the user wrote, if anything.
        named: The modules that the user names.
        environment: The environment variables.
        key_of: Asked for keys that no variable holds.

    Raises:
        Failure: There is no such provider, or it has no usual model.
    """
    names_provider = named is not None and named.names_provider

    def choose_default() -> KnownProvider:
        # Whoever is mounted by name needs no key to be chosen.
        return default_provider(environment, _find_no_key if names_provider else key_of)

    if text is None:
        return ModelChoice(choose_default(), None)
    name, colon, model = text.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None or (colon and not model):
        if not names_provider:
            _check_spelling(name, model)
        return ModelChoice(choose_default(), text)
    if named is not None and names_provider and not named.has_module(provider.module_id):
        return ModelChoice(choose_default(), text)
    if provider is DEMO:
        return ModelChoice(DEMO, None)
    if not colon and not provider.model:
        message = f"`{name}` has no usual model"
        hint = f"name one: `--model {name}:MODEL`; `{PROVIDER_MODELS} {name}` lists them"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    return ModelChoice(provider, model or provider.model)


def _find_no_key(_: KnownProvider) -> str:
    return ""


_NAME = re.compile(r"[A-Za-z][\w-]*")
"""How providers are called; names of models may have dots and slashes, too."""


def _check_spelling(name: str, model: str) -> None:
    """Refuse what is no provider, unless it may be the name of a model, as some have colons."""
    if alike := _find_similar_name(name):
        meant = f"{alike}:{model}" if model else alike
        hint = f"did you mean `--model {meant}`?"
        known = alike == name
        message = f"`{name}:` names no model" if known else f"there is no provider `{name}`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    from amplifier_agent.model_names import has_colon  # late: few programs have a mistake

    text = f"{name}:{model}"
    if model and _NAME.fullmatch(name) and not has_colon(text):
        hint = f"see `{PROVIDER_LIST}`; another service is asked by `openai-chat`"
        raise Failure(f"there is no provider `{name}`", hint=hint, exit_code=WRONG_USAGE)


def _find_similar_name(name: str) -> str:
    from difflib import get_close_matches  # late: few programs have a mistake

    return next(iter(get_close_matches(name.lower(), PROVIDERS, n=1, cutoff=0.75)), "")
