"""Another model for a while, where one is overloaded."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path

from .config import AnthropicConfig

logger = logging.getLogger(__name__)

_FAMILIES = {"sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-4-5"}


class Overload:
    """Which models are overloaded, and until when.

    Args:
        config: `fallback_on_overload`, `fallback_model`, `fallback_cooldown` and
            `fallback_state_path`.
        now: Returns the current time, in seconds since the epoch.
    """

    def __init__(self, config: AnthropicConfig, now: Callable[[], float] = time.time) -> None:
        self._config = config
        self._now = now
        self._until: dict[str, float] = {}
        path = config.fallback_state_path
        self._path = None if path is None else Path(path).expanduser()
        if self._path is not None:
            self._read(self._path)

    def substitute(self, model: str) -> str | None:
        """Return the model to ask in the place of another, None if that one is to be asked."""
        if not self._config.fallback_on_overload:
            return None
        target = _FAMILIES.get(self._config.fallback_model, self._config.fallback_model)
        return None if target == model else target

    def is_overloaded(self, model: str) -> bool:
        """Whether a model was overloaded less than the cooldown ago."""
        return self._until.get(model, 0.0) > self._now()

    def note(self, model: str) -> None:
        """Remember that a model is overloaded."""
        self._until[model] = self._now() + self._config.fallback_cooldown
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._until), encoding="utf-8")
        except OSError as error:
            logger.warning("overloads are not kept: `%s`: %s", self._path, error.strerror)

    def _read(self, path: Path) -> None:
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            self._until = {str(model): float(until) for model, until in known.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, AttributeError):
            logger.warning("overloads are not known: `%s` is no object of times", path)
