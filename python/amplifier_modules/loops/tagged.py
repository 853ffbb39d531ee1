"""`loop-tagged`: a loop for models that write their tool calls as tags into their text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_providers.answers.answer_settings import ToolTags

from .loop import mount_loop
from .settings import LoopSettings
from .streaming import StreamingLoop

__amplifier_module_type__ = "orchestrator"


class TaggedSettings(LoopSettings):
    """What a loop does in a turn, with calls in tags."""

    tool_tags: ToolTags = ("tool",)
    """Tags in which the model writes its calls; a name, or a list of a name and its aliases. Without
    this key the tags of the provider count, if it has some. True means `tool`; `session` a tag with
    a random part, which no text from outside can know."""


__amplifier_settings__ = TaggedSettings


class TaggedLoop(StreamingLoop):
    """A loop that finds the calls in the text of any provider.

    It describes the tools to the model as text, and takes the answer from `chunks` of the provider,
    where it has that, else from `stream` or `complete`. Tags reach neither displays nor the answer.
    Hooks get the events of the answer as `agent:*` events, and its `StreamMetrics` as the capability
    `stream.metrics`.
    """

    name = "loop-tagged"
    settings_type = TaggedSettings


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the loop as the session's orchestrator, with its metrics.

    Raises:
        SettingError: A value cannot be used.
    """
    from .answers.reading import metrics_of

    loop = TaggedLoop(config)
    metrics_of(coordinator)
    await mount_loop(coordinator, loop)
