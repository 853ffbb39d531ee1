"""Other models that answer where one fails."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, TypeVar

import anyio
from pydantic import Field

from amplifier_providers.running.closing import closing
from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMConfigError
from ..step import Call, Piece, Step
from ..types import LLMResponse
from .candidate import Target, TargetSetting, naming
from .layer import Begun, Layer, begin

T = TypeVar("T")

logger = logging.getLogger(__name__)


class FallbackSettings(Settings):
    """Who is asked where a model fails."""

    chain: Annotated[list[TargetSetting], Field(min_length=1, max_length=10)]
    """Models as `provider:model`, `provider`, or a mapping of `provider` and `model`, in the order in
    which they are asked. Without a model it is the default one of the provider, or the same model
    where the provider is the same."""


class FallbackLayer(Layer):
    """Asks the next model of a chain where one fails, with the same messages, tools and options.

    Each further model is opened when its turn comes, and closed after the answer; one that cannot be
    opened is passed over. Where all fail, the first error is raised, with a note on each other one. A stream goes to the next model only while
    nothing of it was shown. An `ArcLLMConfigError` of the call itself is raised at once.

    Args:
        beneath: What is asked first.
        settings: Who is asked next.
        open_target: Opens a provider by its name, with a model or its default one.
        check_provider: Raises an `ArcLLMConfigError` if there is no provider of a name; None if any
            name is right.

    Raises:
        ArcLLMConfigError: The chain names no provider.
    """

    def __init__(
        self,
        beneath: Step,
        settings: FallbackSettings,
        open_target: Callable[[str, str | None], Step],
        check_provider: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(beneath)
        if check_provider is not None:
            for index, target in enumerate(settings.chain):
                with naming(f"fallback: `chain.{index}`"):
                    check_provider(target.provider)
        self._chain = settings.chain
        self._open = open_target

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer, of the first model that has one."""
        try:
            await call.turn_to(self)
            return await self.beneath.complete(call)
        except Exception as error:
            if isinstance(error, ArcLLMConfigError):
                raise
            response, step = await self._ask_next(call, error, lambda step: step.complete(call))
        await _close(step)
        return response

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, of the first model that begins one."""
        step: Step | None = None
        begun: Begun
        try:
            await call.turn_to(self)
            begun = await begin(self.beneath, call)
        except Exception as error:
            if isinstance(error, ArcLLMConfigError):
                raise
            begun, step = await self._ask_next(call, error, lambda step: begin(step, call))
        pieces, first = begun
        try:
            async with closing(pieces):
                yield first
                async for piece in pieces:
                    yield piece
        finally:
            if step is not None:
                await _close(step)

    async def _ask_next(
        self, call: Call, first: Exception, ask: Callable[[Step], Awaitable[T]]
    ) -> tuple[T, Step]:
        """Return the answer of the first model of the chain that has one, and that model, open.

        Raises:
            Exception: `first`, if none has one.
        """
        for target in self._chain:
            try:
                step = self._open(target.provider, self._model_of(target))
            except ArcLLMConfigError as error:
                logger.warning("fallback `%s` cannot be opened: %s", target, error)
                first.add_note(f"fallback `{target}`: {error}")
                continue
            try:
                await call.turn_to(step)
                answer = await ask(step)
            except Exception as error:  # noqa: BLE001 -- whatever it is, another model may answer
                first.add_note(f"fallback `{target}`: {error}")
                await _close(step)
            except BaseException:
                await _close(step)
                raise
            else:
                logger.warning("`%s` failed; `%s` answers", self.name, target)
                call.notes["fallback"] = str(target)
                call.notes["provider"] = step.name
                return answer, step
        raise first

    def _model_of(self, target: Target) -> str | None:
        if target.model is None and target.provider == self.name:
            return self.model_name
        return target.model


async def _close(step: Step) -> None:
    """Close a model, also while the call is cancelled; that it fails takes nobody the answer."""
    with anyio.CancelScope(shield=True):
        try:
            await step.close()
        except Exception:
            logger.exception("could not close `%s`", step.name)
