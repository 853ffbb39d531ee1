"""Another model for a while, where one is overloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import anyio.to_thread
from pydantic import Field, TypeAdapter

from amplifier_core import world
from amplifier_core.llm_errors import LLMError, ProviderUnavailableError

from ..limits.endpoint import Endpoint
from ..limits.shared_file import SharedFile
from ..settings import SettingError
from .settings import HttpSettings

_OVERLOADED_STATUS = 529
_MAY_BE_OVERLOADED = frozenset({None, 503})
"""Statuses of an overload whose text says so."""
_Moment = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_State = dict[str, dict[str, _Moment]]
_STATE: TypeAdapter[_State] = TypeAdapter(_State)


class Overload:
    """Which models of an endpoint are overloaded, and which one is asked instead.

    Args:
        settings: `fallback_on_overload`, `fallback_model`, `fallback_cooldown` and
            `fallback_state_path`.
        endpoint: What is called; its other mounts know the same overloads.
        module: Whose settings these are, for errors.
        names: Short names of models.
        now: Returns the current time, in seconds since the epoch.

    Raises:
        SettingError: There is no model to ask instead.
    """

    def __init__(
        self,
        settings: HttpSettings,
        endpoint: Endpoint,
        module: str,
        names: Mapping[str, str],
        now: Callable[[], float] = world.time,
    ) -> None:
        asked = settings.fallback_model if settings.fallback_on_overload else None
        if settings.fallback_on_overload and asked is None:
            raise SettingError(
                f"{module}: `fallback_model` is missing: `fallback_on_overload` needs a model to ask"
                " instead",
                module=module,
                key="fallback_model",
            )
        self._model = None if asked is None else names.get(asked, asked)
        self._cooldown = settings.fallback_cooldown
        self._endpoint = endpoint
        self._now = now
        path = settings.fallback_state_path
        is_kept = path is not None and self._model is not None
        self._file = SharedFile(path or "", "overloads are not shared") if is_kept else None

    def substitute(self, model: str) -> str | None:
        """Return the model to ask where another one is overloaded, None if there is no other."""
        return None if self._model == model else self._model

    def choose_model(self, model: str) -> str | None:
        """Return the model to ask now in the place of another, None if that one is to be asked."""
        other = self.substitute(model)
        if other is None:
            return None
        now, until = self._now(), self._endpoint.overloaded.get(model, 0.0)
        if self._file is not None:
            until = max(until, self._get_counts(_read_state(self._file.read())).get(model, 0.0))
        return other if now < until <= now + self._cooldown else None

    async def note(self, model: str) -> None:
        """Remember that a model is overloaded."""
        now = self._now()
        until = self._endpoint.overloaded[model] = now + self._cooldown
        if self._file is None:
            return

        def add_state(content: bytes) -> bytes:
            state = _read_state(content)
            state[self._endpoint.name] = {**self._get_counts(state), model: until}
            kept = {
                name: {each: moment for each, moment in found.items() if moment > now}
                for name, found in state.items()
            }
            return _STATE.dump_json({name: found for name, found in kept.items() if found})

        await anyio.to_thread.run_sync(self._file.change, add_state, abandon_on_cancel=True)

    def _get_counts(self, state: _State) -> dict[str, float]:
        return state.get(self._endpoint.name, {})


def is_overload(error: LLMError) -> bool:
    """Whether an error says that a model has too much to do; a rate limit is no overload."""
    if not isinstance(error, ProviderUnavailableError):
        return False
    if error.status_code == _OVERLOADED_STATUS:
        return True
    return error.status_code in _MAY_BE_OVERLOADED and "overloaded" in str(error).lower()


def _read_state(content: bytes) -> _State:
    try:
        return _STATE.validate_json(content)
    except ValueError:
        return {}
