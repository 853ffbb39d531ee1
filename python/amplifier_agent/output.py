"""An answer as an object: the final tool that a model can give it by, and how a text is read."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from amplifier_core._kernel.capability_names import TURN_RESPONSE_FORMAT
from amplifier_core.message_models import ResponseFormatJsonSchema
from amplifier_core.models import ToolResult

OutputT = TypeVar("OutputT")

STRUCTURED_OUTPUT = "structured_output"
"""The capability of a provider that honours the `response_format` of requests."""
_FENCED = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_KEY = "value"
"""Under which an output that is no object stands in the arguments of the final tool."""


class Output(Generic[OutputT]):
    """The type of an agent's answers."""

    def __init__(self, type_: type[OutputT]) -> None:
        """Make the JSON schema.

        Raises:
            TypeError: The type has none.
        """
        try:
            self._adapter: TypeAdapter[OutputT] = TypeAdapter(type_)
            self.schema: dict[str, Any] = self._adapter.json_schema()
        except Exception as error:
            name = getattr(type_, "__name__", type_)
            line = str(error).partition("\n")[0]
            raise TypeError(f"`output` is `{name}`, which has no JSON schema: {line}") from error

    def read(self, text: str) -> tuple[OutputT | None, str | None]:
        """Return the object of an answer, or what is wrong with it, in words for the model."""
        fenced = _FENCED.fullmatch(text)
        text = fenced[1] if fenced else text
        try:
            return self._adapter.validate_json(text), None
        except ValidationError as error:
            if self.schema.get("type") != "object":
                # A text, a word of a `Literal` or a date needs no quotation marks.
                with suppress(ValidationError):
                    return self._adapter.validate_strings(text.strip()), None
            problems = [
                f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
                for each in error.errors(include_url=False, include_input=False)
            ]
            return None, "; ".join(problems)

    async def offer(self, coordinator: Any) -> None:
        """Hold the models of a session to the schema, or give them a tool to answer by."""
        providers = cast("dict[str, Any]", coordinator.get("providers") or {})
        if providers and all(map(_is_native, providers.values())):
            form = ResponseFormatJsonSchema(json_schema=self.schema)
            coordinator.register_capability(TURN_RESPONSE_FORMAT, form)
        else:
            await coordinator.mount("tools", FinalTool(self.schema), name=FinalTool.name)

    def repair_prompt(self, problems: str) -> str:
        """Return what the model is told about an answer that does not fit."""
        return (
            f"The answer does not fit the schema of `{FinalTool.name}`: {problems}. "
            "Answer again, with JSON that fits and nothing else."
        )


def _is_native(provider: Any) -> bool:
    """Whether a provider can hold its model to a schema."""
    return STRUCTURED_OUTPUT in provider.get_info().capabilities


class FinalTool:
    """Takes the answer of a turn, and ends it."""

    name = "final_answer"
    description = "Give the final answer. Call this once, when all else is done."
    is_loop_breaking = True
    checks_arguments = True  # what does not fit is told in a round of its own

    def __init__(self, schema: dict[str, Any]) -> None:
        """Take answers of this schema."""
        self._is_object = schema.get("type") == "object"
        self.input_schema = schema if self._is_object else _wrapped(schema)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return the answer as it is."""
        return ToolResult(output=input if self._is_object else input.get(_KEY))


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {
        "type": "object",
        "properties": {_KEY: inner},
        "required": [_KEY],
        "additionalProperties": False,
        **definitions,
    }
