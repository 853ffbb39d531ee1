"""A model that can be asked: what `load_model` returns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from typing_extensions import override

from .arguments import Prompt, call_of
from .deltas import Delta
from .exceptions import ArcLLMConfigError
from .step import Call, Step
from .stream import ModelStream, add_notes
from .types import LLMProvider, LLMResponse, Tool

if TYPE_CHECKING:
    from .output import OutputCall, StructuredResponse

OutputT = TypeVar("OutputT")


class Model(LLMProvider):
    """A model of a provider, with the layers around it; made by `load_model`.

    It is shared by tasks, threads and event loops. `close`, or `async with`, closes its connections
    in the event loop that runs; a later call opens new ones.
    """

    def __init__(self, provider: Step, stack: Step, check: Callable[[], object]) -> None:
        """Ask a provider through its layers.

        Args:
            provider: The provider.
            stack: The provider in its layers.
            check: Raises `ArcLLMConfigError` if the provider could not be opened now.
        """
        self.name = provider.name
        """The provider."""
        self.model_name = provider.model_name
        """The model that is asked, unless a layer chooses another one."""
        self._provider = provider
        self._stack = stack
        self._check = check

    @overload
    async def complete(
        self,
        messages: Prompt,
        tools: None = None,
        *,
        output: type[OutputT],
        **kwargs: Any,
    ) -> StructuredResponse[OutputT]: ...
    @overload
    async def complete(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None,
        *,
        output: type[OutputT],
        **kwargs: Any,
    ) -> StructuredResponse[OutputT | None]: ...
    @overload
    async def complete(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        **kwargs: Any,
    ) -> LLMResponse: ...
    @overload
    async def complete(
        self, messages: Prompt, tools: Sequence[Tool] | None = None, *, output: Any, **kwargs: Any
    ) -> StructuredResponse[Any]: ...
    @override
    async def complete(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Return the whole answer.

        Args:
            messages: The conversation; a text is one message of the user.
            tools: What the model may call.
            output: The type of the answer, whose object is the `output` of the response. The model
                is asked once more if its answer does not fit. With tools it is None while the model
                calls them.
            **kwargs: Options of the call: `temperature`, `max_tokens`, `tool_choice`, …; and
                `agent`, for whom it is made, which layers record and charge and nobody sends.

        Raises:
            ArcLLMAPIError: The service refused the call, could not be reached, or broke off.
            ArcLLMConfigError: An option or a setting cannot be used.
            ArcLLMParseError: The answer cannot be read, or does not fit `output`.
            TypeError: An argument is of the wrong type.
        """
        return await self._answer(call_of(messages, tools, kwargs), output)

    invoke = complete
    """Another name of `complete`."""

    @overload
    def stream(
        self, messages: Prompt, tools: None = None, *, output: type[OutputT], **kwargs: Any
    ) -> ModelStream[StructuredResponse[OutputT]]: ...
    @overload
    def stream(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None,
        *,
        output: type[OutputT],
        **kwargs: Any,
    ) -> ModelStream[StructuredResponse[OutputT | None]]: ...
    @overload
    def stream(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        **kwargs: Any,
    ) -> ModelStream[LLMResponse]: ...
    @overload
    def stream(
        self, messages: Prompt, tools: Sequence[Tool] | None = None, *, output: Any, **kwargs: Any
    ) -> ModelStream[StructuredResponse[Any]]: ...
    def stream(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: Any = None,
        **kwargs: Any,
    ) -> ModelStream[Any]:
        """Return the answer as it arrives: deltas, at the end the response.

        The arguments and the exceptions, which come while it is read, are those of `complete`.
        """
        return self._open_stream(call_of(messages, tools, kwargs), output)

    @overload
    def complete_sync(
        self, messages: Prompt, tools: None = None, *, output: type[OutputT], **kwargs: Any
    ) -> StructuredResponse[OutputT]: ...
    @overload
    def complete_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None,
        *,
        output: type[OutputT],
        **kwargs: Any,
    ) -> StructuredResponse[OutputT | None]: ...
    @overload
    def complete_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        **kwargs: Any,
    ) -> LLMResponse: ...
    @overload
    def complete_sync(
        self, messages: Prompt, tools: Sequence[Tool] | None = None, *, output: Any, **kwargs: Any
    ) -> StructuredResponse[Any]: ...
    def complete_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Return the whole answer, without `await`; the arguments are those of `complete`.

        Where an event loop runs already it uses a thread, and warns outside of notebooks. Calls share
        connections. Ctrl+C ends a call.
        """
        from amplifier_providers.running.run_sync import run_sync

        call = call_of(messages, tools, kwargs)
        return run_sync(
            lambda: self._answer(call, output),
            called="complete_sync",
            instead="await complete(...)",
        )

    @overload
    def stream_sync(
        self, messages: Prompt, tools: None = None, *, output: type[OutputT], **kwargs: Any
    ) -> Generator[Delta | StructuredResponse[OutputT]]: ...
    @overload
    def stream_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None,
        *,
        output: type[OutputT],
        **kwargs: Any,
    ) -> Generator[Delta | StructuredResponse[OutputT | None]]: ...
    @overload
    def stream_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        **kwargs: Any,
    ) -> Generator[Delta | LLMResponse]: ...
    @overload
    def stream_sync(
        self, messages: Prompt, tools: Sequence[Tool] | None = None, *, output: Any, **kwargs: Any
    ) -> Generator[Delta | StructuredResponse[Any]]: ...
    def stream_sync(
        self,
        messages: Prompt,
        tools: Sequence[Tool] | None = None,
        *,
        output: Any = None,
        **kwargs: Any,
    ) -> Generator[Any]:
        """Return the answer as it arrives, without `await`; the arguments are those of `complete`.

        It is read in a thread. To leave it early, by `break` or Ctrl+C, ends the call.
        """
        from .sync import stream_sync

        call = call_of(messages, tools, kwargs)
        return stream_sync(lambda: self._open_stream(call, output))

    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: None = None,
        *,
        output: type[OutputT],
        limit: int = 8,
        return_exceptions: Literal[False] = False,
        **kwargs: Any,
    ) -> list[StructuredResponse[OutputT]]: ...
    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: None = None,
        *,
        output: type[OutputT],
        limit: int = 8,
        return_exceptions: Literal[True],
        **kwargs: Any,
    ) -> list[StructuredResponse[OutputT] | Exception]: ...
    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        limit: int = 8,
        return_exceptions: Literal[False] = False,
        **kwargs: Any,
    ) -> list[LLMResponse]: ...
    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: Sequence[Tool] | None = None,
        *,
        output: None = None,
        limit: int = 8,
        return_exceptions: Literal[True],
        **kwargs: Any,
    ) -> list[LLMResponse | Exception]: ...
    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: Sequence[Tool] | None = None,
        *,
        output: Any,
        limit: int = 8,
        return_exceptions: Literal[False] = False,
        **kwargs: Any,
    ) -> list[StructuredResponse[Any]]: ...
    @overload
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: Sequence[Tool] | None = None,
        *,
        output: Any,
        limit: int = 8,
        return_exceptions: Literal[True],
        **kwargs: Any,
    ) -> list[StructuredResponse[Any] | Exception]: ...
    async def batch(
        self,
        prompts: Sequence[Prompt],
        tools: Sequence[Tool] | None = None,
        *,
        output: Any = None,
        limit: int = 8,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Return the answers to many prompts, in their order; all are asked, whatever fails.

        Args:
            prompts: The conversations, as `complete` takes them.
            tools: What the model may call.
            output: The type of the answers.
            limit: Calls at once, at least 1.
            return_exceptions: Whether the exception of a call that failed is in the list.
            **kwargs: Options of all calls.

        Raises:
            ArcLLMBatchError: Calls failed; it has the answers of the others. Not with
                `return_exceptions`.
            TypeError, ValueError: An argument cannot be used.
        """
        from .batch import ArcLLMBatchError, run_batch

        if isinstance(prompts, str):
            raise TypeError("`prompts` is text (must be a list of prompts)")
        if not isinstance(limit, int) or limit < 1:  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            raise ValueError(f"`limit` is {limit!r} (must be a whole number, at least 1)")

        async def ask(prompt: Prompt) -> LLMResponse:
            return await self._answer(call_of(prompt, tools, dict(kwargs)), output)

        results = await run_batch(prompts, ask, limit)
        errors = [result for result in results if isinstance(result, Exception)]
        if errors and not return_exceptions:
            raise ArcLLMBatchError(results) from errors[0]
        return results

    @override
    def validate_config(self) -> bool:
        """Whether the model could be loaded now: its key is still there, its files can be read."""
        try:
            self._check()
        except ArcLLMConfigError:
            return False
        return True

    async def close(self) -> None:
        """Close the connections of the event loop that runs; a later call opens new ones."""
        await self._stack.close()

    async def __aenter__(self) -> Self:
        """Return the model."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self.close()

    @override
    def __repr__(self) -> str:
        """Show the provider and the model."""
        return f"Model({f'{self.name}:{self.model_name}'!r})"

    async def _answer(self, call: Call, output: Any) -> LLMResponse:
        if output is None:
            return add_notes(await self._stack.complete(call), call)
        return add_notes(await self._output_call(call, output).complete(), call)

    def _open_stream(self, call: Call, output: Any) -> ModelStream[Any]:
        if output is None:
            return ModelStream(self._stack.stream(call), call)
        return ModelStream(self._output_call(call, output).stream(), call)

    def _output_call(self, call: Call, output: type[OutputT]) -> OutputCall[OutputT]:
        from .output import OutputCall, output_type

        return OutputCall(
            self._stack,
            call,
            output_type(output),
            is_native=getattr(self._provider, "holds_to_schema", False),
        )
