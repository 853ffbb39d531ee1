"""One answer: its chunks become events for agents and displays, and one response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from amplifier_core.message_models import ChatResponse, ToolSpec
from amplifier_core.session_capabilities import AGENT_TRANSFORM, STREAM_METRICS
from amplifier_providers.answers.answer_settings import USUAL_CALLS
from amplifier_providers.answers.gathered_answer import Gathered, error_of
from amplifier_providers.answers.pieces import DroppedCall, OtherBlock, Pieces
from amplifier_stream import (
    AgentEvent,
    ErrorEvent,
    ParsedCall,
    ProcessedStream,
    RestartEvent,
    StreamMetrics,
    ThinkingContentEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallEndEvent,
    process_stream,
)

from .agent_events import hook_event, own_event_names
from .blocks import AfterWord, Emitter, are_emitted, is_thought
from .calls import EndedCalls, call_in_last_quotation, call_parser, with_tagged_calls
from .display import Display
from .response import BLOCKS_EMITTED, RequestedCall


class EarlyCalls(Protocol):
    """Runs calls while the rest of their answer arrives."""

    text_so_far: Callable[[], str]
    """Returns the text that has arrived, for an answer that is not finished."""

    def start(self, call: RequestedCall) -> None:
        """Run a call, which is complete."""
        ...

    def withdraw(self, call_id: str) -> None:
        """Keep a call from running, as the provider took it back; one that runs goes on."""
        ...


@dataclass(frozen=True)
class Form:
    """How an answer is read and shown."""

    tags: tuple[str, ...] = ()
    """The tags of calls in the text; empty for native calls, and no events for agents."""
    known_texts: Sequence[str] = ()
    """Texts of others, from which the model may copy calls, which then do not run."""
    tools: list[ToolSpec] | None = None
    """The tools of the request."""
    max_calls: int = USUAL_CALLS
    """How many calls may run."""
    with_deltas: bool = True
    """Whether displays get the content as it comes."""
    after_word: AfterWord | None = None
    """Is awaited after each word of an answer that was not streamed; None for no words."""
    hides_thoughts: bool = False
    """Whether thoughts are left out."""
    wrapper: str | None = None
    """The tool through which the model calls those that the request does not describe."""


@dataclass
class Reading:
    """One answer that is being read."""

    hooks: Emitter
    form: Form
    early: EarlyCalls | None = None
    quoted_call: str | None = field(default=None, init=False)
    """The tool whose call ended the answer in a quotation, and so did not run."""
    _calls: EndedCalls = field(init=False)
    _transform: Callable[[AgentEvent], Iterable[AgentEvent]] | None = None

    async def read(self, source: AsyncIterator[Any]) -> ChatResponse:
        """Emit the answer as it comes, and return its response.

        Raises:
            Exception: What the source raised, after `agent:error`; or the error of a chunk.
        """
        self._pieces = Pieces(source, self.form.after_word)
        self._gathered = Gathered(self._pieces)
        if self.early is not None:
            self.early.text_so_far = self._gathered.join_text
        self._calls = EndedCalls(self.form.tools, self.form.wrapper)
        self._display = Display(
            self.hooks, self.form.with_deltas, bool(self.form.tags), self.form.wrapper
        )
        self._own: dict[str, str] = {}
        metrics = None
        if self.form.tags:
            coordinator = self.hooks.coordinator
            self._own = own_event_names(coordinator)
            self._transform = _find_capability(coordinator, AGENT_TRANSFORM)
            metrics = metrics_of(coordinator)
        try:
            answer = await process_stream(
                self._pieces.chunks(),
                self._emit,
                tool_tags=call_parser(self.form.tags, self.form.known_texts)
                if self.form.tags
                else None,
                transform=self._note_event,
                metrics=metrics,
                max_calls=self.form.max_calls,
            )
            if (error := error_of(answer)) is not None:
                raise error
        except BaseException:
            await self._display.abort()
            raise
        return self._build_response(answer)

    def _note_event(self, event: AgentEvent) -> Iterable[AgentEvent]:
        """Note an event, and return those to emit in its place."""
        self._gathered.note(event)
        if isinstance(event, ToolCallEndEvent):
            self._hand_over(event.call)
        elif isinstance(event, RestartEvent | DroppedCall):
            self._withdraw(event)
        if self._transform is None or isinstance(event, OtherBlock | DroppedCall):
            return (event,)
        events = list(self._transform(event))
        for each in cast("list[object]", events):
            if not isinstance(each, AgentEvent):
                raise TypeError(
                    f"the capability `{AGENT_TRANSFORM}` returned a `{type(each).__name__}` among"
                    " its events (must be an `AgentEvent`)"
                )
        return events

    def _hand_over(self, call: ParsedCall) -> None:
        ended = self._calls.add(call)
        if self.early is not None and call.id and "error" not in (ended.model_extra or {}):
            self.early.start(RequestedCall(ended.id, ended.name, dict(ended.arguments)))

    def _withdraw(self, event: RestartEvent | DroppedCall) -> None:
        """Keep calls that an event makes void from running.

        Those in tags that count at the end all the same run then.
        """
        if self.early is None:
            return
        void: Iterable[int] = self._calls.in_tags
        if isinstance(event, DroppedCall):
            void = (self._number_of(event),)
        elif event.content_type != "message":
            void = ()
        for number in void:
            if (call := self._calls.by_number.get(number)) is not None:
                self.early.withdraw(call.id)

    def _number_of(self, dropped: DroppedCall) -> int:
        return self._gathered.numbers.get(dropped.index, dropped.index)

    async def _emit(self, event: AgentEvent) -> None:
        if self.form.hides_thoughts and _is_of_thought(event):
            if isinstance(event, ThinkingStartEvent | OtherBlock):
                await self._display.skip_block()
            return
        call = None
        if isinstance(event, ToolCallEndEvent):
            call = self._calls.by_number.get(event.index)
        if isinstance(event, DroppedCall):
            event = DroppedCall(self._number_of(event))
        elif self.form.tags and not isinstance(event, OtherBlock):
            name, data = hook_event(event, self._own, call)
            if isinstance(event, ErrorEvent):
                data["text"] = self._gathered.join_text()
                is_hidden = self.form.hides_thoughts
                data["thinking"] = "" if is_hidden else self._gathered.join_text("thinking")
            await self.hooks.emit(name, data)
        self._display.is_broken = self._pieces.is_broken
        response = self._display.response = self._pieces.response
        if response is not None and are_emitted(response) and not self._pieces.is_streamed:
            return
        await self._display.show(event, call)

    def _build_response(self, answer: ProcessedStream) -> ChatResponse:
        form = self.form
        if form.tags:
            text, names = answer.assistant_content, {tool.name for tool in form.tools or ()}
            self.quoted_call = call_in_last_quotation(text, form.tags, form.known_texts, names)
        calls = self._calls.list_counted(answer)
        response = self._pieces.response
        if response is None:
            response = self._gathered.build_response(answer, calls)
        else:
            tagged = {call.index for call in answer.calls if not call.is_native}
            findings = [each for call in answer.calls for each in call.findings]
            calls = {number: call for number, call in calls.items() if number in tagged}
            response = with_tagged_calls(response, self._gathered.parts, calls, findings)
        metadata = {**(response.metadata or {}), BLOCKS_EMITTED: True}
        return response.model_copy(update={"metadata": metadata})


def _is_of_thought(event: AgentEvent) -> bool:
    if isinstance(event, OtherBlock):
        return is_thought(event.block)
    return isinstance(event, ThinkingStartEvent | ThinkingContentEvent | ThinkingEndEvent) or (
        isinstance(event, RestartEvent) and event.content_type == "thinking"
    )


def metrics_of(coordinator: Any) -> StreamMetrics | None:
    """Return the metrics of a session, which are attached to it if there are none yet.

    An application that registers its own as the capability `stream.metrics` keeps them. Without a
    coordinator there are none.
    """
    if coordinator is None:
        return None
    known = _find_capability(coordinator, STREAM_METRICS)
    if isinstance(known, StreamMetrics):
        return known
    metrics = StreamMetrics()
    metrics.attach(coordinator)
    return metrics


def _find_capability(coordinator: Any, name: str) -> Any:
    get = getattr(coordinator, "get_capability", None)
    return get(name) if callable(get) else None
