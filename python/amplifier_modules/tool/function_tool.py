"""`@tool`: a Python function as a tool."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar, overload

if TYPE_CHECKING:
    from types import UnionType

    from amplifier_core.models import ToolResult

    from .schema import ToolSchema

P = ParamSpec("P")
R = TypeVar("R")

EndsTurn: TypeAlias = "bool | Callable[[dict[str, Any]], bool]"
"""Whether a call ends the turn: always, never, or what a function of its arguments returns."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class FunctionTool(Generic[P, R]):
    """A tool that calls a function; it can still be called as that function.

    The arguments of the model are checked and converted before the call. A plain function runs in
    a thread, so that it may block; where the turn is cancelled, it is left behind.
    """

    def __init__(
        self,
        function: Callable[P, R],
        schema: ToolSchema,
        *,
        name: str,
        description: str,
        needs_approval: bool = False,
        approval_timeout: float | None = None,
        idempotent: bool = False,
        continues_calls: bool = False,
        parallel: bool = True,
        read_only: bool = False,
        timeout: float | None = None,
        is_loop_breaking: EndsTurn = False,
    ) -> None:
        """Make the tool; `tool` reads the name, the schema and the description off the function."""
        self.function = function
        self.name = name
        self.description = description
        self.input_schema = schema.json
        self.needs_approval = needs_approval
        """Whether a person is asked before each call."""
        self.approval_timeout = approval_timeout
        """Seconds that a person has to answer; None for those of the session."""
        self.idempotent = idempotent
        """Whether a call that is made twice has its effect once."""
        self.continues_calls = continues_calls
        """Whether it goes on with what a call has asked, or had sub-agents do, before its process
        ended."""
        self.parallel = parallel
        """Whether other calls of the same answer may run at the same time."""
        self.read_only = read_only
        """Whether it changes nothing, so that a call may be ended at any time and made again."""
        self.timeout = timeout
        """Seconds that a call may take; None for no limit."""
        self.is_loop_breaking: EndsTurn = is_loop_breaking
        """Whether the output of a call is the answer of the turn: a bool, or a function of the
        arguments that returns one."""
        self.acts_in_session = False
        """Whether it changes nothing outside of the session; `hooks-approval` reads it."""
        self.checks_arguments = True
        """It converts what the schema alone would refuse, such as `"2"` for a number."""
        self._schema = schema

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        """Show the name."""
        return f"<tool {self.name!r}>"

    @property
    def state_type(self) -> type | UnionType | None:
        """What the session's state must be, as in `ToolContext[Cart]`; else None."""
        from .schema import state_type

        return state_type(self._schema.context)

    @property
    def takes_context(self) -> bool:
        """Whether the function gets the `ToolContext` of its call."""
        return self._schema.context is not None

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call the function with the arguments of the model.

        Raises:
            InvalidToolCallError: The arguments do not fit the function.
            TimeoutError: The call took longer than `timeout`.
            Exception: What the function raised.
        """
        import anyio

        from .function_call import call_function, tool_result

        positional, named = self._schema.read(self.name, input)
        if self.takes_context:
            from .context import ToolContext

            positional.insert(0, ToolContext.current())
        with anyio.move_on_after(self.timeout):
            return tool_result(await call_function(self.function, *positional, **named))
        effects = "it has changed nothing" if self.read_only else "its effects are unknown"
        raise TimeoutError(
            f"`{self.name}` was ended after {self.timeout:g} s, its time limit; {effects}"
        )


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: bool = False,
    approval_timeout: float | None = None,
    idempotent: bool = False,
    continues_calls: bool = False,
    parallel: bool = True,
    read_only: bool = False,
    timeout: float | None = None,
    is_loop_breaking: EndsTurn = False,
) -> FunctionTool[P, R]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: bool = False,
    approval_timeout: float | None = None,
    idempotent: bool = False,
    continues_calls: bool = False,
    parallel: bool = True,
    read_only: bool = False,
    timeout: float | None = None,
    is_loop_breaking: EndsTurn = False,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: bool = False,
    approval_timeout: float | None = None,
    idempotent: bool = False,
    continues_calls: bool = False,
    parallel: bool = True,
    read_only: bool = False,
    timeout: float | None = None,
    is_loop_breaking: EndsTurn = False,
) -> Any:
    """Make a tool of a function: `@tool`, `@tool(...)`, or `tool(shop.buy)` for a method.

    The schema comes from the annotations, the descriptions from the docstring and its `Args:`. A
    first parameter that is annotated `ToolContext` gets the context of the call.

    Args:
        function: Sync or async; each parameter is annotated.
        name: What the model calls it; the name of the function by default.
        description: What the model reads; the docstring by default.
        needs_approval: Whether a person is asked before each call.
        approval_timeout: Seconds that a person has to answer where a hook that asks does not say
            so; None for those of the session.
        idempotent: Whether a call that is made twice has its effect once, as by `ToolContext.key`:
            one whose process ended while it ran may then be made again.
        continues_calls: Whether the function can go on with a call whose process ended: it is called
            again, `spawn` goes on with the sub-agents that it had begun, in their order, and
            `ToolContext.asked_before` is what it had asked. All else it must do only once.
        parallel: Whether other calls of the same answer may run at the same time.
        read_only: Whether it changes nothing, so that a call may be ended at any time and made
            again. Hooks see it in `tool:pre`, and the model when a call was ended.
        timeout: Seconds that a call may take; None for no limit.
        is_loop_breaking: Whether the output of a successful call is the answer of the turn: a
            bool, or a function of the arguments that returns one.

    Raises:
        TypeError: A parameter has no annotation or no JSON schema; a flag is of another type.
        ValueError: The name or the time limit cannot be used.
    """
    options = {
        "needs_approval": needs_approval,
        "approval_timeout": approval_timeout,
        "idempotent": idempotent,
        "continues_calls": continues_calls,
        "parallel": parallel,
        "read_only": read_only,
        "timeout": timeout,
        "is_loop_breaking": is_loop_breaking,
    }
    if function is None:

        def decorate(function: Callable[..., Any]) -> FunctionTool[..., Any]:
            return _make(function, name, description, options)

        return decorate
    return _make(function, name, description, options)


def _make(
    function: Any, name: str | None, description: str | None, options: dict[str, Any]
) -> FunctionTool[..., Any]:
    import sys

    from .schema import ToolSchema

    if isinstance(function, FunctionTool):
        name = function.name if name is None else name
        function = function.function  # pyright: ignore[reportUnknownMemberType] -- of any signature
    if isinstance(function, type) or not callable(function):
        found = type(function).__name__  # pyright: ignore[reportUnknownArgumentType] -- of any kind
        raise TypeError(f"a tool is made of a function, not of a `{found}`")
    check_seconds(options["timeout"], "a tool")
    check_seconds(options["approval_timeout"], "a tool", "approval_timeout")
    for flag in ("needs_approval", "idempotent", "continues_calls", "parallel", "read_only"):
        # Else a tool would run unasked because of a `"yes"`.
        if not isinstance(options[flag], bool):
            found = type(options[flag]).__name__
            raise TypeError(f"`{flag}` of a tool is a `{found}` (must be true or false)")
    ends = options["is_loop_breaking"]
    if not isinstance(ends, bool) and not inspect.isroutine(ends):
        found = type(ends).__name__
        raise TypeError(
            f"`is_loop_breaking` of a tool is a `{found}` (must be true, false or a function)"
        )
    if description is not None:
        check_description(description)
    shown_name = getattr(function, "__name__", type(function).__name__) if name is None else name
    check_name(shown_name)
    # Where `tool` was called: its local classes may stand in annotations.
    schema = ToolSchema(function, sys._getframe(2).f_locals)  # pyright: ignore[reportPrivateUsage] -- documented
    return FunctionTool(
        function,
        schema,
        name=shown_name,
        description=schema.description if description is None else description,
        **options,
    )


def check_name(name: Any) -> None:
    """Check the name of a tool.

    Raises:
        TypeError: It is no text.
        ValueError: Models cannot call it that.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a tool is a `{type(name).__name__}` (must be text)")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"`{name}` cannot be the name of a tool (1 to 64 letters, digits, `_` or `-`);"
            " give one as `name=`"
        )


def check_description(description: Any) -> None:
    """Check the description of a tool.

    Raises:
        TypeError: It is no text.
    """
    if not isinstance(description, str):
        found = type(description).__name__
        raise TypeError(f"the description of a tool is a `{found}` (must be text)")


def check_seconds(seconds: Any, what: str, name: str = "timeout") -> None:
    """Check a time limit.

    Args:
        seconds: The seconds, or None for no limit.
        what: What has the limit, for errors.
        name: What the limit is called.

    Raises:
        TypeError: It is no number.
        ValueError: It is not above 0.
    """
    if seconds is None:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        found = type(seconds).__name__
        raise TypeError(f"`{name}` of {what} is a `{found}` (must be a number of seconds, or None)")
    if not seconds > 0:
        raise ValueError(f"`{name}` of {what} is `{seconds}` (must be above 0 seconds, or None)")
