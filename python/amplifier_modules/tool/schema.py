"""The arguments of a tool that is a Python function: their JSON schema, and how they are read."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, cast, get_args, get_origin, get_type_hints

from docstring_parser import parse
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from amplifier_core.error_messages import short_repr
from amplifier_core.llm_errors import ConfigurationError, InvalidToolCallError
from amplifier_core.suggest import suggest_or_list

from .context import ToolContext

_Parameter = inspect.Parameter
_VARIADIC = {_Parameter.VAR_POSITIONAL: "*", _Parameter.VAR_KEYWORD: "**"}


class MisplacedContextError(ConfigurationError, TypeError):
    """A function takes its `ToolContext` as another parameter than the first."""


class ToolSchema:
    """What a function takes, as its annotations and its docstring say it."""

    def __init__(
        self, function: Callable[..., Any], names: Mapping[str, Any] | None = None
    ) -> None:
        """Read the signature.

        Args:
            function: Any callable with annotated parameters.
            names: Local names that annotations may use besides those of the function's module.

        Raises:
            TypeError: A parameter has no annotation, or one that has no JSON schema.
            MisplacedContextError: A parameter that is not the first is a `ToolContext`.
        """
        name = getattr(function, "__name__", type(function).__name__)
        signature = inspect.signature(function)
        annotations = _read_annotations(function, name, names)
        docs = parse(inspect.getdoc(function) or "")
        self.description = (docs.description or "").strip()
        """The docstring without the part about its arguments."""
        self.context: Any = None
        """The annotation of the first parameter if it takes the `ToolContext`, else None."""
        self._parameters: list[inspect.Parameter] = []
        fields: dict[str, Any] = {}
        described = {each.arg_name: each.description for each in docs.params}
        for position, parameter in enumerate(signature.parameters.values()):
            annotation = _read_annotation(name, parameter, annotations)
            if position == 0 and _is_context(annotation):
                self.context = annotation
                continue
            if any(map(_is_context, (annotation, *get_args(annotation)))):
                raise MisplacedContextError(
                    f"`{parameter.name}` of `{name}` is a `ToolContext` (must be the first"
                    f" parameter: `def {name}({parameter.name}: ToolContext, …)`)"
                )
            self._parameters.append(parameter)
            field = annotation
            if (text := described.get(parameter.name)) is not None:
                field = Annotated[annotation, Field(description=text)]
            has_default = parameter.default is not _Parameter.empty
            fields[parameter.name] = NotRequired[field] if has_default else field
        self._adapter = _make_adapter(name, fields)
        self.json = self._json_schema()
        """The JSON schema of the arguments."""

    def read(self, tool: str, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments, checked and converted.

        Raises:
            InvalidToolCallError: They do not fit; the text says why, for the model.
        """
        try:
            values = self._adapter.validate_python(dict(given))
        except ValidationError as error:
            problems = "; ".join(
                self._describe_problem(each) for each in error.errors(include_url=False)
            )
        else:
            return self._split(values)
        message = f"the arguments of `{tool}` cannot be used: {problems}"
        raise InvalidToolCallError(message, tool_name=tool)

    def _split(self, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        for parameter in self._parameters:
            if parameter.kind is not _Parameter.POSITIONAL_ONLY:
                break
            positional.append(values.pop(parameter.name, parameter.default))
        return positional, values

    def _json_schema(self) -> dict[str, Any]:
        schema = self._adapter.json_schema()
        schema.pop("title", None)
        for parameter in self._parameters:
            entry: dict[str, Any] | None = schema["properties"].get(parameter.name)
            if entry is None:
                continue  # the model knows it by an alias
            entry.pop("title", None)
            if parameter.default is not _Parameter.empty:
                try:
                    entry["default"] = to_jsonable_python(parameter.default)
                except PydanticSerializationError:
                    continue  # a default that only Python knows is no part of the schema
        return schema

    def _describe_problem(self, detail: Any) -> str:
        *_, last = detail["loc"] or ("",)
        place = ".".join(map(str, detail["loc"]))
        if detail["type"] == "missing":
            return f"`{place}` is missing"
        if detail["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
            known = [each.name for each in self._parameters] if len(detail["loc"]) == 1 else []
            return f"`{place}` is unknown{suggest_or_list(str(last), known) if known else ''}"
        message = str(detail["msg"])
        found = detail["input"]
        is_shown = found is None or isinstance(found, str | int | float)
        what = short_repr(found) if is_shown else f"of type `{type(found).__name__}`"
        return f"`{place}` is {what} ({message[:1].lower()}{message[1:]})"


def state_type(annotation: Any) -> type | UnionType | None:
    """Return `State` of `ToolContext[State]`, a class or several; None if it cannot be checked."""
    arguments: tuple[Any, ...] = getattr(annotation, "__args__", ())
    classes = _list_classes(arguments[0]) if arguments else []
    found: Any = None
    for each in classes:
        found = each if found is None else found | each
    return found


def _list_classes(named: Any) -> list[type]:
    if named is None:
        return [type(None)]
    origin = get_origin(named)
    if origin in {Union, UnionType}:
        members = [_list_classes(each) for each in get_args(named)]
        return [each for member in members for each in member] if all(members) else []
    if origin is Annotated:
        return _list_classes(get_args(named)[0])
    try:
        isinstance(None, origin or named)
    except TypeError:  # `Any`, a `TypedDict`, a protocol without `runtime_checkable`
        return []
    return [origin or named]


def _read_annotations(
    function: Callable[..., Any], name: str, names: Mapping[str, Any] | None
) -> dict[str, Any]:
    home: Any = function
    while isinstance(home, functools.partial):
        home = cast("Any", home).func
    if not inspect.isroutine(home):
        home = type(home).__call__
    try:
        return get_type_hints(home, localns=dict(names or {}), include_extras=True)
    except NameError as error:
        message = f"`{name}`: an annotation names `{error.name}`, which is not defined there"
        raise TypeError(message) from error


def _read_annotation(
    name: str, parameter: inspect.Parameter, annotations: Mapping[str, Any]
) -> Any:
    if star := _VARIADIC.get(parameter.kind):
        raise TypeError(
            f"`{name}` takes `{star}{parameter.name}`, which has no schema; name each parameter"
        )
    if parameter.name not in annotations:
        advice = "annotate it"
        if parameter.name in {"self", "cls"}:
            advice = "a method becomes a tool when it is bound: `tool(shop.buy)`"
        raise TypeError(f"parameter `{parameter.name}` of `{name}` has no annotation; {advice}")
    return annotations[parameter.name]


def _is_context(annotation: Any) -> bool:
    return (get_origin(annotation) or annotation) is ToolContext


def _make_adapter(name: str, fields: dict[str, Any]) -> TypeAdapter[dict[str, Any]]:
    arguments: Any = TypedDict("Arguments", fields)  # type: ignore[misc] # made at run time
    # Only what a parameter names is passed on.
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True)
    try:
        adapter = TypeAdapter[dict[str, Any]](arguments)
        json.dumps(adapter.json_schema())
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        line = str(error).partition("\n")[0].partition(". ")[0]
        raise TypeError(f"the arguments of `{name}` have no JSON schema: {line}") from error
    return adapter
