"""The settings of a loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from amplifier_providers.answers.answer_settings import (
    SESSION,
    USUAL_CALLS,
    CallsPerAnswer,
    ToolTags,
)
from amplifier_providers.requests.requested_thinking import (
    ExtendedThinking,
    RequestedThinking,
    ThinkingMode,
)
from amplifier_providers.settings import OptionalText, Settings
from amplifier_providers.value_problems import Form

from ..spawn.family import TaskLimits
from ..spending.budget import Budget, budget_of
from .answers.tagged_request import TOOLS_PLACE, ToolFormat
from .model_roles import RoleModel, RoleModels

MIN_RESULT_BYTES = 1024
"""Below this a limit would leave nothing but its note."""
MAX_RESULT_BYTES = 8 * 1024 * 1024
"""No service accepts a longer text; images are shorter."""
UNLIMITED = -1
"""The value of `max_iterations`, `max_equal_errors` and `max_parallel_tools` that sets no limit."""


def _at_least_one(count: int) -> int:
    if count < 1 and count != UNLIMITED:
        raise ValueError
    return count


def _check_error_count(count: int) -> int:
    if count < 2 and count != UNLIMITED:
        raise ValueError
    return count


def _check_prompt(text: str) -> str:
    if text.count(TOOLS_PLACE) != 1:
        raise ValueError
    return text


@cache
def _make_limits(depth: int, count: int) -> TaskLimits:
    return TaskLimits(depth, count)


class LoopSettings(Settings):
    """What a loop does in a turn."""

    unknown_keys = "ignore"
    is_shared = True
    unlimited_keys = frozenset({"deferred_tools", "max_result_bytes"})
    random_values: ClassVar[Mapping[str, str]] = {"tool_tags": SESSION}

    max_iterations: Annotated[
        int, AfterValidator(_at_least_one), Form("a whole number, at least 1, or -1 for no limit")
    ] = UNLIMITED
    """Model calls in a turn before the model is asked to wrap up."""
    max_equal_errors: Annotated[
        int,
        AfterValidator(_check_error_count),
        Form("a whole number, at least 2, or -1 for no limit"),
    ] = 5
    """How many times in a row a tool may fail with the same arguments and the same error before the
    turn ends; the model is warned two times before. For calls in tags, how many
    answers in a row may have an identical error."""
    require_call: bool = False
    """Whether each answer must have a tool call: an answer without one does not end the turn, only
    a tool with `is_loop_breaking` does."""
    default_provider: OptionalText = None
    """Mount name of the provider to use; without it the one with the lowest priority is used."""
    models: RoleModels = Field(default_factory=dict[str, RoleModel])
    """Models by role: `strong` makes the calls of a turn itself in the place of the default
    provider, `fast` those beside it, such as the judge of a goal. Hooks may choose these and
    further roles for a call."""
    goal_max_rounds: Annotated[
        int, AfterValidator(_at_least_one), Form("a whole number, at least 1, or -1 for no limit")
    ] = 10
    """How many answers of a turn may be judged by its goal."""
    goal_stall_rounds: int = Field(default=3, ge=2)
    """Rounds in a row, alike and without tools, after which a goal is given up."""
    goal_busy_stall_rounds: int = Field(default=5, ge=2)
    """Rounds in a row, alike though tools ran, after which a goal is given up."""
    goal_stall_overlap: float = Field(default=0.8, gt=0, le=1)
    """Share of their words that two reasons of the judge have in common if they are alike."""
    goal_judge_failures: int = Field(default=2, ge=1)
    """How many times in a row the judge may give no verdict before a goal is given up."""
    goal_summary: bool = True
    """Whether a model sums up the rounds of a goal at their end, if there were several."""
    extended_thinking: ExtendedThinking = None
    """What providers are asked for by `extended_thinking`; false turns thinking off and shows none.
    Without it the settings of the provider decide."""
    thinking_mode_enabled: ThinkingMode = True
    """Whether thoughts are shown of providers that have no such setting themselves."""
    reasoning_effort: OptionalText = None
    """Effort that each request asks for, such as `low` or `high`."""
    stream_delay: float = Field(default=0.0, ge=0, lt=1e9)
    """Seconds between the words of an answer that the provider did not stream."""
    min_delay_between_calls_ms: float = Field(default=0.0, ge=0, lt=1e9)
    """Milliseconds from the start of one model call to the start of the next, at least."""
    tool_timeout: Annotated[float | None, AfterValidator(lambda seconds: seconds or None)] = Field(
        default=None, ge=0, lt=1e9
    )
    """Seconds after which a tool is ended; without it the limit of `hooks-guard` holds."""
    approval_timeout: float | None = Field(default=None, gt=0)
    """Seconds that a person has to answer where neither the hook nor the tool says so; without it
    as long as the turn may take."""
    budget: Annotated[
        Budget | None, BeforeValidator(budget_of), Form("a mapping of limits, see `Budget`")
    ] = None
    """What a turn may use: `model_calls` (100 where the mapping does not say), `tool_calls`,
    `tokens`, `cost` (US dollars), `seconds`."""
    max_task_depth: int = Field(default=3, ge=0)
    """How deep sub-agents may be nested; 0 for none."""
    max_tasks: int = Field(default=100, ge=1)
    """Sub-agents that work or whose result waits to be read, of all depths together."""
    tool_tags: ToolTags = ()
    """Tags in which the model writes its calls as text; without them those of the provider count,
    and without any calls are native. True means `tool`; `session` a tag with a random part, which
    no text from outside can know."""
    tool_format: ToolFormat = "json"
    """The form of a call in tags that the model is asked for; either is understood."""
    tool_prompt: Annotated[
        OptionalText,
        AfterValidator(lambda text: text and _check_prompt(text)),
        Form("a text that has `{tools}` once, where the list of the tools belongs"),
    ] = None
    """What a model that writes its calls in tags reads of them, with `{tools}` in the place of
    the list of tools and `{tag}` in that of the tag."""
    execute_while_streaming: bool = False
    """Whether a call runs as soon as it is complete, while the rest of the answer arrives."""
    max_result_bytes: int | None = Field(default=MAX_RESULT_BYTES, ge=MIN_RESULT_BYTES)
    """Bytes of a tool's result in the conversation, at most, or None for no limit; what is cut is
    counted in it."""
    deferred_tools: int | None = Field(default=20, ge=0)
    """Above so many tools requests describe only some of them, and name the others, which the model
    looks up: those of MCP servers, and of the others what is beyond so many; None for all in full."""
    listed_tools: list[str] = Field(default_factory=list[str])
    """The names of tools that are never deferred."""
    max_parallel_tools: Annotated[
        int, AfterValidator(_at_least_one), Form("a whole number, at least 1, or -1 for no limit")
    ] = 16
    """How many tool calls of one answer run at the same time; the others wait for their turn."""

    max_calls_per_answer: CallsPerAnswer = USUAL_CALLS
    """Tool calls of an answer that may run, at most; the model reads that further ones were not
    run. A provider may have a lower limit."""

    @property
    def task_limits(self) -> TaskLimits:
        """The limits of sub-agents."""
        return _make_limits(self.max_task_depth, self.max_tasks)

    def thinking_options(self, *, is_aside: bool) -> dict[str, Any]:
        """Return the keywords with which a provider is called.

        Args:
            is_aside: Whether the call is beside the conversation: nobody needs its thoughts.
        """
        if self.extended_thinking is None:
            return {}
        asked = RequestedThinking.parse(self.extended_thinking)
        if asked.is_on is None or (asked.is_on and is_aside):
            return {}
        return {"extended_thinking": self.extended_thinking}

    def must_hide_thoughts(self, provider: Any) -> bool:
        """Whether the loop itself must keep back thoughts that come though none are asked for."""
        if getattr(provider, "hides_thoughts", None) is True:
            return False
        # What `requested_thinking` decides of these three settings. It looks for four more, and at
        # the keywords of a call, which takes 40 µs of a turn of 320.
        given, effort = self.extended_thinking, self.reasoning_effort
        is_on = None if given is None else RequestedThinking.parse(given).is_on
        if is_on is False or effort == "none":
            return True
        return is_on is None and not effort and not self.thinking_mode_enabled
