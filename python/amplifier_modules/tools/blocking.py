"""A tool whose work blocks: arguments checked, done in a thread, failures told to the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event
from typing import Any, ClassVar, Generic, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, ValidationError

from amplifier_core._kernel.shown import shown
from amplifier_core.models import ToolResult
from amplifier_modules.value_problems import problem

_INVALID = "invalid_arguments"


class Arguments(BaseModel):
    """The arguments of a tool: nothing unknown, nothing of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class BlockingTool(ABC, Generic[ArgumentsT]):
    """A tool that does its work in a worker thread.

    A cancelled call returns at once; its thread is told to stop and ends soon after.
    """

    name: ClassVar[str]
    """What the model calls it."""
    description: ClassVar[str]
    """What the model is told about it."""

    def __init__(self, arguments: type[ArgumentsT]) -> None:
        self._arguments = arguments
        self.input_schema: dict[str, Any] = _schema(arguments)

    @abstractmethod
    def run(self, arguments: ArgumentsT, stop: Event) -> dict[str, Any]:
        """Do the work, in a worker thread, and give the output.

        Args:
            arguments: What the model asked for.
            stop: Set when nobody waits any more.

        Raises:
            OSError: A file could not be read, or may not be.
            ValueError: An argument has the right type and no meaning.
        """

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run the tool; what is wrong with the input or the files is told in the result."""
        if not isinstance(input, dict):  # pyright: ignore[reportUnnecessaryIsInstance] -- a model wrote it
            return _failure(f"the arguments are {shown(input)} (must be an object)", _INVALID)
        try:
            arguments = self._arguments.model_validate(input)
        except ValidationError as error:
            details = error.errors(include_url=False)
            problems = (problem(self._arguments, detail, {}) for detail in details)
            return _failure("; ".join(problems), _INVALID)
        stop = Event()
        try:
            output = await anyio.to_thread.run_sync(
                self.run, arguments, stop, abandon_on_cancel=True
            )
        except (OSError, ValueError) as error:
            return _failure(str(error), type(error).__name__)
        finally:
            stop.set()
        return ToolResult(output=output)


def _failure(message: str, kind: str) -> ToolResult:
    return ToolResult(success=False, error={"message": message, "type": kind})


def _schema(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of the arguments, without the titles, which repeat the names."""
    schema = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in schema.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
