"""The base class of tools that block: checked arguments, a thread, errors for the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event
from typing import Any, ClassVar, Generic, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, ValidationError

from amplifier_core.error_messages import short_repr
from amplifier_core.models import ToolResult
from amplifier_modules.tools.result_bytes import clip_bytes
from amplifier_providers.value_problems import describe_problem

INVALID = "invalid_arguments"
"""The `type` of the error of a call with other arguments than its tool takes."""


class Arguments(BaseModel):
    """The arguments of a tool; unknown names and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class InvalidArgumentsError(ValueError):
    """The arguments of a call are not what its tool takes."""


def check_arguments(model: type[ArgumentsT], input: object) -> ArgumentsT:
    """Return the arguments of a call.

    Raises:
        InvalidArgumentsError: What is wrong with them.
    """
    if not isinstance(input, dict):
        raise InvalidArgumentsError(f"the arguments are {short_repr(input)} (must be an object)")
    try:
        return model.model_validate(input)
    except ValidationError as error:
        details = error.errors(include_url=False)
    raise InvalidArgumentsError(
        "; ".join(describe_problem(model, detail, {}) for detail in details)
    )


def make_failure(message: str, kind: str, max_bytes: int) -> ToolResult:
    """Return the result of a call that failed."""
    message = clip_bytes(message, max_bytes)
    return ToolResult(success=False, error={"message": message, "type": kind})


class BlockingTool(ABC, Generic[ArgumentsT]):
    """A tool that does its work in a worker thread.

    A cancelled call returns at once; its thread is asked to stop and ends soon after.
    """

    name: ClassVar[str]
    """The name for the model."""
    description: ClassVar[str]
    """The description for the model."""
    read_only: ClassVar[bool] = False
    """Whether it changes nothing; loops read it."""

    def __init__(self, arguments: type[ArgumentsT], max_bytes: int) -> None:
        """Take these arguments, and return results of at most `max_bytes` bytes."""
        self._arguments = arguments
        self.max_bytes = max_bytes
        self.input_schema: dict[str, Any] = build_schema(arguments)

    @abstractmethod
    def run(self, arguments: ArgumentsT, stop: Event) -> dict[str, Any]:
        """Do the work in a worker thread and return the output.

        Args:
            arguments: The arguments of the call.
            stop: Set when the call was cancelled.

        Raises:
            OSError: A file cannot be read, or must not be.
            ValueError: An argument has the right type but an invalid value.
        """

    async def prepare_call(self, arguments: ArgumentsT) -> None:
        """Do what comes before the work, such as to ask a person.

        Raises:
            OSError, ValueError: The call must not run.
        """

    async def finish(self, output: dict[str, Any]) -> dict[str, Any]:
        """Emit the events of a call that succeeded, and return the output for the model."""
        return output

    def make_result(self, output: dict[str, Any]) -> ToolResult:
        """Return the result of a call that succeeded."""
        return ToolResult(output=output)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run the tool; errors of the input or the files are in the result."""
        try:
            arguments = check_arguments(self._arguments, input)
        except InvalidArgumentsError as error:
            return self._make_failure(str(error), INVALID)
        stop = Event()
        try:
            await self.prepare_call(arguments)
            output = await anyio.to_thread.run_sync(
                self.run, arguments, stop, abandon_on_cancel=True
            )
        except (OSError, ValueError) as error:
            return self._make_failure(str(error), type(error).__name__)
        finally:
            stop.set()
        return self.make_result(await self.finish(output))

    def _make_failure(self, message: str, kind: str) -> ToolResult:
        return make_failure(message, kind, self.max_bytes)


def build_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of the arguments without titles, which repeat the names."""
    schema = arguments.model_json_schema()
    definitions = schema.get("$defs", {})
    return {
        "type": "object",
        "properties": _describe_fields(schema, definitions),
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _describe_fields(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = schema.get("properties", {})
    return {name: _describe(field, definitions) for name, field in fields.items()}


def _describe(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field with what it refers to in its place."""
    described = {key: value for key, value in field.items() if key not in ("title", "$ref")}
    if "$ref" in field:
        described |= _describe(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in described:
        # It may be left out; a model writes no null.
        given = [each for each in described.pop("anyOf") if each != {"type": "null"}]
        described = {**given[0], **described}
        described.pop("default", None)
    if "properties" in described:
        described["properties"] = _describe_fields(described, definitions)
    if "items" in described:
        described["items"] = _describe(described["items"], definitions)
    return described
