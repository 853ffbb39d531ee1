"""The live display of a session, drawn from its events."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, Any

from amplifier_app.display.blocks import ResponseBlocks
from amplifier_app.display.job_lines import JOB_END, JOB_START, JobLines
from amplifier_app.display.notices import message_notice, notice_of
from amplifier_app.display.preview import failure_summary, progress_summary
from amplifier_app.display.renderer import ContentBlockRenderer
from amplifier_app.display.result_view import ResultView, view_result
from amplifier_app.display.server_lines import SERVER_STATE, ServerLines
from amplifier_app.display.task_lines import TaskLines, is_of_sub_agent
from amplifier_app.display.tokens import TokenCount
from amplifier_core import events, world
from amplifier_modules.loops.goal.pursuit import JUDGE, SUMMARY
from amplifier_modules.spawn.task import TASK_END, TASK_START

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amplifier_app.display.screen import Screen

_PURPOSES = {JUDGE: "judging the goal", SUMMARY: "summing up"}
"""What is shown while a model is asked beside the conversation."""
_MAX_DIFFS = 200
_TOOL_PROGRESS = "tool:progress"
"""The event of our loops, named here because importing them takes a while."""


class _Call:
    """A tool call between its start and its result."""

    def __init__(self, number: int, name: str, started: float) -> None:
        self.number = number
        self.name = name
        self.started = started
        self.progress = ""
        """The progress, as the tool reports it."""


class Display:
    """Draws thinking, text, tool calls with their results, and the token line.

    `handle` takes each event. A tool call has a number, which its result repeats, because the
    results of parallel calls arrive in any order.

    Args:
        screen: Where it draws.
        clock: Returns seconds; measures how long tools take.
        keeps_changes: Whether the session keeps its changes: then what is drawn of a long one
            ends with how to see all of it.
    """

    shows_blocks = True

    def __init__(
        self,
        screen: Screen,
        *,
        clock: Callable[[], float] = world.monotonic,
        keeps_changes: bool = False,
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._keeps_changes = keeps_changes
        self._renderer = ContentBlockRenderer(screen=screen)
        self._blocks = ResponseBlocks(screen, self._renderer)
        self._tasks = TaskLines(self._renderer)
        self._jobs = JobLines(screen)
        self._servers = ServerLines()
        self._tokens = TokenCount()
        # A plain dict looks at its empty beginning again and again.
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._finished_calls: set[str] = set()
        self._diffs: dict[str, str] = {}
        """The changes of files whose calls have not ended, by path."""
        self._call_count = 0
        self._drew_text = False
        self._is_counted = False
        """Whether the usage of the present answer is among the tokens."""
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            events.EXECUTION_START: self._turn_starts,
            events.PROVIDER_REQUEST: self._model_is_asked,
            events.LLM_REQUEST: self._model_is_asked,
            events.LLM_RESPONSE: self._service_has_answered,
            events.LLM_POST: self._model_has_answered,
            events.CONTENT_BLOCK_START: self._block_starts,
            events.CONTENT_BLOCK_DELTA: self._block_grows,
            events.CONTENT_BLOCK_END: self._block_ends,
            events.TOOL_PRE: self._tool_starts,
            _TOOL_PROGRESS: self._tool_reports,
            events.ARTIFACT_WRITE: self._file_changes,
            events.TOOL_POST: self._tool_ends,
            events.TOOL_ERROR: self._tool_fails,
            TASK_START: self._task_starts,
            TASK_END: self._task_ends,
            JOB_START: self._jobs.begin,
            JOB_END: lambda data: self._note(*self._jobs.end(data)),
            SERVER_STATE: self._server_changes,
            events.EXECUTION_END: lambda _: self.finish(),
        }
        self._of_sub_agents: dict[str, Callable[[Mapping[str, Any]], None]] = {
            events.TOOL_PRE: self._tasks.call,
            TASK_START: self._tasks.begin,
            TASK_END: self._tasks.end,
        }

    @property
    def failure(self) -> OSError | None:
        """Why nothing more can be written, if so."""
        return self._screen.failure

    def call_on_failure(self, act: Callable[[], object]) -> None:
        """Call this as soon as nothing more can be written."""
        self._screen.on_failure = act

    def handle(self, event: str, data: Mapping[str, Any]) -> None:
        """Draw an event; events that it does not draw are ignored."""
        if is_of_sub_agent(data):
            if handler := self._of_sub_agents.get(event):
                self._blocks.break_line()
                handler(data)
                self._screen.flush()
        elif handler := self._handlers.get(event):
            handler(data)
            self._screen.flush()
        elif notice := notice_of(event, data):
            if event in (events.PROVIDER_RETRY, events.PROVIDER_THROTTLE):
                self._end_response()
            self._note(*notice)
            self._screen.flush()

    def show_message(self, message: str, level: str = "info", source: str = "hook") -> None:
        """Show a message of a hook (the kernel's display system)."""
        self._note(*message_notice(message, level, source))
        self._screen.flush()

    def answer(self, text: str) -> None:
        """Show the answer of a turn, if no event has shown it."""
        self._end_response()
        if not self._drew_text and text.strip():
            self._blocks.end({"block_type": "text", "block": text})
            self._end_response()

    def break_line(self) -> None:
        """End the line on the screen so that something else can be printed."""
        self._blocks.break_line()
        self._screen.end_line()
        self._screen.clear_line()
        self._screen.flush()

    def hold(self) -> None:
        """End the line on the screen and draw nothing until `release`."""
        self.break_line()
        self._screen.hold()

    def release(self) -> None:
        """Draw what has come in the meantime, and go on."""
        self._screen.release()

    def finish(self) -> None:
        """Close all that is open and draw the token line once."""
        self.release()
        self._end_response()
        self._screen.wait_for("")
        for call in self._calls.values():
            self._show_result(call, ResultView(False, "did not finish"))
        self._calls.clear()
        if line := self._tokens.write_line(self._call_count):
            self._tokens = TokenCount()
            self._blocks.break_line()
            self._renderer.note_parts(line.split(" · "))
        self._screen.flush()

    def _turn_starts(self, data: Mapping[str, Any]) -> None:
        self._tokens = TokenCount()
        self._call_count = 0
        self._finished_calls.clear()
        self._diffs.clear()
        self._drew_text = False
        self._is_counted = False
        self._model_is_asked(data)

    def _model_is_asked(self, data: Mapping[str, Any]) -> None:
        self._end_response()
        limit = data.get("timeout")
        is_known = isinstance(limit, int | float)
        doing = _PURPOSES.get(str(data.get("purpose")), "waiting for the model")
        self._screen.wait_for(doing, limit if is_known else None, is_told=True)

    def _service_has_answered(self, data: Mapping[str, Any]) -> None:
        self._tokens.add(data.get("usage"))
        self._is_counted = True

    def _model_has_answered(self, data: Mapping[str, Any]) -> None:
        # Only a provider that asks a service emits the response of each request.
        if not self._is_counted and data.get("usage"):
            self._tokens.add(data["usage"])
        self._is_counted = False

    def _end_response(self) -> None:
        self._blocks.finish()
        self._drew_text = self._drew_text or self._blocks.drew_text
        self._blocks = ResponseBlocks(self._screen, self._renderer)

    def _block_starts(self, data: Mapping[str, Any]) -> None:
        self._renderer.new_section()
        if self._blocks.start(data):
            is_call = data.get("block_type") == "tool_call"
            self._screen.wait_for("writing a tool call" if is_call else "")

    def _block_grows(self, data: Mapping[str, Any]) -> None:
        self._blocks.add_delta(data)

    def _block_ends(self, data: Mapping[str, Any]) -> None:
        self._blocks.end(data)
        self._screen.wait_for("waiting for the model")

    def _tool_starts(self, data: Mapping[str, Any]) -> None:
        self._end_response()
        name = ContentBlockRenderer.shown_name(str(data.get("tool_name") or ""))
        self._call_count += 1
        call = _Call(self._call_count, name, self._clock())
        self._calls[self._call_id(data)] = call
        sign = f"{self._screen.glyphs.call} {call.number} "
        self._renderer.draw_call(sign, name, data.get("tool_input"))
        self._wait_for_tools()

    def _tool_reports(self, data: Mapping[str, Any]) -> None:
        if (call := self._calls.get(self._call_id(data))) is not None:
            call.progress = progress_summary(data)
            self._wait_for_tools()

    def _tool_ends(self, data: Mapping[str, Any]) -> None:
        keeps = self._keeps_changes
        view = view_result(data.get("result"), self._take_diff, keeps_changes=keeps)
        self._end_call(data, view)

    def _tool_fails(self, data: Mapping[str, Any]) -> None:
        self._end_call(data, ResultView(False, failure_summary(data.get("error"))))

    def _file_changes(self, data: Mapping[str, Any]) -> None:
        # No result takes those of tools that say nothing of their files.
        if len(self._diffs) < _MAX_DIFFS:
            self._diffs[str(data.get("path"))] = str(data.get("diff") or "")

    def _take_diff(self, path: str) -> str:
        return self._diffs.pop(path, "")

    def _task_starts(self, data: Mapping[str, Any]) -> None:
        self._blocks.break_line()
        self._tasks.begin(data)

    def _task_ends(self, data: Mapping[str, Any]) -> None:
        self._tokens.add_task(data)
        self._blocks.break_line()
        self._tasks.end(data)

    def _server_changes(self, data: Mapping[str, Any]) -> None:
        if (notice := self._servers.note(data)) is not None:
            self._note(*notice)

    def _end_call(self, data: Mapping[str, Any], view: ResultView) -> None:
        key = self._call_id(data)
        call = self._calls.pop(key, None)
        if call is None:
            if key in self._finished_calls:
                return  # `tool:error` and `tool:post` of one call
            self._call_count += 1
            name = ContentBlockRenderer.shown_name(str(data.get("tool_name") or ""))
            call = _Call(self._call_count, name, self._clock())
        if data.get("tool_call_id"):
            self._finished_calls.add(key)
        self._show_result(call, view)
        self._wait_for_tools()

    def _show_result(self, call: _Call, view: ResultView) -> None:
        seconds = self._clock() - call.started
        name = f"{call.number} {call.name}"
        self._renderer.draw_result(name, view, seconds)

    def _wait_for_tools(self) -> None:
        calls = list(islice(self._calls.values(), 4))
        others = " and others" if len(self._calls) > 4 else ""
        running = f"running {', '.join(call.name for call in calls)}{others}"
        parts = (f"{call.name} {call.progress}".rstrip() for call in calls)
        shown = f"running {', '.join(parts)}{others}"
        if calls:
            self._screen.wait_for(running, shown=shown)
        else:
            self._screen.wait_for("waiting for the model")

    def _call_id(self, data: Mapping[str, Any]) -> str:
        return str(data.get("tool_call_id") or data.get("tool_name") or "")

    def _note(self, text: str, style: str) -> None:
        self._blocks.break_line()
        self._renderer.note(text, style)
