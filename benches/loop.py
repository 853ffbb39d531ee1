"""What a turn costs above its model and its tools: our loop, other libraries', one written by hand.

All ask a model that answers at once, in the form of their own library, and run a tool that does
nothing: once, and a hundred of them in one round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

from side_by_side import Figure, Times, run, time_each

QUESTION = "What is in the folder?"
ANSWER = "Nothing new."
AT_ONCE = 100
NUMBERS = {"turn": 1, "tools": AT_ONCE}
"""How many tools a turn calls, by the name of the case."""

Turn = Callable[[], Awaitable[object]]


async def of_each(make: Callable[[int], Turn], name: str = "") -> Times:
    """The CPU seconds of a turn with one tool, and of one with a hundred."""
    times: Times = {}
    for case, tools in NUMBERS.items():
        turn = make(tools)
        assert ANSWER in str(await turn())

        async def repeat(count: int, turn: Turn = turn) -> None:
            for _ in range(count):
                await turn()

        times[f"{name}{case}"] = await time_each(repeat)
    return times


def by_hand(tools: int) -> Turn:
    """A loop without hooks, limits, events or cancellation, over dicts."""

    async def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": ANSWER, "tool_calls": []}
        calls = [{"id": str(n), "name": "look", "arguments": {"path": "."}} for n in range(tools)]
        return {"role": "assistant", "content": "", "tool_calls": calls}

    async def look(path: str) -> str:
        return path

    async def answered(call: dict[str, Any]) -> dict[str, Any]:
        result = await {"look": look}[call["name"]](**call["arguments"])
        return {"role": "tool", "tool_call_id": call["id"], "content": result}

    async def turn() -> str:
        messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
        while True:
            answer = await model(messages)
            messages.append(answer)
            if not answer["tool_calls"]:
                return answer["content"]
            messages += await asyncio.gather(*map(answered, answer["tool_calls"]))

    return turn


def our_loop(hooks: list[str]) -> Callable[[int], Turn]:
    """A turn of `loop-basic` and `context-simple`, in one session whose history is emptied."""
    from amplifier_core import AmplifierSession
    from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
    from amplifier_core.models import ToolResult
    from amplifier_providers.base import BaseProvider

    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple", "strict": True},
        "hooks": [{"module": hook} for hook in hooks],
    }

    def make(tools: int) -> Turn:
        class Model(BaseProvider):
            name = "bench"

            async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
                if request.messages[-1].role == "tool":
                    return ChatResponse(content=[TextBlock(text=ANSWER)])
                calls = [
                    ToolCall(id=str(n), name="look", arguments={"path": "."}) for n in range(tools)
                ]
                return ChatResponse(content=[], tool_calls=calls)

        class Look:
            name = "look"
            description = "Looks at a folder."
            input_schema = {  # noqa: RUF012
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            }

            async def execute(self, input: dict[str, Any]) -> ToolResult:
                return ToolResult(output=input["path"])

        sessions: list[Any] = []

        async def turn() -> str:
            if not sessions:
                session = AmplifierSession(plan)
                await session.initialize()
                await session.coordinator.mount("providers", Model(), name="bench")
                await session.coordinator.mount("tools", Look(), name="look")
                sessions.append(session)
            context = sessions[0].coordinator.get("context")
            await context.clear()
            return await sessions[0].execute(QUESTION)

        return turn

    return make


def langgraph(tools: int) -> Turn:
    """The agent that LangGraph has ready."""
    import warnings

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool

    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "bench"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

        def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

        async def _agenerate(self, messages: Any, *args: Any, **options: Any) -> Any:
            if isinstance(messages[-1], ToolMessage):
                answer = AIMessage(content=ANSWER)
            else:
                calls = [
                    {"id": str(n), "name": "look", "args": {"path": "."}} for n in range(tools)
                ]
                answer = AIMessage(content="", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=answer)])

    @tool
    async def look(path: str) -> str:
        """Looks at a folder."""
        return path

    agent = create_react_agent(Model(), [look])

    async def turn() -> str:
        state = await agent.ainvoke({"messages": [{"role": "user", "content": QUESTION}]})
        return state["messages"][-1].content

    return turn


def openai_agents(tools: int) -> Turn:
    """The runner of OpenAI's agents, without its tracing."""
    from agents import Agent, Runner, function_tool, set_tracing_disabled
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    set_tracing_disabled(disabled=True)

    class Scripted(Model):
        async def get_response(self, *args: Any, input: Any, **options: Any) -> Any:
            if not isinstance(input, str) and input[-1].get("type") == "function_call_output":
                text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
                output: list[Any] = [
                    ResponseOutputMessage(
                        id="m",
                        content=[text],
                        role="assistant",
                        status="completed",
                        type="message",
                    )
                ]
            else:
                output = [
                    ResponseFunctionToolCall(
                        call_id=str(n), name="look", arguments='{"path": "."}', type="function_call"
                    )
                    for n in range(tools)
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

    @function_tool
    async def look(path: str) -> str:
        """Looks at a folder."""
        return path

    agent = Agent(name="bench", model=Scripted(), tools=[look])

    async def turn() -> str:
        return (await Runner.run(agent, QUESTION)).final_output

    return turn


def pydantic_ai(tools: int) -> Turn:
    """The agent of `pydantic-ai`."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def answer(messages: Any, info: Any) -> Any:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(
            parts=[ToolCallPart("look", {"path": "."}, tool_call_id=str(n)) for n in range(tools)]
        )

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    async def look(path: str) -> str:
        """Looks at a folder."""
        return path

    async def turn() -> str:
        return (await agent.run(QUESTION)).output

    return turn


PEERS = {
    "langgraph": langgraph,
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
}


async def theirs() -> Times:
    """The turns of the other libraries."""
    times: Times = {}
    for name, make in PEERS.items():
        times |= await of_each(make, f"{name} ")
    return times


async def ours() -> Times:
    """Our turns, and that of the loop written by hand."""
    return {
        **await of_each(our_loop([])),
        **await of_each(our_loop(["hooks-guard"]), "guarded "),
        **await of_each(by_hand, "by hand "),
    }


def measure() -> Times:
    """The side that is installed."""
    return asyncio.run(theirs() if find_spec("langgraph") else ours())


SHARES = {
    "langgraph": {"turn": 0.035, "tools": 0.05},
    "openai-agents": {"turn": 0.035, "tools": 0.05},
    "pydantic-ai": {"turn": 0.02, "tools": 0.1},
}
WORDS = {"turn": "a turn with one tool", "tools": f"{AT_ONCE} tools at once"}

if __name__ == "__main__":
    run(
        __file__,
        measure,
        "the loop",
        [
            *(
                Figure(f"{WORDS[case]}, against {peer}", case, share=share, peer=f"{peer} {case}")
                for peer, shares in SHARES.items()
                for case, share in shares.items()
            ),
            Figure("a turn, against one by hand", "turn", share=8, against="by hand turn"),
            Figure(
                "a guarded turn, against a plain one", "guarded turn", share=1.5, against="turn"
            ),
            Figure(
                "guarded tools, against plain ones", "guarded tools", share=1.7, against="tools"
            ),
        ],
    )
