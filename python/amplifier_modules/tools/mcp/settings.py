"""The settings of `tool-mcp`: the servers of a session, and how far they are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from amplifier_modules.sandbox.network_setting import read_network
from amplifier_modules.tools.result_bytes import MIN_RESULT_BYTES
from amplifier_providers.settings import OptionalText, Settings
from amplifier_providers.value_problems import Form

MAX_RESULT_BYTES = 128 * 1024
"""Bytes of a result unless the settings say otherwise."""


class ServerSettings(Settings):
    """One server, in the form of `mcpServers` that all hosts read."""

    # Entries are copied from the pages of servers, with keys of other hosts; each is a warning.
    model_config = ConfigDict(extra="allow")

    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    """How it is spoken to; without it, by `command` or `url`."""
    command: OptionalText = None
    """The program that is the server, for one that is started here."""
    args: tuple[str, ...] = Field(default=(), strict=False)
    """Its arguments."""
    env: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    """Variables that it gets in addition to those that every program needs."""
    cwd: OptionalText = None
    """Folder that it runs in, from the session's working directory."""
    url: OptionalText = None
    """The address of a server that runs elsewhere."""
    headers: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    """Headers of each request to the address."""
    disabled: bool = False
    """Whether it is left out."""

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either a `command` or a `url`")
        if self.type is not None and (self.type == "stdio") != (self.command is not None):
            raise ValueError(f"`type` is `{self.type}`, which does not go with the rest")
        return self


class McpSettings(Settings):
    """The servers, how long they are waited for, and what of their results the model gets."""

    unknown_keys = "warn"

    servers: dict[str, ServerSettings] = Field(default_factory=dict[str, ServerSettings])
    """Servers by name, in the form of `mcpServers`; `${VAR}` and `${VAR:-default}` are replaced."""
    server_files: Annotated[
        tuple[Annotated[Path, Field(strict=False)], ...],
        Field(strict=False),
        Form("a list of paths of files"),
    ] = ()
    """Files of the user with more of them, under their key `mcpServers`; of two servers of one name the later file's counts, and one of `servers` before all."""
    project_servers: bool = False
    """Whether those in the file `.mcp.json` of the working folder count, once the user agreed to each."""
    state_folder: Annotated[Path | None, Field(strict=False), Form("the path of a folder")] = None
    """Where it is remembered which servers of projects the user agreed to; without it, none of them is connected."""
    network: Annotated[
        Literal["off"] | tuple[str, ...],
        BeforeValidator(read_network),
        Form("`off` or a list of host names"),
    ] = ()
    """Hosts that servers of a project reach which run in the sandbox."""
    first_wait: float = Field(default=10.0, ge=0, le=600)
    """Seconds that a single turn waits for servers whose tools are not known yet; a conversation waits for none."""
    start_timeout: float = Field(default=60.0, gt=0, le=600)
    """Seconds that a server has to start and to list its tools."""
    call_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds without progress after which a call is given up; the time of questions does not count."""
    max_result_bytes: int = Field(default=MAX_RESULT_BYTES, ge=MIN_RESULT_BYTES, le=2**20)
    """Bytes of the text of a result, at most; the rest is put aside, where the model can read it."""
    redact: Literal["known", "all", "off"] = "known"
    """Secrets that are removed from results: keys that are `known`, `all` that looks like one too, or none."""
    private_addresses: bool = False
    """Whether servers are reached at addresses of a private network, besides this machine."""
