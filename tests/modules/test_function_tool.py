"""A tool that is a Python function."""

from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from amplifier_core import ModuleCoordinator, ToolResult
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_modules.tool.context import CURRENT, ToolContext
from amplifier_modules.tool.function_tool import FunctionTool, tool


class Place(BaseModel):
    city: str
    country: str = "France"


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Box(TypedDict):
    width: int


@tool
async def weather(
    city: str,
    days: Annotated[int, Field(ge=1, le=7)] = 1,
    unit: Literal["C", "F"] = "C",
    place: Place | None = None,
    names: list[str] | None = None,
) -> str:
    """Forecast for a city.

    It is made up.

    Args:
        city: Name of the city.
        days: How many days, 1 to 7.
    """
    return f"{city} {days} {unit} {place} {names}"


async def call(made: FunctionTool[..., Any], **arguments: Any) -> Any:
    return (await made.execute(arguments)).output


def test_the_schema_comes_from_annotations_and_docstring() -> None:
    assert (weather.name, weather.description) == (
        "weather",
        "Forecast for a city.\n\nIt is made up.",
    )
    assert weather.input_schema == {
        "type": "object",
        "$defs": {
            "Place": {
                "title": "Place",
                "type": "object",
                "properties": {
                    "city": {"title": "City", "type": "string"},
                    "country": {"title": "Country", "type": "string", "default": "France"},
                },
                "required": ["city"],
            }
        },
        "properties": {
            "city": {"type": "string", "description": "Name of the city."},
            "days": {
                "type": "integer",
                "minimum": 1,
                "maximum": 7,
                "description": "How many days, 1 to 7.",
                "default": 1,
            },
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "place": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "default": None},
            "names": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }


async def test_a_field_may_describe_and_rename_its_parameter() -> None:
    @tool
    def look(
        x: Annotated[int, Field(description="Of the field.")],
        y: Annotated[int, Field(description="Of the field.")],
        z: Annotated[int, Field(alias="depth")] = 0,
    ) -> list[int]:
        """Look.

        Args:
            y: Of the docstring.
        """
        return [x, y, z]

    properties = look.input_schema["properties"]
    assert properties["x"]["description"] == "Of the field."
    assert properties["y"]["description"] == "Of the docstring."
    assert properties.keys() == {"x", "y", "depth"}
    assert await call(look, x=1, y=2, depth=3) == [1, 2, 3]


async def test_arguments_are_converted_before_the_call() -> None:
    found = await call(weather, city="Paris", days="3", place={"city": "Lyon"})
    assert found == "Paris 3 C city='Lyon' country='France' None"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "`city` is missing"),
        ({"city": "Paris", "dayz": 1}, "`dayz` is unknown (did you mean `days`?)"),
        (
            {"city": "Paris", "days": "m"},
            "`days` is 'm' (input should be a valid integer, unable to parse string as an integer)",
        ),
        (
            {"city": "Paris", "days": 8},
            "`days` is 8 (input should be less than or equal to 7)",
        ),
        ({"city": "Paris", "unit": "K"}, "`unit` is 'K' (input should be 'C' or 'F')"),
        ({"city": "Paris", "place": {}}, "`place.city` is missing"),
        (
            {"city": 1, "country": 0},
            (
                "`city` is 1 (input should be a valid string); `country` is unknown (known: `city`,"
                " `days`, `names`, `place`, `unit`)"
            ),
        ),
    ],
)
async def test_a_mismatch_is_told_in_words(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidToolCallError) as caught:
        await weather.execute(arguments)
    assert str(caught.value) == f"the arguments of `weather` cannot be used: {problem}"


def unannotated(a: int, b) -> None: ...  # type: ignore[no-untyped-def]
def variadic(*many: int) -> None: ...
def named(**many: int) -> None: ...
def opaque(lock: threading.Thread) -> None: ...
def undefined(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821


class Shop:
    def __init__(self) -> None:
        self.sold: list[str] = []

    def buy(self, name: str) -> str:
        """Buy something."""
        self.sold.append(name)
        return f"{name} bought"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (unannotated, "parameter `b` of `unannotated` has no annotation; annotate it"),
        (variadic, "`variadic` takes `*many`, which has no schema; name each parameter"),
        (named, "`named` takes `**many`, which has no schema; name each parameter"),
        (undefined, "`undefined`: an annotation names `Missing`, which is not defined there"),
        (
            Shop.buy,
            (
                "parameter `self` of `buy` has no annotation; a method becomes a tool when it is"
                " bound: `tool(shop.buy)`"
            ),
        ),
        (5, "a tool is made of a function, not of a `int`"),
        (Shop, "a tool is made of a function, not of a `type`"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_where_it_is_made(function: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    assert str(caught.value) == message


def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="the arguments of `opaque` have no JSON schema: "):
        tool(opaque)


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 65, "<lambda>"])
def test_a_name_that_models_cannot_say_is_refused(name: str) -> None:
    function: Any = lambda: None
    function.__name__ = name
    with pytest.raises(ValueError, match="cannot be the name of a tool"):
        tool(function)
    assert tool(function, name="fine").name == "fine"


async def test_methods_callable_objects_and_partials_are_tools() -> None:
    shop = Shop()
    assert await call(tool(shop.buy), name="tea") == "tea bought"

    class Greeter:
        def __call__(self, name: str) -> str:
            return f"Hello {name}"

    assert await call(tool(Greeter()), name="you") == "Hello you"
    partial = functools.partial(shop.buy)
    assert await call(tool(partial, name="buy"), name="jam") == "jam bought"
    assert shop.sold == ["tea", "jam"]


def test_a_tool_is_still_the_function() -> None:
    @tool(name="sum")
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert add(2) == 3
    assert repr(add) == "<tool 'sum'>"
    assert tool(add, name="other").function is add.function


async def test_a_plain_function_runs_in_a_thread() -> None:
    @tool
    def where() -> int:
        return threading.get_ident()

    assert await call(where) != threading.get_ident()


async def test_local_classes_may_stand_in_annotations() -> None:
    @dataclass
    class Point:
        x: int

    @tool
    def norm(point: Point, box: Box, unit: Unit, day: date) -> list[Any]:
        return [point.x, box["width"], unit, day]

    found = await call(norm, point={"x": "1"}, box={"width": 2}, unit="F", day="2026-01-02")
    assert found == [1, 2, "F", "2026-01-02"]


@pytest.mark.parametrize(
    ("returned", "output"),
    [
        ("text", "text"),
        (None, None),
        (3, 3),
        ({"a": [1, Decimal("1.5")]}, {"a": [1, "1.5"]}),
        (Place(city="Paris"), {"city": "Paris", "country": "France"}),
        ([Unit.CELSIUS], ["C"]),
        (ToolResult(success=False, output="no"), "no"),
    ],
)
async def test_what_a_function_returns_is_the_output(returned: Any, output: Any) -> None:
    @tool
    def give() -> Any:
        return returned

    assert await call(give) == output


async def test_an_output_without_json_is_an_error_of_the_tool() -> None:
    @tool
    def give() -> object:
        return threading.Lock()

    with pytest.raises(TypeError, match="which has no JSON form; return text or JSON"):
        await give.execute({})


async def test_a_call_ends_at_its_time_limit() -> None:
    import anyio

    @tool(timeout=0.001)
    async def slow() -> None:
        await anyio.sleep_forever()

    with pytest.raises(TimeoutError, match=r"`slow` was ended after 0.001 s, its time limit"):
        await slow.execute({})


async def test_the_first_parameter_gets_the_context_of_the_call() -> None:
    @tool
    def key(context: ToolContext[Place], n: int) -> str:
        return f"{context.call_id} {context.key} {context.state.city} {n}"

    assert key.state_type is Place
    assert key.input_schema["required"] == ["n"]
    context: ToolContext[Any] = ToolContext("c1", "k1", None, Place(city="Paris"), print)
    token = CURRENT.set(context)
    try:
        assert await call(key, n=1) == "c1 k1 Paris 1"
    finally:
        CURRENT.reset(token)
    with pytest.raises(LookupError, match="no tool call runs here"):
        await call(key, n=1)


async def test_it_mounts_on_a_bare_coordinator() -> None:
    coordinator = ModuleCoordinator()
    await coordinator.mount("tools", weather)
    assert coordinator.get("tools", "weather") is weather


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(arguments=st.dictionaries(st.sampled_from(["city", "days", "unit", "x"]) | st.text(), JSON))
def test_arguments_are_read_or_refused_and_nothing_else(arguments: dict[str, Any]) -> None:
    @tool
    def take(city: str, days: int = 1, tags: Sequence[str] = ()) -> None: ...

    schema = take._schema
    try:
        positional, named = schema.read("take", arguments)
    except InvalidToolCallError:
        return
    assert positional == []
    assert named.keys() == arguments.keys()
    assert isinstance(named["city"], str)


@given(st.from_type(int), st.text(), st.lists(st.booleans()))
def test_what_fits_comes_through_unchanged(number: int, text: str, flags: list[bool]) -> None:
    @tool
    def take(number: int, text: str, flags: list[bool]) -> None: ...

    given_ = {"number": number, "text": text, "flags": flags}
    assert take._schema.read("take", given_) == ([], given_)
