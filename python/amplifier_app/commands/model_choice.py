"""Which model answers: that of a provider, or the demo model where there is no key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.provider_choice import (
    DEMO,
    PROVIDERS,
    USUAL,
    KnownProvider,
    default_provider,
    providers_with_key,
    usual_providers,
)
from amplifier_app.commands.provider_key import no_key, stored_key
from amplifier_app.engine import load_engine
from amplifier_app.failure import Failure

if TYPE_CHECKING:
    from amplifier_app.commands.order import Order


@dataclass(frozen=True)
class AnsweringProvider:
    """The provider that answers, decided once for an order."""

    provider: KnownProvider
    config: Mapping[str, Any]
    """Its settings, as far as the environment does not have them."""

    @property
    def is_demo(self) -> bool:
        """Whether it is the demo model."""
        return self.provider is DEMO


def require_engine() -> None:
    """Load the extension, without which there is no stream decoder.

    Raises:
        Failure: It is missing or cannot be loaded.
    """
    try:
        load_engine()
    except ImportError as error:
        message = f"the extension `amplifier_core._engine` cannot be loaded: {error}"
        hint = "install a wheel of amplifier-core for this platform"
        raise Failure(message, hint=hint) from error


def find_answering_provider(order: Order) -> AnsweringProvider:
    """Decide who answers: the demo model where it was asked for, or where there is no key.

    Raises:
        Failure: A model was asked for by its name, and there is no key for it.
    """
    provider = PROVIDERS[order.provider]
    if _names_provider(order) or provider is DEMO:
        return AnsweringProvider(provider, {})
    key = stored_key(provider)
    if key or provider.has_key(os.environ):
        return AnsweringProvider(provider, {"api_key": key} if key else {})
    if order.model is not None:
        raise _no_key_for(provider, order.model)
    return AnsweringProvider(DEMO, {})


def model_notice(order: Order, answering: AnsweringProvider) -> str:
    """Return the line that says why this model answers; empty where the user knows."""
    if order.provider == DEMO.name:
        return ""
    if answering.is_demo:
        keys = " nor ".join(each.key_variable for each in usual_providers())
        line = f"neither {keys} is set: using the demo model, a program, not a language model"
        if os.environ.get("ANTHROPIC_BASE_URL", "").strip():
            line += "; ANTHROPIC_BASE_URL is ignored"
        others = (each for each in PROVIDERS.values() if each.needs_key and not each.model)
        if found := next((each for each in others if each.has_key(os.environ)), None):
            line += f"; {found.key_variable} is set: `--model {found.name}:MODEL` uses it"
        return line
    keyed = providers_with_key(os.environ)
    if order.model is not None or _names_provider(order) or len(keyed) < 2:
        return ""
    variables = " and ".join(each.key_variable for each in keyed)
    first, second, *_ = keyed
    return f"{variables} are set: using {first.model}; `--model {second.name}` uses {second.model}"


def model_name(order: Order, answering: AnsweringProvider) -> str:
    """Return the name of the model that answers, as far as it is known before the first answer."""
    if order.model is not None:
        return order.model
    if order.named is not None and (provider := order.named.provider):
        module, config = provider
        return str(config.get("default_model") or f"the usual model of {module}")
    if answering.is_demo:
        return "the demo model"
    return answering.provider.model


def _names_provider(order: Order) -> bool:
    return order.named is not None and order.named.names_provider


def _no_key_for(provider: KnownProvider, model: str) -> Failure:
    """The failure for a model without a key; it says where the name looks wrong, too."""
    from amplifier_providers.anthropic.models import model_profile

    asked = model if provider is USUAL else f"{provider.name}:{model}"
    answers = default_provider(os.environ, stored_key)
    is_demo = not answers.has_key(os.environ) and not stored_key(answers)
    otherwise = f"leave `--model` out{' to ask the demo model' if is_demo else ''}"
    failure = no_key(provider, f"`--model {asked}`", otherwise)
    if provider is not USUAL or model_profile(model).is_known:
        return failure
    message = f"the model `{model}` is unknown (a known one is `{USUAL.model}`), and {failure}"
    return Failure(message, hint=failure.hint, exit_code=failure.exit_code)
