"""An answer as an object: its schema, the tool that a model can give it by, and how a text is read."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

OutputT = TypeVar("OutputT")

STRUCTURED_OUTPUT = "structured_output"
"""The capability of a provider that honours the `response_format` of requests."""
ANSWER_TOOL = "final_answer"
"""The tool by which other models give their answer."""
ANSWER_DESCRIPTION = "Give the final answer. Call this once, when all else is done."
_FENCED = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_KEY = "value"
"""Under which an output that is no object stands in the arguments of the tool."""


class OutputType(Generic[OutputT]):
    """The type of an answer."""

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

    @property
    def is_object(self) -> bool:
        """Whether the answer is a JSON object."""
        return self.schema.get("type") == "object"

    @property
    def tool_schema(self) -> dict[str, Any]:
        """The schema of the arguments of the tool that takes the answer."""
        return self.schema if self.is_object else _wrap_schema(self.schema)

    def answer_in(self, arguments: dict[str, Any]) -> Any:
        """Return the answer that is in the arguments of the tool, as JSON has it."""
        return arguments if self.is_object else arguments.get(_KEY)

    def read(self, text: str) -> tuple[OutputT | None, str | None]:
        """Return the object of an answer, or what is wrong with it, in words for the model."""
        fenced = _FENCED.fullmatch(text)
        text = fenced[1] if fenced else text
        try:
            return self._adapter.validate_json(text), None
        except ValidationError as error:
            if not self.is_object:
                # A text, a word of a `Literal` or a date needs no quotation marks.
                with suppress(ValidationError):
                    return self._adapter.validate_strings(text.strip()), None
            problems = [
                f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
                for each in error.errors(include_url=False, include_input=False)
            ]
            return None, "; ".join(problems)

    def repair_prompt(self, problems: str) -> str:
        """Return what the model reads about an answer that does not fit."""
        return (
            f"The answer does not fit the schema of `{ANSWER_TOOL}`: {problems}. "
            "Answer again, with JSON that fits and nothing else."
        )


def is_native(provider: Any) -> bool:
    """Whether a provider can hold its model to a schema."""
    return STRUCTURED_OUTPUT in provider.get_info().capabilities


def _wrap_schema(schema: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {
        "type": "object",
        "properties": {_KEY: inner},
        "required": [_KEY],
        "additionalProperties": False,
        **definitions,
    }
