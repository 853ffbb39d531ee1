"""A provider over the Responses API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from typing_extensions import override

from amplifier_core.events import CONTEXT_COMPACTION, CONTEXT_POST_COMPACT, CONTEXT_PRE_COMPACT
from amplifier_core.models import ModelInfo
from amplifier_core.weak_link import link_weakly

from ..requests.openai_models import model_profile
from ..retries import Retries
from ..wire.client import ServiceClient
from ..wire.events import Emitter
from ..wire.provider import WireProvider
from ..wire.service import Service
from .background import BACKGROUND_STATUS, Background
from .request import CHAIN_INVALIDATED, CONTINUATION
from .settings import ResponsesSettings
from .wire_format import ResponsesFormat

EVENTS = (BACKGROUND_STATUS, CHAIN_INVALIDATED, CONTINUATION)
"""The events of these providers in addition to those of the kernel."""
_COMPACTIONS = (CONTEXT_PRE_COMPACT, CONTEXT_POST_COMPACT, CONTEXT_COMPACTION)


class ResponsesProvider(WireProvider):
    """A provider for a service that speaks the Responses API."""

    models_path = "/models"

    own_events = EVENTS

    def __init__(
        self,
        service: Service,
        settings: ResponsesSettings,
        client: ServiceClient,
        wire_format: ResponsesFormat,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            service: Who is called.
            settings: Its settings.
            client: How it is reached.
            wire_format: How its requests are written and its answers read.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
        """
        retries = retries or Retries(service.name, settings, hooks)
        sender = Background(client, settings, wire_format, Emitter(hooks).emit, retries=retries)
        super().__init__(
            service, settings, client, wire_format, hooks, retries=retries, sender=sender
        )
        self.responses_settings = settings
        self._format = wire_format

    @property
    def takes_deferred_tools(self) -> bool:
        """Whether the model searches for tools by the service's own way."""
        return cast("ResponsesSettings", self.settings).native_tool_search

    @override
    async def mount(self, coordinator: Any, name: str) -> Callable[[], Awaitable[None]]:
        """Mount the provider under a name; return what ends what the session has begun.

        The request after a compaction sends everything: the service has what was left out.
        """
        release = await super().mount(coordinator, name)
        if hasattr(coordinator, "get_capability"):
            find_coordinator = link_weakly(coordinator)

            def find_capability(name: str) -> object:
                there = find_coordinator()
                return None if there is None else there.get_capability(name)

            self._format.find_capability = find_capability

        def reset(event: str, data: dict[str, Any]) -> None:
            del event, data
            self._format.chain.reset()

        hooks = getattr(coordinator, "hooks", None)
        is_chained = hooks is not None and self.responses_settings.is_chained
        followed = _COMPACTIONS if is_chained else ()
        handler = f"provider-{self.name}"
        removes = [hooks.on(event, reset, name=handler) for event in followed]  # pyright: ignore[reportOptionalMemberAccess] -- followed only where there are hooks

        async def leave() -> None:
            for remove in removes:
                remove()
            await release()

        return leave

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None."""
        return self._model_info({"id": model or self.default_model})

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.responses_settings = settings

    async def _model_entries(self) -> list[dict[str, Any]]:
        expected, path = "a list of models", self.models_path
        answer = await self._client.ask(
            "GET", path, self.settings.timeout, expected, params=self._format.params
        )
        try:
            entries = [dict(entry) for entry in answer["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise self._client.make_unfitting(path, "other content", expected, None) from error
        if not self.settings.filtered:
            return entries
        known = [entry for entry in entries if model_profile(str(entry.get("id"))).is_known]
        return known or entries

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        model = str(entry.get("id") or "")
        profile = self._format.profile_of(model)
        window = profile.context_window
        if self.responses_settings.enable_long_context:
            window = profile.long_context_window or window
        capabilities = ["streaming", "tools"]
        capabilities += ["thinking"] if profile.reasons else []
        capabilities += ["vision"] if profile.has_vision else []
        capabilities += ["structured_output"] if profile.structured == "schema" else []
        return ModelInfo(
            id=model,
            display_name=str(entry.get("display_name") or model),
            context_window=window,
            max_output_tokens=profile.max_output_tokens,
            capabilities=capabilities,
        )
