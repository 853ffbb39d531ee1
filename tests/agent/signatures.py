"""The types that a checker sees: pyright reads this file, in strict mode; nothing runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from decimal import Decimal
from typing import Any, Literal, assert_type

from pydantic import BaseModel

from amplifier_agent import (
    Agent,
    AgentOptions,
    BaseProvider,
    Budget,
    Event,
    Hook,
    Message,
    Module,
    Question,
    QuestionAsked,
    Result,
    ScriptedProvider,
    ScriptItem,
    Session,
    Status,
    StatusError,
    Stream,
    TextDelta,
    TokenUsage,
    ToolContext,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnStatus,
    hook,
    tool,
)
from amplifier_core import (
    AmplifierSession,
    ApprovalRequest,
    ApprovalResponse,
    ChatRequest,
    ChatResponse,
    HookResult,
    Provider,
    Tool,
)
from amplifier_providers.base import Piece
from amplifier_stream import StreamChunk


class City(BaseModel):
    """What an agent answers."""

    name: str


class Cart:
    """What a session holds."""


class Shop:
    """Whose method is a tool."""

    def buy(self, what: str) -> str:
        """Buy."""
        return what


class Echo(BaseProvider):
    """A provider that streams."""

    name = "echo"

    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        """Say hello."""
        yield StreamChunk("a greeting", type="thinking")
        yield "Hello"


class Texts(BaseProvider):
    """A provider that yields texts and a response alone."""

    name = "texts"

    async def chunks(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[str | ChatResponse]:
        """Say hello."""
        yield "Hello"


class System:
    """An approval system."""

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 -- the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Agree."""
        return "allow"


class Person:
    """An approval provider."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        """Agree."""
        return ApprovalResponse(approved=True)


def agents_are_of_their_output() -> None:
    """`Agent[T]` is what `output` says, also of a copy."""
    plain, city = Agent("demo"), Agent("demo", output=City)
    assert_type(plain, Agent[None])
    assert_type(city, Agent[City])
    assert_type(city.replace(model="demo"), Agent[City])
    assert_type(city.replace(output=None), Agent[None])
    assert_type(city.replace(output=int, tools=[]), Agent[int])
    assert_type(plain.replace(output=City), Agent[City])
    assert_type(Agent("demo", output=list[str]), Agent[list[str]])
    assert_type(plain.plan, dict[str, Any])
    options: AgentOptions = {"model": "demo", "budget": Budget(seconds=2, cost=1.0)}
    assert_type(plain.replace(**options), Agent[None])
    any_agents: list[Agent[object]] = [plain, city]
    tools: list[Tool] = [each.as_tool("ask", "Asks.") for each in any_agents]
    Agent("demo", tools=tools)


def tools_are_functions_and_tools() -> None:
    """A tool keeps the parameters and the result of its function."""

    @tool
    def add(x: int, y: int = 1) -> int:
        return x + y

    @tool(name="e", is_loop_breaking=lambda arguments: bool(arguments))
    def end() -> str:
        return "end"

    assert_type(end.is_loop_breaking, "bool | Callable[[dict[str, Any]], bool]")

    @tool(
        name="b", description="d", needs_approval=True, parallel=False, read_only=True, timeout=3.0
    )
    async def put(context: ToolContext[Cart], item: str) -> str:
        assert_type(context.state, Cart)
        assert_type((context.call_id, context.key), tuple[str, str])
        assert_type(context.session, AmplifierSession)
        assert_type(context.is_cancelled, bool)
        context.progress("half", 0.5)
        return item

    @tool()
    def look(context: ToolContext) -> None:
        assert_type(context.state, Any)

    assert_type(add(1, y=2), int)
    buy = tool(Shop().buy, needs_approval=True)
    assert_type(buy("tea"), str)
    mounted: Tool = add
    listed: Sequence[Tool | Callable[..., object] | Module] = [
        mounted, put, look, buy, Shop().buy, "tool-search", {"module": "tool-filesystem"},
    ]  # fmt: skip
    Agent("demo", tools=listed)
    Agent("demo", tools=[add, put])


def hooks_and_approvals_take_either_form() -> None:
    """Hooks are sync or async, and approvals functions, systems or providers."""

    @hook("tool:pre", "tool:post", priority=3, fail_closed=False, timeout=3)
    async def judge(event: str, data: dict[str, Any]) -> HookResult | None:
        return None

    @hook("*")
    def observe(event: str, data: dict[str, Any]) -> None: ...

    hooks: list[Hook] = [judge, observe]
    Agent("demo", hooks=hooks)
    Agent("demo", hooks=[judge, "hooks-guard", {"module": "hooks-observe"}])

    def ask(question: Question) -> bool:
        assert_type((question.id, question.tool_name), tuple[str, str])
        assert_type(question.arguments, dict[str, Any])
        return True

    async def ask_later(question: Question) -> ApprovalResponse:
        return ApprovalResponse(approved=True)

    for approvals in (ask, ask_later, System(), Person()):
        Agent("demo", approvals=approvals)
    Agent("demo", approvals="wait")
    Agent("demo", approvals=lambda question: question.tool_name == "look")


def providers_are_scripted_or_own() -> None:
    """A script takes all of its forms."""

    def answer(request: ChatRequest) -> ScriptItem:
        return "text"

    script: list[ScriptItem] = [
        "text", {"tool": "add", "arguments": {}}, [{"type": "text", "text": "a"}],
        ChatResponse(content=[]), ValueError("b"), answer, lambda request: answer,
    ]  # fmt: skip
    model = ScriptedProvider(script, repeat=True, delay=0.1)
    assert_type(model.requests, list[ChatRequest])
    assert_type(model.remaining, int)
    providers: list[Provider] = [model, Echo()]
    Agent(providers[0])


async def results_are_of_the_output(agent: Agent[City]) -> None:
    """A result, a stream and a session know the type of the answer."""
    result = await agent.run("Hi", messages=[{"role": "user"}], state=3, budget=Budget())
    assert_type(result, Result[City])
    assert_type(result.output, City)
    assert_type(result.raise_for_status(), Result[City])
    assert_type(result.status, TurnStatus)
    assert_type((result.text, result.session_id), tuple[str, str])
    assert_type((result.reason, result.stop_reason), tuple[str | None, str | None])
    assert_type(result.usage + result.usage, TokenUsage)
    assert_type(result.cost, Decimal | None)
    assert_type((result.model_calls, result.tool_calls, result.usage.total), tuple[int, int, int])
    assert_type(result.messages, list[Message])
    assert_type(result.to_dict(), dict[str, Any])
    assert_type(agent.run_sync("Hi"), Result[City])
    async with agent.stream("Hi") as stream:
        assert_type(stream, Stream[City])
        async for event in stream:
            assert_type(event, Event | Result[City])
    assert_type(stream.result, Result[City])
    async with agent.session(messages=result.messages, session_id="s") as session:
        assert_type(session, Session[City])
        assert_type(session.session, AmplifierSession)
        assert_type(session.questions, tuple[Question, ...])
        assert_type(session.last, Result[City] | None)
        assert_type(await session.run("Hi"), Result[City])
        assert_type(session.stream("Hi"), Stream[City])
        session.answer("id", ApprovalResponse(approved=True))


def events_have_fields(event: Event, error: StatusError) -> None:
    """Each class of event has its own."""
    assert_type(event.raw, tuple[str, dict[str, Any]])
    assert_type(error.result, Result[Any])
    if isinstance(event, TextDelta):
        assert_type(event.text, str)
    if isinstance(event, ToolStarted):
        assert_type((event.id, event.name, event.arguments), tuple[str, str, dict[str, Any]])
    if isinstance(event, ToolProgress):
        assert_type((event.message, event.fraction), tuple[str, float | None])
    if isinstance(event, ToolFinished):
        assert_type((event.output, event.is_error), tuple[Any, bool])
    if isinstance(event, QuestionAsked):
        assert_type(event.question, Question)
    if isinstance(event, Status):
        assert_type((event.kind, event.text), tuple[str, str])
