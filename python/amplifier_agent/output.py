"""How the models of a session give an answer as an object."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from amplifier_core.message_models import ResponseFormatJsonSchema
from amplifier_core.models import ToolResult
from amplifier_core.session_capabilities import TURN_RESPONSE_FORMAT
from amplifier_providers.answers.output_type import (
    ANSWER_DESCRIPTION,
    ANSWER_TOOL,
    OutputType,
    is_native,
)

OutputT = TypeVar("OutputT")


class Output(OutputType[OutputT]):
    """The type of an agent's answers."""

    async def offer(self, coordinator: Any) -> None:
        """Hold the models of a session to the schema, or give them a tool to answer by."""
        providers = cast("dict[str, Any]", coordinator.get("providers") or {})
        if providers and all(map(is_native, providers.values())):
            form = ResponseFormatJsonSchema(json_schema=self.schema)
            coordinator.register_capability(TURN_RESPONSE_FORMAT, form)
        else:
            await coordinator.mount("tools", FinalTool(self), name=FinalTool.name)


class FinalTool:
    """Takes the answer of a turn, and ends it."""

    name = ANSWER_TOOL
    description = ANSWER_DESCRIPTION
    is_loop_breaking = True
    checks_arguments = True  # what does not fit takes a round of its own

    def __init__(self, output: OutputType[Any]) -> None:
        """Take answers of this type."""
        self._output = output
        self.input_schema = output.tool_schema

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return the answer as it is."""
        return ToolResult(output=self._output.answer_in(input))
