"""`Agent`: a model with tools, hooks and a system prompt, ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, cast, overload

from .type_parameters import T_co

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import httpx2

    from amplifier_core import ContextManager, Orchestrator, Provider, Tool
    from amplifier_modules.spending.budget import Budget
    from amplifier_modules.stores import SessionInfo, Store

    from .approvals import Answer, Approvals
    from .arguments import Prompt
    from .event import Question
    from .function_hook import Hook
    from .output import Output
    from .plan import AgentOptions, Module, Parts
    from .result import Message, Result
    from .serving.tool_server import ToolServer
    from .session import Session
    from .stream import Stream, TakeEvent

OutputT = TypeVar("OutputT")

_UNSET: Any = object()


class Agent(Generic[T_co]):
    """A model with tools, hooks and a system prompt. It is immutable and safe to share.

        result = Agent("anthropic:claude-sonnet-4-5", tools=[weather]).run_sync("Weather?")
        print(result.text)

    Each run has a session of its own; `session` gives one for a conversation.
    """

    def __init__(
        self,
        model: str | Provider | None = None,
        *,
        tools: Sequence[Tool | Callable[..., object] | Module] = (),
        system: str | Callable[[], str | Awaitable[str]] | None = None,
        hooks: Sequence[Hook | Module] = (),
        output: type[T_co] | None = None,
        context: ContextManager | Module | None = None,
        loop: Orchestrator | Module | None = None,
        budget: Budget | None = None,
        approvals: Approvals | None = None,
        approval_timeout: float | None = None,
        directory: str | Path | None = None,
        http_client: httpx2.AsyncClient | None = None,
        store: Store | Module | None = None,
        project_notes: bool = False,
        deferred_tools: int | None = 20,
        plan: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe an agent; nothing is loaded yet.

        Args:
            model: `"provider:model"`, `"demo"`, or a provider; None only with a `plan` that names
                one.
            tools: Functions, tools, and modules by id or entry.
            system: The system prompt, or a function that returns it for each request.
            hooks: What `@hook` made, and modules by id or entry.
            output: The type of `Result.output`; None for text.
            context: The context, `context-simple` by default.
            loop: The loop, `loop-streaming` by default.
            budget: What a turn may use.
            approvals: Who answers when a hook or a tool asks for permission.
            approval_timeout: Seconds that they have to answer where neither the hook nor the tool
                says so; None for as long as the turn may take.
            directory: The folder that our tools work in.
            http_client: What sends the requests of our providers; it is never closed here, and
                belongs to the first event loop that uses it. None for the connections that all
                sessions of an event loop share.
            store: Where sessions are stored: `"sqlite"`, `"postgresql://…"`, another store by its
                name or entry, or an object. None keeps nothing.
            project_notes: Whether the model gets the notes of the user and of the project, such as
                `AGENTS.md`.
            deferred_tools: Above so many tools the model gets only the names of those of MCP servers,
                and of the others beyond so many, and looks up what it needs; None for all in full.
            plan: A mount plan to begin with; the other arguments win.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: An argument cannot be used.
            ConfigurationError: No provider has the name that `model` begins with, or no store that of
                `store`.
        """
        from .plan import copy_options, parts_of

        options: AgentOptions = {
            "model": model, "tools": tools, "system": system, "hooks": hooks, "context": context,
            "loop": loop, "budget": budget, "approvals": approvals,
            "approval_timeout": approval_timeout, "directory": directory,
            "http_client": http_client, "store": store,
            "project_notes": project_notes, "deferred_tools": deferred_tools, "plan": plan,
        }  # fmt: skip
        self._type = output
        self._output = _make_output(output)
        self._parts: Parts = parts_of(options)
        self._options = copy_options(options)

    @property
    def plan(self) -> dict[str, Any]:
        """A copy of the mount plan, for `AmplifierSession(agent.plan)`.

        Shown as text, it has `[REDACTED]` in the place of keys and other secrets.
        """
        from .shown_plan import ShownPlan

        return ShownPlan(self._parts.plan)

    async def run(
        self,
        prompt: Prompt,
        *,
        messages: Sequence[Message] = (),
        state: object = None,
        budget: Budget | None = None,
        goal: str | None = None,
    ) -> Result[T_co]:
        """Run one turn in a session of its own.

        Args:
            prompt: What the user says: text, or a list of blocks of text, images and documents.
            messages: The conversation so far, such as `result.messages`.
            state: What tools find in `ToolContext.state`.
            budget: What the turn may use, in the place of the agent's budget.
            goal: The turn goes on until this is reached, as a judge sees it.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: A block of the prompt cannot be sent, the goal is empty, or the agent's approvals are `"wait"`, which only a session
                can answer.
            ConfigurationError: All that is wrong with the agent's modules, in one list.
            Exception: What the provider or the context raised.
        """
        self._check_answerable()
        async with self._open(messages=messages, state=state, goal=goal) as session:
            return await session.run(prompt, budget=budget)

    def run_sync(
        self,
        prompt: Prompt,
        *,
        messages: Sequence[Message] = (),
        state: object = None,
        budget: Budget | None = None,
        goal: str | None = None,
    ) -> Result[T_co]:
        """Run one turn, without `await`; the arguments are those of `run`.

        Where an event loop runs already it uses a thread, and warns outside of notebooks. Ctrl+C
        cancels the turn.
        """
        from amplifier_providers.running.run_sync import run_sync

        return run_sync(
            lambda: self.run(prompt, messages=messages, state=state, budget=budget, goal=goal),
            called="run_sync",
            instead="await run(...)",
        )

    def stream(
        self,
        prompt: Prompt,
        *,
        messages: Sequence[Message] = (),
        state: object = None,
        budget: Budget | None = None,
        goal: str | None = None,
    ) -> Stream[T_co]:
        """Return a turn as a stream of events; the arguments are those of `run`."""
        from .arguments import check_goal, check_messages, check_turn
        from .stream import Stream

        self._check_answerable()
        check_turn(prompt, budget)
        check_messages(messages)
        check_goal(goal)

        async def run(take_event: TakeEvent) -> Result[T_co]:
            async with self._open(messages=messages, state=state, goal=goal) as session:
                return await session.run_turn(prompt, budget, take_event)

        return Stream(run)

    def session(
        self,
        *,
        messages: Sequence[Message] = (),
        state: object = None,
        session_id: str | None = None,
        goal: str | None = None,
        waits: bool = True,
    ) -> Session[T_co]:
        """Return a session for a conversation; use it with `async with`.

        Args:
            messages: The conversation so far.
            state: What tools find in `ToolContext.state`.
            session_id: The id; a random one by default. With a store, a session that is stored
                under it goes on, else one begins.
            goal: Turns go on until this is reached, as a judge sees it; see `Session.goal`.
            waits: Whether a turn waits for the answers to its questions, with `approvals="wait"`;
                else it ends as `awaiting_approval`, as that of `run` does.
        """
        return self._open(
            messages=messages, state=state, session_id=session_id, goal=goal, waits=waits
        )

    def _open(self, *, waits: bool = False, **options: Any) -> Session[T_co]:
        return _session_class()(self._parts, self._output, waits=waits, **options)

    async def questions(self, session_id: str) -> list[Question]:
        """Return what people are asked by a stored session, or a sub-agent of it, and have not answered.

        Raises:
            ConfigurationError: The agent has no store.
            UnknownSessionError: No session is stored under this id.
            StoreError: The store cannot be read.
        """
        from .answering import list_questions

        return await list_questions(self._parts, session_id)

    async def answer(self, session_id: str, question_id: str, answer: Answer) -> None:
        """Answer a question of a session that is stored, from any process.

        The answer is stored when this returns. A turn that waits for it in a process goes on;
        `Session.resume_turn` goes on with one that ended as `awaiting_approval`.

        Args:
            session_id: The id of the session, such as `result.session_id`.
            question_id: The id of the question, such as `result.questions[0].id`.
            answer: True grants; a text denies, and the model gets to read it.

        Raises:
            TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
            ValueError: The answer is a text that agrees, such as `yes`.
            LookupError: No such question waits, or its time has passed.
            ConfigurationError: The agent has no store.
            UnknownSessionError: No session is stored under this id.
            StoreError: The store cannot be used.
        """
        from .answering import answer_question

        await answer_question(self._parts, session_id, question_id, answer)

    async def queue(self, session_id: str, prompt: str) -> None:
        """Send a prompt to a session that is stored, from any process.

        It is stored when this returns. `Session.run_queued` runs it as a turn of its own, or a worker
        does, if the session is one of workers.

        Args:
            session_id: The id of the session, such as `result.session_id`.
            prompt: What the user says.

        Raises:
            ValueError: The prompt is empty.
            ConfigurationError: The agent has no store.
            UnknownSessionError: No session is stored under this id.
            StoreError: The store cannot be used.
        """
        from amplifier_modules.stores.inbox import PROMPT, put_due

        from .stored import open_store

        if not prompt.strip():
            raise ValueError("`prompt` is empty")
        async with open_store(self._parts) as store:
            await put_due(store, session_id, PROMPT, {"text": prompt})

    async def sessions(self) -> list[SessionInfo]:
        """Return the sessions that are stored, the ones last written to first.

        Raises:
            ConfigurationError: The agent has no store.
            StoreError: The store cannot be read.
        """
        from .stored import open_store

        async with open_store(self._parts) as store:
            return await store.sessions()

    def as_tool(self, name: str, description: str) -> Tool:
        """Return a tool by which another agent asks this one.

        It takes a `prompt` and answers with this agent's text. Its session has a history of its
        own, the state and the cancellation of the session that calls it, what is left of its
        budget, and its approvals. The hooks of that session judge its calls, too.

        Args:
            name: What the model calls it.
            description: What the model reads about the tool.

        Raises:
            TypeError: The name or the description is no text.
            ValueError: The name cannot be used, or the agent's approvals are `"wait"`.
        """
        from .agent_tool import AgentTool

        self._check_answerable(is_tool=True)

        def open_child(
            state: object, parent_id: str | None, session_id: str | None
        ) -> Session[T_co]:
            return _session_class()(
                self._parts, self._output, state=state, session_id=session_id, parent_id=parent_id
            )

        return AgentTool(name, description, open_child)

    def as_mcp(
        self,
        name: str = "agent",
        description: str = "Ask an agent: it does what the prompt says, and answers.",
        *,
        state: object = None,
        **options: Any,
    ) -> ToolServer:
        """Return an MCP server that has this agent as its one tool.

            agent.as_mcp("reviewer", "Reviews a change.").run()

        The tool takes a `prompt` and answers with the agent's text, each time in a session of its
        own; what the agent does meanwhile is the progress of the call. Who is asked is who answers
        the agent's questions, else the person at the client.

        Args:
            name: What the server and its tool are called.
            description: What clients and their models read about the tool.
            state: What the agent's tools find in `ToolContext.state`.
            **options: As for `ToolServer`, such as `version`.

        Raises:
            TypeError: The name or the description is no text.
            ValueError: The name cannot be used, or the agent's approvals are `"wait"`.
            ModuleNotFoundError: The extra `mcp` is not installed.
        """
        from .agent_tool import AgentTool
        from .serving.agent_progress import report_steps
        from .serving.tool_server import ToolServer

        self._check_answerable(is_tool=True)

        def open_child(
            _state: object, parent_id: str | None, session_id: str | None
        ) -> Session[T_co]:
            return _session_class()(
                self._parts, self._output, state=state, session_id=session_id, parent_id=parent_id
            )

        tool = AgentTool(name, description, open_child, report_steps)
        options = {"approvals": self._parts.approvals, **options}
        return ToolServer(name, tools=[tool], **options)

    @overload
    def replace(
        self, *, output: type[OutputT], **changes: Unpack[AgentOptions]
    ) -> Agent[OutputT]: ...
    @overload
    def replace(self, *, output: None, **changes: Unpack[AgentOptions]) -> Agent[None]: ...
    @overload
    def replace(self, **changes: Unpack[AgentOptions]) -> Agent[T_co]: ...
    def replace(self, *, output: Any = _UNSET, **changes: Unpack[AgentOptions]) -> Agent[Any]:
        """Return a copy of the agent with other arguments.

        Raises:
            TypeError: There is no such argument, or one is of the wrong type.
        """
        options = {**self._options, **changes}
        return Agent(**cast("Any", options), output=self._type if output is _UNSET else output)

    def _check_answerable(self, *, is_tool: bool = False) -> None:
        """Refuse questions that wait where nobody could answer them.

        Args:
            is_tool: Whether another agent asks this one: then a store is no help.
        """
        if self._parts.approvals != "wait":
            return
        from .stored import has_store

        if has_store(self._parts) and not is_tool:
            return
        way_out = "" if is_tool else "; or give the agent a `store`"
        raise ValueError(
            '`approvals="wait"` needs a session, by which questions are answered:'
            f" `async with agent.session() as s`{way_out}"
        )

    def __repr__(self) -> str:
        """Show the model and the names of the tools."""
        model = self._options.get("model")
        shown = model if isinstance(model, str) or model is None else type(model).__name__
        return f"Agent({shown!r})"


@cache
def _session_class() -> type[Session[Any]]:
    # Imported late, as a program may describe agents that it never asks.
    from .session import Session

    return Session


def _make_output(type_: type[Any] | None) -> Output[Any] | None:
    if type_ is None:
        return None
    from .output import Output

    return Output(type_)
