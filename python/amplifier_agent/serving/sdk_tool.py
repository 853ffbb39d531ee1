"""A tool that was added to a server by the SDK, as one of the session that its calls run in."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InputRequiredResult, TextContent

from amplifier_core.models import ToolResult


@dataclass
class SdkCall:
    """A call of such a tool: its request, and what the protocol answers."""

    context: Context[Any, Any]
    result: CallToolResult | InputRequiredResult | None = None
    error: MCPError | None = None


SDK_CALL: ContextVar[SdkCall | None] = ContextVar("mcp_sdk_call", default=None)
"""The call that runs here."""


class SdkTool:
    """A tool of the SDK, which hooks judge as any other."""

    def __init__(self, tool: Tool, manager: ToolManager) -> None:
        """Run this tool of a server."""
        annotations = tool.annotations
        self.name = tool.name
        self.description = tool.description
        self.input_schema = tool.parameters
        self.read_only = annotations is not None and annotations.read_only_hint is True
        self.checks_arguments = True
        """The SDK compares them with the function."""
        self.has_output_schema = tool.output_schema is not None
        self._manager = manager

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run the tool; what the protocol answers is kept beside what hooks see of it.

        Raises:
            LookupError: No client has called it.
            MCPError: The tool refused the request.
            Exception: What the tool raised, in the form of the SDK.
        """
        call = SDK_CALL.get()
        if call is None:
            raise LookupError(f"`{self.name}` is a tool for clients of the server alone")
        try:
            returned = await self._manager.call_tool(
                self.name, input, call.context, convert_result=True
            )
        except MCPError as error:
            call.error = error
            raise
        call.result = returned if isinstance(returned, InputRequiredResult) else _complete(returned)
        shown = call.result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if isinstance(call.result, CallToolResult):
            shown["content"] = [_name_data(block) for block in shown.get("content", ())]
            return ToolResult(success=not call.result.is_error, output=shown)
        return ToolResult(output=shown)


def _complete(returned: Any) -> CallToolResult:
    if isinstance(returned, CallToolResult):
        return returned
    return CallToolResult(content=[TextContent(type="text", text=str(returned))])


def _name_data(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block for hooks: images and sounds are named, not included."""
    if isinstance(data := block.get("data"), str):
        return {**block, "data": f"{len(data) * 3 // 4:,} bytes"}
    return block
