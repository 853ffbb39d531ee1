"""The Rust engine behind `amplifier_core`."""

import builtins
import sys
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from io import BufferedReader
from os import PathLike
from threading import Event
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, final

from amplifier_core._kernel.error_words import classify_error_message as classify_error_message
from amplifier_core._loading.resolve import resolve_module as resolve_module
from amplifier_core._models.tool_content_json import (
    _normalize_tool_result_content as _normalize_tool_result_content,
)
from amplifier_core._models.tool_content_json import (
    _tool_result_safe_hook_presentation as _tool_result_safe_hook_presentation,
)
from amplifier_core._provider_error import ProviderError as ProviderError
from amplifier_core._retry_config import RetryConfig as RetryConfig
from amplifier_core._retry_config import compute_delay as compute_delay
from amplifier_core.message_models import Degradation, Message, ToolCallBlock
from amplifier_core.models import HookResult
from amplifier_guard.claude import ClaudeMessage, ToolResultBlock, ToolUseBlock
from amplifier_guard.error_context import ErrorContext
from amplifier_guard.error_handler import GiveUp, Retry
from amplifier_guard.error_kind import ErrorKind
from amplifier_guard.finding import Finding, OnFinding
from amplifier_guard.limits import Limits
from amplifier_guard.processor import CanBeEmpty, ContentStatistics
from amplifier_guard.rate import Rate

_StrPath: TypeAlias = str | PathLike[str]

__version__: Final[str]
RUST_AVAILABLE: Final[bool]

SESSION_START: Final[str]
SESSION_END: Final[str]
SESSION_FORK: Final[str]
SESSION_RESUME: Final[str]
PROMPT_SUBMIT: Final[str]
PROMPT_COMPLETE: Final[str]
PLAN_START: Final[str]
PLAN_END: Final[str]
PROVIDER_REQUEST: Final[str]
PROVIDER_RESPONSE: Final[str]
PROVIDER_RETRY: Final[str]
PROVIDER_ERROR: Final[str]
PROVIDER_THROTTLE: Final[str]
PROVIDER_TOOL_SEQUENCE_REPAIRED: Final[str]
PROVIDER_RESOLVE: Final[str]
LLM_REQUEST: Final[str]
LLM_RESPONSE: Final[str]
CONTENT_BLOCK_START: Final[str]
CONTENT_BLOCK_DELTA: Final[str]
CONTENT_BLOCK_END: Final[str]
THINKING_DELTA: Final[str]
THINKING_FINAL: Final[str]
TOOL_PRE: Final[str]
TOOL_POST: Final[str]
TOOL_ERROR: Final[str]
CONTEXT_PRE_COMPACT: Final[str]
CONTEXT_POST_COMPACT: Final[str]
CONTEXT_COMPACTION: Final[str]
CONTEXT_INCLUDE: Final[str]
ORCHESTRATOR_COMPLETE: Final[str]
EXECUTION_START: Final[str]
EXECUTION_END: Final[str]
USER_NOTIFICATION: Final[str]
ARTIFACT_WRITE: Final[str]
ARTIFACT_READ: Final[str]
POLICY_VIOLATION: Final[str]
APPROVAL_REQUIRED: Final[str]
APPROVAL_GRANTED: Final[str]
APPROVAL_DENIED: Final[str]
CANCEL_REQUESTED: Final[str]
CANCEL_COMPLETED: Final[str]
MODULE_ON_SESSION_READY_FAILED: Final[str]
MODULE_LOAD_FAILED: Final[str]
TURN_START: Final[str]
TURN_END: Final[str]
LLM_PRE: Final[str]
LLM_POST: Final[str]
ALL_EVENTS: Final[list[str]]

TOOLS: Final[str]
STREAMING: Final[str]
THINKING: Final[str]
VISION: Final[str]
JSON_MODE: Final[str]
FAST: Final[str]
CODE_EXECUTION: Final[str]
WEB_SEARCH: Final[str]
DEEP_RESEARCH: Final[str]
LOCAL: Final[str]
AUDIO: Final[str]
IMAGE_GENERATION: Final[str]
COMPUTER_USE: Final[str]
EMBEDDINGS: Final[str]
LONG_CONTEXT: Final[str]
BATCH: Final[str]
ALL_WELL_KNOWN_CAPABILITIES: Final[list[str]]

class ErrorHandler:
    """Decides on retries, and counts errors by type; safe to share between threads.

    The waits are those of the kernel's `compute_delay`: exponential, limited, with jitter, and at
    least as long as the server asks for, unless that is negative or more than a day. No wait is
    longer than a day.

    Args:
        max_retries: Maximum number of calls after the first one.
        initial_delay: Seconds before the first retry.
        backoff_factor: Factor from one wait to the next.
        max_delay: Most seconds of a wait, before an error's `delay_multiplier` and `retry_after`.
        jitter: Share of a wait, from 0 to 1, by which it is randomly longer or shorter; 0.5 is
            the kernel's spread.
        budget: Seconds after the first call beyond which no retry begins; None for no limit.
        max_types: Most types of errors that are counted.
        forget_after: Seconds after which a type is forgotten unless it occurs again.
        clock: Returns the time in seconds; it must not run backwards. None for `world.monotonic`.
        random: Returns a number from 0 to 1; None for `world.random`.

    Raises:
        ValueError: A setting is out of range.
    """

    def __new__(
        cls,
        *,
        max_retries: int = 3,
        initial_delay: float = 0.5,
        backoff_factor: float = 2.0,
        max_delay: float = 30.0,
        jitter: float = 0.1,
        budget: float | None = None,
        max_types: int = 100,
        forget_after: float = 300.0,
        clock: Callable[[], float] | None = None,
        random: Callable[[], float] | None = None,
    ) -> Self: ...
    @property
    def budget(self) -> float | None:
        """Seconds after the first call beyond which no retry begins."""
    def handle(
        self, error: BaseException, context: ErrorContext, *, elapsed: float = 0.0
    ) -> Retry | GiveUp:
        """Decide whether to retry after a failure.

        Args:
            error: What was raised; its `retryable`, `retry_after`, `delay_multiplier` and
                `status_code` are used if present.
            context: What was being done; its `retry_count` is used.
            elapsed: Seconds since the first call of the operation.
        """
    def frequency(self) -> dict[str, int]:
        """Return how often each type of error occurred recently, the latest type last."""

class CircuitBreaker:
    """Refuses calls to a service that failed several times in a row; safe to share.

    After `recovery` seconds it lets one trial call through: if that succeeds it closes, if that
    fails it stays open for as long again. Calls that began before it last changed its state do not
    count.

    Args:
        failures: Failures in a row that open it.
        recovery: Seconds until the trial; a trial without a result is given up after as long.
        clock: Returns the time in seconds; a time before the latest one counts as the latest. None
            for `world.monotonic`.

    Raises:
        ValueError: A setting is out of range.
    """

    def __new__(
        cls,
        *,
        failures: int = 5,
        recovery: float = 60.0,
        clock: Callable[[], float] | None = None,
    ) -> Self: ...
    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """`closed` lets calls through, `open` refuses them, `half_open` waits for the trial."""
    def wait(self) -> float:
        """Return the seconds until the next call is allowed, 0 for now."""
    def admit(self) -> int:
        """Ask for permission to make a call, and return the permit.

        Raises:
            CircuitOpen: The circuit is open, or a trial is under way.
        """
    def succeeded(self, permit: int) -> None:
        """Report that the call succeeded, which closes the breaker."""
    def failed(self, permit: int) -> None:
        """Report that the call failed, which counts or, in a trial, opens the breaker again."""
    def abandoned(self, permit: int) -> None:
        """Report that the call ended in a way that says nothing about the service."""

class ToolInputPolicy:
    """Decides which arguments tools run with, by the tools' own JSON schemas; safe to share.

    Args:
        max_depth: Most levels of arguments.
        max_bytes: Most bytes of arguments as JSON.
        max_tools: Most tools.

    Raises:
        ValueError: A setting is out of range.
    """

    def __new__(
        cls, *, max_depth: int = 128, max_bytes: int = 10_000_000, max_tools: int = 1_000
    ) -> Self: ...
    @property
    def tools(self) -> list[str]:
        """The names of the tools that are known, sorted."""
    def set_schema(self, tool: str, schema: Mapping[str, Any]) -> bool:
        """Take the JSON schema of a tool's arguments; return whether it is another one than before.

        Raises:
            ToolSchemaDenied: The schema is invalid, too large, or has references outside itself;
                or there are too many tools.
        """
    def remove(self, tool: str) -> bool:
        """Forget a tool; return whether it was known."""
    def check(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Check arguments that were read before.

        Raises:
            ToolInputDenied: The tool is unknown, or its arguments are not those that it takes.
        """
    def check_json(self, tool: str, text: str | bytes) -> dict[str, Any]:
        """Read arguments as a model wrote them, strictly, and check them.

        Raises:
            ToolInputDenied: The text is not JSON, the tool is unknown, or its arguments are not those
                that it takes.
        """

class MessageProcessor:
    """Checks messages, in the Claude dialect and in the kernel's; safe to share.

    A message must have one of the dialect's roles, at least one block and not more than the limits
    allow; tool calls must have names and ids of visible characters, and unique ids. Texts are never
    changed: suspicious parts are reported as `Finding`s. If thinking mode is off, thinking blocks are
    left out, each reported in a `Degradation`.

    Characters are Unicode code points, counted over all texts of a message: text, code, thinking and
    tool results, and the strings and keys in the data of tool calls, tables, charts and blocks of
    unknown types. Images and signatures do not count.

    Args:
        limits: None for the defaults; `Limits.load()` reads the environment.
        findings: What to do about suspicious parts.
        allow_empty: What may be empty; models write empty thinking blocks and tool results.

    Raises:
        ValueError: A setting has an unknown value.
    """

    def __new__(
        cls,
        limits: Limits | None = None,
        *,
        findings: OnFinding = "report",
        allow_empty: Collection[CanBeEmpty] = ("thinking", "tool_result"),
    ) -> Self: ...
    @property
    def limits(self) -> Limits:
        """The limits that it applies."""
    def process_user_message(self, text: str) -> ProcessedMessage:
        """Turn a text into a message of the user.

        Raises:
            MessageRejected: The text is empty, too long, or suspicious where that is refused.
        """
    def migrate(self, text: str, role: str = "user") -> ProcessedMessage:
        """Turn a legacy text message into a message of blocks; see `migrate_text`.

        Raises:
            MessageRejected: The text is empty, too long, or suspicious where that is refused.
        """
    def process(
        self,
        message: ClaudeMessage | Mapping[str, Any] | ProcessedMessage,
        *,
        calls: Iterable[str] | None = None,
    ) -> ProcessedMessage:
        """Check a message of the Claude dialect; a processed message is returned unchanged.

        Args:
            message: The message; a content that is a string becomes a block.
            calls: The ids of the open tool calls. If given, each result must belong to one of them
                or to an earlier call in the message, and each call has at most one result.

        Raises:
            MessageRejected: The message is refused.
        """
    def process_json(
        self, text: str | bytes, *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Read a message of the Claude dialect from JSON, and check it as `process` does.

        Raises:
            MessageRejected: The message is refused.
        """
    def process_kernel(
        self, message: Message | Mapping[str, Any], *, calls: Iterable[str] | None = None
    ) -> ProcessedMessage:
        """Check a message of the kernel as `process` does one of the dialect.

        Raises:
            MessageRejected: The message is refused.
        """
    def validate_tool_use(self, call: ToolUseBlock | ToolCallBlock, tools: ToolInputPolicy) -> None:
        """Check a tool call before it runs: its name, its id, and its arguments.

        Raises:
            NameDenied: Its name or id cannot be used.
            ToolInputDenied: The tool is unknown, or its arguments are not those that it takes.
        """

@final
class ProcessedMessage:
    """A checked message. Only a `MessageProcessor` creates one, and it is not checked again.

    `message`, `statistics` and `findings` are computed when first read, and cached; with `"ask"` and
    `"reject"` the findings are computed at once.

    Raises:
        TypeError: It was not created by a processor.
    """

    def __new__(cls, *args: object, **kwargs: object) -> Self: ...
    @property
    def message(self) -> ClaudeMessage | Message:
        """The message, as a `Message` of the kernel if it came as one."""
    @property
    def role(self) -> str:
        """The role of the message."""
    @property
    def findings(self) -> tuple[Finding, ...]:
        """The suspicious parts; at most 1,000."""
    @property
    def needs_approval(self) -> bool:
        """Whether a person must approve it before it is used."""
    @property
    def statistics(self) -> ContentStatistics:
        """The number of its blocks, characters and bytes."""
    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """What was left out: thinking blocks, if thinking mode is off."""
    def to_json(self) -> str:
        """Return the message as JSON."""
    def validate_tool_uses(self, tools: ToolInputPolicy) -> None:
        """Check the arguments of each tool call against the schema of its tool, without a copy.

        Raises:
            ToolInputDenied: A tool is unknown, or its arguments are not those that it takes.
        """

def resolve_limits(
    code: dict[str, Any], configuration: dict[str, Any], environment: dict[str, str]
) -> dict[str, Any]:
    """Return the limits that code, configuration and environment say, by their names.

    Raises:
        LimitError: A value is invalid, or a name is unknown.
    """

def check_tool_name(name: str, max_chars: int = 100) -> None:
    """Refuse the name of a tool that could be taken for another one, by its characters.

    Raises:
        NameDenied: It is empty, too long, or has a character that could be mistaken.
    """

class RateLimiter:
    """Counts calls by user, tool and provider in token buckets; safe to share.

    The arithmetic is exact. The number of names is bounded: when there is no room, a name whose
    bucket is full is forgotten, which loses nothing; while there is none, new names have to wait.

    Args:
        user: Rate of each user; None for no limit.
        tool: Rate of each tool.
        provider: Rate of each provider.
        max_names: Most names that are counted at a time, at least 3.
        clock: Returns the time in seconds; a time before the latest one counts as the latest. None
            for `world.monotonic`.

    Raises:
        ValueError: A setting is out of range.
    """

    def __new__(
        cls,
        *,
        user: Rate | None = None,
        tool: Rate | None = None,
        provider: Rate | None = None,
        max_names: int = 10_000,
        clock: Callable[[], float] | None = None,
    ) -> Self: ...
    def take(
        self, *, user: str | None = None, tool: str | None = None, provider: str | None = None
    ) -> None:
        """Count one call for each name that is given, or for none of them.

        Raises:
            RateLimited: It would exceed the rate of one of them.
            ValueError: A name is longer than 1024 bytes.
        """
    @property
    def names(self) -> int:
        """Number of names that are currently counted."""

def claude_to_kernel(message: bytes) -> str:
    """Return the kernel's message that a message of the dialect is."""

def claude_from_kernel(message: bytes) -> tuple[str, str]:
    """Return the message of the dialect that a kernel's message is, and a list of its degradations."""

def migrate_text(text: str, role: str = "user") -> ClaudeMessage:
    """Convert a legacy text to a message; an unknown role becomes `user`."""

def migrate_tool_response(
    text: str,
    tool_use_id: str | None = None,
    *,
    randbits: Callable[[int], int] | None = None,
) -> ToolResultBlock:
    """Convert a legacy tool response such as `Tool result: file contents` to a tool result.

    Args:
        text: The response; without this prefix, the whole text is the content.
        tool_use_id: The id of the call; None creates one.
        randbits: Returns the random bits of that id; None for bits of `amplifier_core.world`.
    """

def new_tool_use_id(*, randbits: Callable[[int], int] | None = None) -> str:
    """Create an id for a tool call: `toolu_` and eight hexadecimal digits.

    Args:
        randbits: Returns as many random bits as it is asked for; None for bits of `amplifier_core.world`.
    """

def _round_trip_error_context(json: bytes) -> str:
    """Read a JSON text as an error context and return the JSON that it writes."""

def error_context_limits() -> tuple[int, int]:
    """Return the most past operations and the most retries of an error context."""

def enter_error_context(json: bytes, operation: str, at: str) -> str:
    """Return the JSON of an error context after it went on to another operation."""

def retry_error_context(json: bytes, kind: str, at: str) -> str:
    """Return the JSON of an error context after its operation failed and is tried again."""

def describe_error_context(json: bytes) -> str:
    """Return the one line that describes an error context, which comes as JSON."""

def error_kinds() -> list[tuple[str, bool]]:
    """Return each kind of failure and whether the same call may succeed later."""

def error_kind(error: BaseException) -> ErrorKind:
    """Return the kind of an exception.

    The most specific known class decides: those of `llm_errors`, of the standard library and of HTTP
    clients. If none is known, the HTTP status decides, found as `status_code` on the exception or
    its `response`.
    """

@final
class PathPolicy:
    """Keeps every read inside one directory, the root.

    Paths count from the root; an absolute path is taken if it lies inside. A link is followed as
    long as it stays inside. Whatever leads out raises `PathDenied`.
    """

    def __new__(cls, root: _StrPath) -> Self: ...
    @property
    def root(self) -> str:
        """The canonical path of the root."""
    def with_secrets(self) -> Self:
        """Return a policy of the same root that also reads files that hold secrets: a person agreed."""
    def readable(self, path: _StrPath) -> str:
        """Return where `path` leads, relative to the root, if it may be read, and open nothing.

        Names of files that hold secrets, such as `.env`, raise `PathProtected`.
        """
    def resolve(self, path: _StrPath) -> str:
        """Return the canonical path of something that exists, relative to the root."""
    def open(self, path: _StrPath) -> BufferedReader:
        """Open a regular file for reading bytes."""
    def read(self, path: _StrPath, limit: int) -> bytes:
        """Return the first `limit` bytes of a regular file."""
    def writable(self, path: _StrPath, *, protected: bool = False) -> str:
        """Return where a write to `path` would land, relative to the root, and change nothing.

        Names that decide what runs raise `PathProtected` unless `protected`: a person agreed.
        """
    def write(self, path: _StrPath, content: bytes, *, protected: bool = False) -> str:
        """Write a new or existing file, make missing folders, and return where it landed."""
    def create(self, path: _StrPath, content: bytes, *, protected: bool = False) -> str:
        """Make a new file whole, make missing folders, and return where it landed.

        `PathChanged` is raised if a file is there.
        """
    def replace(
        self,
        path: _StrPath,
        content: bytes,
        *,
        expected: bytes | None = None,
        protected: bool = False,
    ) -> str:
        """Put a file with `content` in the place of another one, or where none is, at once.

        Whoever reads it, and whoever comes after a crash, finds the old file or the new one. Owner,
        group, mode, extended attributes and access lists are kept; `AttributeNotKept` is raised if
        one cannot be. `PathChanged` is raised if the old content is not the `expected` one.
        """
    def removable(self, path: _StrPath, *, protected: bool = False) -> str:
        """Return where the file is that a removal of `path` would remove, and change nothing.

        Refused is what `writable` refuses, what is not there, and a link in the place of the file.
        """
    def remove(
        self, path: _StrPath, *, expected: bytes | None = None, protected: bool = False
    ) -> str:
        """Remove a regular file, and return where it was; a link in its place is not followed.

        `PathChanged` is raised if its content is not the `expected` one.
        """
    def rename(
        self,
        path: _StrPath,
        new_path: _StrPath,
        *,
        expected: bytes | None = None,
        protected: bool = False,
    ) -> str:
        """Give a regular file another path, make missing folders, and return where it is then.

        It keeps all that it has; a link in its place is not followed. `PathChanged` is raised if its
        content is not the `expected` one, or if something is at the new path.
        """
    def find_secrets(self, stop: Event | None = None) -> builtins.list[str]:
        """Return the files and folders beneath the root that are not read without approval.

        Their paths are from the root and sorted. A folder is named and not walked, links are neither
        followed nor named, `.git` is left out; what git ignores is not.
        """
    def list(self, path: _StrPath = ...) -> builtins.list[tuple[str, str, int]]:
        """Return the `(name, kind, bytes)` of a directory's entries, by name.

        The kind is `file`, `directory`, `link` or `other`; only files have bytes.
        """
    def first_entries(
        self,
        path: _StrPath = ...,
        *,
        limit: int,
        max_bytes: int,
        stop: Event | None = None,
    ) -> tuple[builtins.list[tuple[str, str, int]], int]:
        """Return the first entries of a directory by name, as `list` does, and how many it has.

        At most `limit` are kept, as long as they take about `max_bytes`.
        """
    def lines(
        self,
        path: _StrPath,
        *,
        first: int = 1,
        limit: int = 2000,
        max_bytes: int = 262_144,
        stop: Event | None = None,
    ) -> LineWindow:
        """Return the lines of a text file from number `first` on.

        `stop` is asked now and then; once it is set, `InterruptedError` is raised.
        """
    def walk(
        self,
        path: _StrPath = ...,
        *,
        pattern: str | None = None,
        skip: Sequence[str] = ...,
        skip_ignored: bool = False,
        order: Literal["path", "largest", "latest"] = "path",
        limit: int = ...,
        max_bytes: int = 16_777_216,
        stop: Event | None = None,
    ) -> Walk:
        """Return the regular files beneath `path`, links not followed.

        `pattern` chooses files by a glob over their path from `path`; `skip` names files and
        directories that are left out, at any depth, and `skip_ignored` leaves out what git ignores.
        The first `limit` files in `order` are kept, as long as they take about `max_bytes`, and so
        many bytes of endings; all are counted.
        """
    def search(
        self,
        expression: str,
        path: _StrPath = ...,
        *,
        pattern: str | None = None,
        skip: Sequence[str] = ...,
        skip_ignored: bool = False,
        ignore_case: bool = False,
        limit: int = 100,
        order: Literal["path", "largest", "latest"] = "path",
        max_files: int = ...,
        max_bytes: int = 16_777_216,
        stop: Event | None = None,
    ) -> SearchReport:
        """Search the lines of the text files beneath `path` for a regular expression.

        `pattern`, `skip` and `skip_ignored` choose the files, as those of `walk` do. The first
        `limit` matching lines by path are kept, and the first `max_files` files with a match in
        `order` (`largest`: the most matches), as long as each takes about `max_bytes`; all are
        counted. `ValueError` is raised if the expression takes too many steps on a file.
        """

def log_path(path: _StrPath, *, root: _StrPath | None = None, home: _StrPath | None = None) -> str:
    """Return `path` for a log: from `root`, else from `home` as `~`, control characters escaped."""

def secret_places(home: _StrPath) -> list[str]:
    """Return the absolute paths of what holds secrets outside of projects and is there, sorted.

    They are names in the `home`, such as `.ssh`, and places of well-known programs and of the
    system; links are followed.
    """

class ShellPolicy:
    """Decides which command lines may run without a person; safe to share.

    Args:
        allow_prefixes: Lines of plain shell that an allowed command begins with, such as `git log`.
        root: Folder in which commands run; absolute paths must be beneath it. None to refuse them.
        loopback: Whether curl may read from the servers of this machine, on any port.

    Raises:
        ValueError: A prefix cannot be used.
    """

    def __new__(
        cls,
        allow_prefixes: Sequence[str],
        *,
        root: _StrPath | None = None,
        loopback: bool = False,
    ) -> Self: ...
    def check(self, command: str) -> list[str]:
        """Return the words of `command` to run.

        Raises:
            ShellDenied: A person must be asked about it.
        """

    def check_line(self, line: str) -> list[tuple[str, list[str]]]:
        """Return the commands that `|` and `&&` join in `line`, each after its joiner.

        The joiner of the first is empty.

        Raises:
            ShellDenied: A person must be asked about one of them.
        """

def read_command(command: str) -> list[str]:
    """Return the words of one plain command, as every POSIX shell reads it.

    Raises:
        ShellDenied: It is more than one plain command, or shells may read it in different ways.
    """

@final
class TerminalText:
    """Shows text on a terminal, whole or in chunks, so that it can neither act nor deceive.

    Shown escaped (as in `docs/sinks.md`) are control characters but newline and tab, separators of
    lines, bidirectional controls, invisible characters, and of the marks over one character those
    after the thirtieth. A carriage return before a newline is dropped. Joiners, variation selectors
    and the tags of flags stay where they have a meaning, so that text of every script stays as it is.
    What was shown stays as it is when it is shown again.

    An object of the class shows one text that comes in chunks.
    """

    def __new__(cls) -> Self: ...
    @staticmethod
    def show(text: str | bytes | bytearray) -> str:
        """Return a whole text as it may be shown; the same object if nothing in it is escaped."""
    @staticmethod
    def line(text: str | bytes | bytearray, most: int | None = None) -> str:
        """Return a text as one line: blanks, tabs and newlines are one space, none at the ends.

        Of a line of more than `most` characters the last one is `…`; it is cut between visible
        characters, and nothing behind is looked at.
        """
    @staticmethod
    def exact(text: str | bytes | bytearray) -> str:
        """Return a whole text as one line from which it can be read back.

        Newlines, tabs, carriage returns and backslashes are escaped, too.
        """
    def feed(self, chunk: str | bytes | bytearray) -> str:
        """Take a chunk and return what of it can be shown by now."""
    def flush(self) -> str:
        """Return the rest; what is fed later begins another text."""

class UrlDecisions:
    """Decides which URLs may be requested and at which addresses; names are looked up by the caller.

    Args:
        schemes: Schemes that are allowed; None for `http` and `https`.
        ports: Ports that are allowed; None for 80 and 443.
        deny_private: Whether loopback, private and carrier-grade NAT addresses are refused;
            link-local and metadata addresses always are.
    """

    def __new__(
        cls,
        *,
        schemes: Sequence[str] | None = None,
        ports: Sequence[int] | None = None,
        deny_private: bool = True,
    ) -> Self: ...
    def destination(self, url: str) -> Destination:
        """Read a URL and judge all of it but the addresses of its host name.

        Raises:
            UrlDenied: The URL may not be requested.
        """
    def redirect(self, source: Destination, location: str) -> Destination:
        """Read what a redirect from `source` names as `location`, and judge it as any URL.

        Raises:
            UrlDenied: The hop may not be requested.
        """
    def judge(self, destination: Destination, addresses: Sequence[str]) -> CheckedUrl:
        """Judge every address that was found for the name of a destination.

        Raises:
            UrlDenied: There is no address, or one that is not allowed.
        """

@final
class Destination:
    """Where a URL leads, the addresses of its name not yet known."""

    @property
    def url(self) -> str:
        """The URL in the one form that every client reads alike."""
    @property
    def host(self) -> str:
        """The host in ASCII, without brackets and trailing dot."""
    @property
    def port(self) -> int:
        """The port, that of the scheme where the URL names none."""
    @property
    def address(self) -> str | None:
        """The address, if the host is one; it has been judged."""

@final
class CheckedUrl:
    """A URL that may be requested, at exactly these addresses."""

    @property
    def url(self) -> str:
        """The URL in the one form that every client reads alike; request this one."""
    @property
    def host(self) -> str:
        """The host in ASCII, for the `Host` header and the name in the certificate."""
    @property
    def port(self) -> int:
        """The port to connect to."""
    @property
    def addresses(self) -> list[str]:
        """The addresses to connect to, none other."""

@final
class LineWindow:
    """Some lines of a text file, and the figures of the whole."""

    @property
    def bytes(self) -> int:
        """The size of the whole file."""
    @property
    def total_lines(self) -> int:
        """The lines of the whole file, an unfinished last one among them."""
    @property
    def shown_lines(self) -> int:
        """The lines in `content`, an unfinished last one among them."""
    @property
    def content(self) -> builtins.bytes:
        """The lines as they are in the file."""
    @property
    def truncated(self) -> bool:
        """Whether the file continues after `content`."""

@final
class Walk:
    """The regular files beneath a directory; its totals are complete, whatever `files` was limited to."""

    @property
    def files(self) -> list[tuple[str, int, float]]:
        """The first files as a new list of `(path, bytes, modified)`.

        `modified` is in seconds since 1970; 0 if it is unknown.
        """
    @property
    def total(self) -> int:
        """Files in all."""
    @property
    def total_bytes(self) -> int:
        """Their bytes in all."""
    @property
    def endings(self) -> dict[str, int]:
        """How many files have each ending, such as `.rs`, as a new dict."""
    @property
    def other_endings(self) -> int:
        """Files whose endings were too many to be kept."""
    @property
    def unreadable(self) -> int:
        """How many directories could not be read, or were too many at once: their files are missing.

        A file of git's rules that could not be read counts, too.
        """
    @property
    def has_ignored(self) -> bool:
        """Whether something was left out because git ignores it."""

class Redactor:
    """Removes known secrets in any encoding, and whatever looks like a secret.

    Each becomes `[REDACTED:<kind>]`. The time is linear in the text.

    `Redactor(secrets)` takes the configured keys and passwords. No eight characters in a row of one
    are left, whether plain, in base64, percent-encoded, in hexadecimal digits or with escapes of JSON
    or HTML. Blank ones are ignored; fewer than four bytes are a `ValueError`.
    """

    def __new__(cls, secrets: list[str] = ...) -> Self: ...
    def redact(self, text: str) -> str:
        """Return the text without its secrets; the same object if there are none."""
    def known_places(self, text: bytes) -> list[tuple[int, int]]:
        """Return where known secrets are in a text, as bytes from and to."""
    def redact_known(self, text: str) -> str:
        """Return the text without known secrets; what only looks like a secret stays.

        For those who must see what will run.
        """
    def redact_data(self, data: Any) -> Any:
        """Return the data without its secrets; the same object if there are none.

        Dicts, lists, tuples and sets are gone through; a value whose key says secret becomes a mark.
        Models and dataclasses become their fields, other objects their text, if those hold a secret.
        What is nested deeper than 200 containers, or in itself, becomes a mark.
        """
    def redact_exception(self, error: BaseException) -> str:
        """Return the traceback with causes, contexts, notes and groups, without secrets and homes.

        This never raises, even if the error's own methods do.
        """
    def redact_log(self, text: str, most: int | None = None) -> str:
        """Return a line of a log without secrets and home folders.

        Args:
            text: The line.
            most: Maximum number of characters.
        """
    def stream(self) -> RedactorStream:
        """Return a redactor for one text that comes in chunks."""

@final
class RedactorStream:
    """Takes secrets out of one text that comes in chunks.

    Held back is what may be the beginning of a secret: the last word, a value or a block whose end
    has not come; at most 8 KiB and a chunk.
    """

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what is safe to show by now."""
    def flush(self) -> str:
        """Return the rest; what is fed later begins another text."""

class PersonalData:
    """Takes personal data out of text: each becomes `[PII:<type>]`.

    Where several overlap, all of them are removed, under the type of the longest. The time is linear
    in the text.

    Args:
        types: Built-in types: `SSN`, `CREDIT_CARD`, `EMAIL`, `PHONE`, `IPV4` and `IBAN`.
        patterns: The names of further types, each with an expression of the `regex` crate.

    Raises:
        ValueError: A type does not exist, or a pattern cannot be used.
    """

    def __new__(cls, types: list[str], patterns: list[tuple[str, str]] = ...) -> Self: ...
    def redact(self, text: str) -> str:
        """Return the text without personal data; the same object if it has none."""
    def types(self, text: str) -> tuple[str, ...]:
        """Return the types of the personal data in a text, each once."""
    def stream(self) -> PersonalDataStream:
        """Return what takes personal data out of one text that comes in chunks."""

@final
class PersonalDataStream:
    """Takes personal data out of one text that comes in chunks.

    Held back is only what could become personal data with more text, at most 4 KiB and a chunk.
    """

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what can be shown by now."""
    def flush(self) -> str:
        """Return the rest; what is fed later begins another text."""
    def types(self) -> tuple[str, ...]:
        """Return the types that were found by now, each once."""

def hide_homes(text: str) -> str:
    """Return the text with each home folder as `~`: `/home/ada/x` is `~/x`."""

def shorten(text: str, most: int) -> str:
    """Return at most `most` characters of the text, with `…` as the last one where it is cut."""

def keep_decisions(level: str) -> None:
    """Keep decisions from this level on: `off`, `error`, `warning`, `info`, `debug`, `trace`."""

def take_decisions() -> list[tuple[int, str, str, float | None]]:
    """Return decisions since the last call: level, place, text and seconds since 1970 of each.

    The seconds are None where a world is in use that is not the system.
    """

def follow_world(is_replaced: bool) -> None:
    """Ask `amplifier_core.world` for time and randomness, or read the system again."""

@final
class SearchReport:
    """What a search found; its totals are complete, whatever its lists were limited to."""

    @property
    def lines(self) -> list[tuple[str, int, str]]:
        """The first matching lines as a new list of `(path, line number, text)`."""
    @property
    def files(self) -> list[tuple[str, int]]:
        """The first files with a match as a new list of `(path, matching lines)`."""
    @property
    def total_matches(self) -> int:
        """Matching lines in all."""
    @property
    def total_files(self) -> int:
        """Files with a match in all."""
    @property
    def searched_files(self) -> int:
        """Text files searched: files without a NUL byte."""
    @property
    def searched_lines(self) -> int:
        """Newline characters in the text files."""
    @property
    def binary_files(self) -> int:
        """Files with a NUL byte, whose matches do not count."""
    @property
    def secret_files(self) -> int:
        """Files that hold secrets, which were not searched."""
    @property
    def unreadable(self) -> int:
        """Files and directories that could not be read."""
    @property
    def has_ignored(self) -> bool:
        """Whether something was left out because git ignores it."""

class _Events:
    """The names of events that the registry offers beside those of 2.0.2."""

    TURN_START: Final[str]
    TURN_END: Final[str]
    LLM_PRE: Final[str]
    LLM_POST: Final[str]
    CONTEXT_COMPACTION: Final[str]

class RustHookRegistry(_Events):
    """Runs handlers for events, in the order of their priority."""

    SESSION_START: Final[str]
    SESSION_END: Final[str]
    PROMPT_SUBMIT: Final[str]
    TOOL_PRE: Final[str]
    TOOL_POST: Final[str]
    CONTEXT_PRE_COMPACT: Final[str]
    ORCHESTRATOR_COMPLETE: Final[str]
    USER_NOTIFICATION: Final[str]

    def __new__(cls) -> Self: ...
    def register(
        self,
        event: str,
        handler: Callable[[str, dict[str, Any]], Any],
        priority: int = 0,
        name: str | None = None,
        *,
        fail_closed: bool = False,
        timeout: float | None = None,
    ) -> RustUnregisterFn:
        """Register a handler for an event; call what is returned to unregister it.

        Lower priorities run first, equal ones in the order of registration. The handler is a
        plain or async callable that returns a `HookResult`, a dict of its fields or None. One that
        raises, or awaits for longer than `timeout` seconds, is skipped and logged: the event goes
        on as if it had agreed. With `fail_closed` its failure denies.

        Raises:
            TypeError: the handler cannot be called.
            ValueError: the timeout is negative or not a number.
        """
    def on(
        self,
        event: str,
        handler: Callable[[str, dict[str, Any]], Any],
        priority: int = 0,
        name: str | None = None,
        *,
        fail_closed: bool = False,
        timeout: float | None = None,
    ) -> RustUnregisterFn:
        """Register a handler for an event; the same as `register`."""
    def observe(
        self, handler: Callable[[str, dict[str, Any]], Any], name: str | None = None
    ) -> RustUnregisterFn: ...
    def unregister(self, name: str) -> None:
        """Unregister every handler of this name; an unknown one is ignored."""
    def set_default_fields(self, **defaults: Any) -> None:
        """Set the fields that every event carries, in the place of those set before."""
    def is_heard(self, event: str) -> bool:
        """Whether emitting an event has an effect: somebody hears it, or it is counted or correlated.

        Where it has none, a caller can spare itself the data.
        """
    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """Name the handlers of one event or of all, in the order of running."""
    def _has_handlers(self, event: str) -> bool:
        """Whether handlers hear an event, or it is counted or correlated; who only listens is none."""
    def _must_emit(self, event: str, data: Any) -> bool:
        """Tell who listens to an event of its data, where nobody else hears it; whether `emit` is needed."""
    def _listen(self, listeners: dict[str, Callable[[Any], object]] | None) -> None:
        """Call these functions, by event, with the data of an event as soon as it is emitted.

        They replace those set before. They get the caller's own data, only to look at it.
        """
    def _watch(
        self, events: frozenset[str], handler: Callable[..., Any], priority: int, name: str
    ) -> None:
        """Call a handler for these events, after those of its priority; it replaces the one before.

        It is not listed among the handlers, and no registry inherits it.
        """
    def _stop_watch(self) -> None:
        """Call the handler of `_watch` no more."""
    def _registrations(
        self, event: str
    ) -> list[tuple[int, str, Callable[..., Any], bool, float | None]]:
        """List an event's registrations: serial, name, handler, `fail_closed` and `timeout`."""
    def _all_registrations(
        self,
    ) -> list[tuple[str | None, int, int, str, Callable[..., Any], bool, float | None]]:
        """List all registrations in the order of running; the event of an observer is None.

        Each is event, serial, priority, name, handler, `fail_closed` and `timeout`.
        """
    def _events_beside(self, known: frozenset[str]) -> list[str]:
        """Name the events that have a handler and are not among these."""
    @property
    def _next_serial(self) -> int:
        """How many registrations there were so far."""
    def emit(self, event: str, data: Any) -> Coroutine[Any, Any, HookResult]:
        """Emit an event: run its handlers in order and return what they decide.

        Raises:
            ValueError: the data contains itself.
            TypeError: a key of the data cannot be written as JSON.
        """
    def emit_each(self, events: Sequence[tuple[str, Any]]) -> Coroutine[Any, Any, None]:
        """Emit events, each given as its name and its data, one after another.

        Handlers are run as `emit` runs them; what they decide is not returned. Many events at once
        cost less than as many calls of `emit`.

        Raises:
            ValueError: the data of an event contains itself; those after it are not emitted.
            TypeError: a key of the data cannot be written as JSON.
        """
    def emit_and_collect(
        self, event: str, data: Any, timeout: float | None = 1.0
    ) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        """Ask every handler and collect the data of their answers, each within `timeout` seconds.

        Raises:
            ValueError: the timeout is negative or not a number.
        """

@final
class RustUnregisterFn:
    """Unregisters exactly the registration that returned it; calling it again does nothing."""

    def __call__(self) -> None: ...

class RustCancellationToken:
    """Stops a session and its children, gracefully or at once."""

    def __new__(cls) -> Self: ...
    @property
    def state(self) -> str:
        """The level: "none", "graceful" or "immediate"."""
    @property
    def is_cancelled(self) -> bool:
        """Whether cancellation was requested, gracefully or at once."""
    @property
    def is_graceful(self) -> bool:
        """Whether the level is exactly graceful."""
    @property
    def is_immediate(self) -> bool:
        """Whether everything has to stop at once."""
    @property
    def running_tools(self) -> set[str]:
        """The ids of the tool calls that run now."""
    @property
    def running_tool_names(self) -> list[str]:
        """The names of the tools that run now."""
    def request_graceful(self) -> bool:
        """Ask to stop after what runs now; true if nothing was requested before."""
    def request_immediate(self) -> bool:
        """Ask to stop at once; true if that was not requested before."""
    def request_cancellation(self) -> None:
        """Ask to stop after what runs now."""
    def reset(self) -> None:
        """Back to not cancelled, with no running tools; children and callbacks stay."""
    def register_tool_start(self, tool_call_id: str, tool_name: str) -> None:
        """Note that a tool call runs."""
    def register_tool_complete(self, tool_call_id: str) -> None:
        """Note that a tool call is over; an unknown one is ignored."""
    def register_child(self, child: Any) -> None:
        """Pass every request on to this token too, and what was requested already at once."""
    def unregister_child(self, child: Any) -> None:
        """Pass nothing on to this token any more; an unknown one is ignored."""
    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Run a function, plain or async, whenever `trigger_callbacks` is called."""
    def trigger_callbacks(self) -> Coroutine[Any, Any, None]:
        """Run every callback in the order of registration; what they raise is logged."""

class RustCoordinator:
    """Holds a session's modules, hooks, capabilities and clean-up functions."""

    def __new__(
        cls, session: Any = None, approval_system: Any = None, display_system: Any = None
    ) -> Self: ...
    @property
    def session_id(self) -> str:
        """The id of the session; empty without one."""
    @property
    def parent_id(self) -> str | None:
        """The id of the parent session, or None."""
    @property
    def config(self) -> Any:
        """The session's configuration, the same object and live."""
    @property
    def session(self) -> Any:
        """The session once it is initialised; before, a namespace with its ids."""
    @property
    def hooks(self) -> RustHookRegistry:
        """The hook registry."""
    @property
    def cancellation(self) -> RustCancellationToken:
        """The cancellation token."""
    @property
    def channels(self) -> dict[str, list[dict[str, Any]]]:
        """The contributors by channel, live."""
    @property
    def _cleanup_fns(self) -> list[Any]:
        """The clean-up functions, live."""
    @property
    def injection_budget_per_turn(self) -> int | None:
        """Most tokens that hooks may inject in a turn before a warning; None is no limit."""
    @property
    def injection_size_limit(self) -> int | None:
        """Most characters of one injection; None is no limit."""
    mount_points: dict[str, Any]
    """The mounted modules by slot, live."""
    loader: Any
    """The module loader, or None until the session is initialised."""
    approval_system: Any
    """What asks the user for approvals, or None."""
    display_system: Any
    """What shows messages to the user, or None."""
    session_state: dict[str, Any]
    """A dict for whatever modules want to share."""
    _current_turn_injections: int
    """The tokens that hooks have injected in this turn."""

    def _set_session(self, session: Any) -> None: ...
    def mount(
        self, mount_point: str, module: Any, name: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Mount a module at once; what is returned must be awaited.

        Without `await` this coordinator has mounted the module, and Python warns that the coroutine
        was never awaited; others, such as `MockCoordinator`, mount nothing.

        Raises:
            ValueError: no such slot, or a name is needed and the module has none.
        """
    def unmount(self, mount_point: str, name: str | None = None) -> Coroutine[Any, Any, None]:
        """Remove a module at once; what is returned may be awaited. A missing one is ignored."""
    def get(self, mount_point: str, name: str | None = None) -> Any:
        """Look up a slot, or one module of a named slot; None where nothing is mounted."""
    def register_capability(self, name: str, value: Any) -> None:
        """Offer a value to other modules under a name, in the place of one of that name."""
    def get_capability(self, name: str) -> Any:
        """The value offered under a name, or None."""
    def register_cleanup(self, cleanup_fn: Any) -> None:
        """Run a function, plain or async, at clean-up; what cannot be called is ignored."""
    def cleanup(self) -> Coroutine[Any, Any, None]:
        """Run every clean-up function once, the last registered first."""
    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Contribute to a channel: the callback, plain or async, is asked at each collection."""
    def collect_contributions(self, channel: str) -> Coroutine[Any, Any, list[Any]]:
        """Ask every contributor of a channel and return their contributions as a list."""
    def request_cancel(self, immediate: bool = False) -> Coroutine[Any, Any, None]:
        """Request cancellation at once; what is returned may be awaited."""
    def reset_turn(self) -> None:
        """Begin a turn: nothing is injected yet."""
    def process_hook_result(
        self, result: Any, event: str, hook_name: str = "unknown"
    ) -> Coroutine[Any, Any, HookResult]:
        """Carry out what a hook's result asks for, and return what is left to the loop."""
    def to_dict(self) -> dict[str, Any]:
        """Describe what is mounted, as plain data."""

class RustSession:
    """Runs turns: it loads the modules of a configuration and has their loop answer prompts."""

    def __new__(
        cls,
        config: dict[str, Any],
        loader: Any = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        is_resumed: bool = False,
    ) -> Self: ...
    @property
    def session_id(self) -> str:
        """The id of the session."""
    @property
    def parent_id(self) -> str | None:
        """The id of the session that this one was forked from, or None."""
    @property
    def config(self) -> dict[str, Any]:
        """The configuration, the same object as was given and live."""
    @property
    def coordinator(self) -> RustCoordinator:
        """The coordinator, which holds what is mounted."""
    @property
    def is_resumed(self) -> bool:
        """Whether the session continues an earlier one."""
    @property
    def initialized(self) -> bool:
        """Whether the modules are loaded and turns can run."""
    def initialize(self) -> Coroutine[Any, Any, None]:
        """Load and mount the modules of the configuration, once.

        Raises:
            RuntimeError: a module that every session needs cannot be loaded.
        """
    def execute(self, prompt: str) -> Coroutine[Any, Any, str]:
        """Run a turn and return the answer; what the loop raises comes through.

        Raises:
            RuntimeError: the session is not initialised.
        """
    def cleanup(self) -> Coroutine[Any, Any, None]:
        """Announce the end of the session, then run every clean-up function once."""
    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(self, *_exception: object) -> Coroutine[Any, Any, None]: ...

@final
class SseEvent:
    """One server-sent event."""

    def __new__(
        cls,
        event: str = "message",
        data: str = "",
        id: str | None = None,
        retry: int | None = None,
    ) -> Self: ...
    @property
    def event(self) -> str:
        """The `event:` field, `message` by default."""
    @property
    def data(self) -> str:
        """The `data:` lines, joined with a line feed."""
    @property
    def id(self) -> str | None:
        """The last `id:` of the stream so far."""
    @property
    def retry(self) -> int | None:
        """The last `retry:` since the event before, in milliseconds."""
    __match_args__: Final = ("event", "data", "id", "retry")
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class SseDecoder:
    """Cuts bytes into server-sent events, whatever the chunks are.

    A line, an event or a stream over its limit, in bytes, raises `StreamLimitError`.
    """

    def __new__(
        cls,
        max_line_bytes: int = 33_554_432,
        max_event_bytes: int = 33_554_432,
        max_total_bytes: int = 1_073_741_824,
    ) -> Self: ...
    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that this chunk completes.

        When the chunk breaks a limit after some events, they are returned and the next call raises.
        """
    def finish(self) -> list[SseEvent]:
        """End the stream; an event without its blank line is dropped, so there are none to return."""

@final
class NdjsonDecoder:
    """Cuts bytes into lines of JSON and reads them, whatever the chunks are.

    Blank lines are skipped. A line or a stream over its limit, in bytes, raises `StreamLimitError`;
    a line that is not one JSON value, or not UTF-8, raises `StreamLineError`, and so does every
    call after it.
    """

    def __new__(
        cls, max_line_bytes: int = 33_554_432, max_total_bytes: int = 1_073_741_824
    ) -> Self: ...
    def feed(self, data: bytes) -> list[Any]:
        """Return the values of the lines that this chunk completes.

        When a line after some values is refused, they are returned and the next call raises.
        """
    def finish(self) -> list[Any]:
        """End the stream and return the value of a last line that has no line end."""

@final
class StreamDecoder:
    """Decodes one response of a model provider, whatever the chunks are.

    The dialect is `anthropic`, `responses`, `chat` or `ollama`. A line, an event or a stream over
    its limit, in bytes, raises `StreamLimitError` from `feed` and is the `error` of the result.
    Calls past `max_calls` are refused: they have a name and no arguments. Of nine times as many and
    more, the rest is left out.

    Of several choices of a `chat` stream the blocks are those of choice 0; the others are in
    `metadata["choices"]`, where no call may run. Calls of an `ollama` stream mostly have no id.
    """

    def __new__(
        cls,
        dialect: str,
        status: int = 200,
        headers: Mapping[str, str] | Iterable[tuple[str | bytes, str | bytes]] | None = None,
        *,
        max_line_bytes: int = 33_554_432,
        max_event_bytes: int = 33_554_432,
        max_total_bytes: int = 1_073_741_824,
        max_calls: int = 128,
    ) -> Self: ...
    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return every block event that this chunk completes, stamped with the time of this call.

        When the chunk breaks a limit after some events, they are returned and the next call raises.
        """
    def advance(self, data: bytes) -> bool:
        """Take a chunk in without its events; return whether it adds to the answer.

        For callers that want the result alone. A block that began, ended or was dropped adds to the
        answer, an empty delta does not. A chunk that breaks a limit raises at once.
        """
    def partial_arguments(self, block_index: int) -> dict[str, Any] | None:
        """Return what the arguments of a call are so far, or `None` where no call is.

        Also the input of another block that gets one, such as a server's tool. Shown are closed values,
        open lists and objects with what is in them, and open strings up to an escape that is not whole
        yet. A number, `true`, `false` and `null` appear with the byte after them, a key with its
        value. At a mistake, for which the final parse refuses the call, the value stays what it was.

        All calls together parse each byte once and convert each closed value once. A call costs the
        length of the string that is open, and a copy of each list and object that is; these copies are
        the caller's own, what has closed is shared with other calls and must not be changed.
        """
    def finish(self, *, body_is_whole: bool = False) -> StreamResult:
        """End the stream and return what it amounts to; a broken limit is its `error`.

        `body_is_whole` is whether the transport knows that all of the body came: its last chunk, or
        as many bytes as its `content-length` says. An answer of `chat` with a finish reason is then
        whole without `[DONE]`, and the last event of any stream without a blank line.
        """

@final
class StreamEvent:
    """A content block began, grew, is complete or was dropped."""

    @property
    def event(self) -> str:
        """One of `content_block:start`, `content_block:delta` and `content_block:end`."""
    @property
    def data(self) -> dict[str, Any]:
        """The payload as a new dict."""
    @property
    def block_type(self) -> str:
        """The type of the block."""
    @property
    def block_index(self) -> int:
        """The place of the block in the answer."""
    @property
    def delta(self) -> str | None:
        """The text that was added."""
    @property
    def partial_json(self) -> str | None:
        """The fragment of JSON that was added."""
    @property
    def timestamp(self) -> str:
        """When the chunk was decoded, as ISO 8601 in UTC."""
    @property
    def metadata(self) -> dict[str, Any] | None:
        """What the provider says about a block that begins, as a new dict."""
    @property
    def dropped(self) -> bool:
        """Whether the block is not part of the answer any more."""
    @property
    def block(self) -> dict[str, Any] | None:
        """The complete block, as a new dict."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality without identity

@final
class StreamResult:
    """The final record of a stream; every container is a new one each time it is read."""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The blocks in the order of their index.

        A `tool_call` has `id`, `name`, `arguments`, `raw_arguments` and `error`; it may run exactly
        when `arguments` is a dict. A custom call has its text as `input`, also in its arguments.
        Every other block is as the provider sent it; the text, the thinking and the calls of a
        `responses` stream have what the provider sent as `item`.
        """
    @property
    def usage(self) -> dict[str, int | None]:
        """Tokens in disjoint buckets; `None` where unknown.

        The keys are `input_tokens`, `cache_read_tokens`, `cache_write_tokens`, `output_tokens` and
        `reasoning_tokens`.
        """
    @property
    def raw_usage(self) -> dict[str, Any] | None:
        """Usage as the provider counts it."""
    @property
    def stop_reason(self) -> str | None:
        """Why the answer ended; `other` for a reason that is not known, `None` if it never came."""
    @property
    def raw_stop_reason(self) -> str | None:
        """Why the answer ended, in the provider's words."""
    @property
    def stop_sequence(self) -> str | None:
        """The stop sequence that was met."""
    @property
    def id(self) -> str | None:
        """The provider's id of the answer."""
    @property
    def model(self) -> str | None:
        """The model that answered."""
    @property
    def request_id(self) -> str | None:
        """The provider's id of the request."""
    @property
    def metadata(self) -> dict[str, Any]:
        """Every other thing that the provider said about the answer."""
    @property
    def truncated(self) -> bool:
        """Whether the stream ended before its terminator."""
    @property
    def error(self) -> dict[str, Any] | None:
        """What went wrong: `type`, `code`, `status`, `message`, `retryable`, `retry_after` in seconds.

        Also `details` where the provider says more, such as `param` or `innererror`.
        """
    @property
    def findings(self) -> list[dict[str, Any]]:
        """What was repaired, ignored or not understood: `type`, `block_index`, `message`, `raw`."""
    @property
    def events(self) -> list[StreamEvent]:
        """What only the end of the stream completed, in a last line that has no line end.

        Only Ollama's streams have any; they follow those that `feed` returned.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality without identity

def status_kind(status: int) -> str | None:
    """Return the error type of an HTTP status; None below 400."""

def status_of_kind(kind: str) -> int | None:
    """Return the HTTP status of an error of this type; None for an unknown type."""

def decode_error(
    dialect: str,
    status: int,
    headers: Mapping[str, str] | Iterable[tuple[str | bytes, str | bytes]] | None,
    body: bytes,
) -> dict[str, Any]:
    """Decode the body of a response whose status is not a success.

    The keys are those of `StreamResult.error`, and `request_id`.
    """

@final
class TagEvent:
    """A part of a text with tags, in its order.

    Of a `ThinkingParser` the types are `thinking_start`, `thinking`, `thinking_end`, `message` and
    `stray_close`, of a `ToolCallParser` `regular`, `tool_call_start`, `tool_call_content`,
    `tool_call_name` and `tool_call_end`.
    """

    @property
    def type(self) -> str:
        """What it is."""
    @property
    def content(self) -> str:
        """The text, the tag as it was written, or the name of the tool."""
    @property
    def index(self) -> int | None:
        """The number of the call."""
    @property
    def truncated(self) -> bool:
        """Whether the thought or call ends without its closing tag."""
    @property
    def call(self) -> ParsedCall | None:
        """The call that ends."""
    __match_args__: Final = ("type", "content")
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality without identity

@final
class ParsedContent:
    """One half of the result of `parse`.

    The types are `thinking` and `message`, or `tool_call`, `tool_call_start` and `regular`.
    """

    @property
    def type(self) -> str:
        """What it is."""
    @property
    def content(self) -> str:
        """The text; of several calls, one after the other on lines of their own."""
    @property
    def calls(self) -> list[ParsedCall]:
        """The calls that ended, as a new list."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality without identity

@final
class ThinkingParser:
    """Tells thinking in tags from the message around it, wherever the text is cut.

    The tags are `<thinking>` by default; a tag is closed by the name that opened it. Only what may
    still become a tag is held back. Unless thoughts are nested, the first closing tag ends one.
    """

    def __new__(
        cls,
        tags: str | Sequence[str] | None = None,
        *,
        ignore_case: bool = False,
        allow_attributes: bool = False,
        nested: bool = False,
    ) -> Self: ...
    def feed(self, text: str) -> list[TagEvent]:
        """Take a piece of the text and return what it says, in its order."""
    def flush(self) -> list[TagEvent]:
        """Give up what is held back, and mark an open thought as truncated."""
    def reset(self) -> None:
        """Forget everything but the settings."""
    def parse(self, chunk: str) -> tuple[ParsedContent | None, ParsedContent | None]:
        """Take a piece of the text and return its thinking and its message, each as one text."""
    @property
    def is_in_thinking(self) -> bool:
        """Whether the text so far ends within a thought."""

@final
class ThinkingFilter:
    """Turns text between thinking tags in the text blocks of an answer into thinking blocks.

    It sits behind the `StreamDecoder` of a model that has no thinking of its own. The arguments are
    those of `ThinkingParser`.
    """

    def __new__(
        cls,
        tags: str | Sequence[str] | None = None,
        *,
        ignore_case: bool = False,
        allow_attributes: bool = False,
        nested: bool = False,
    ) -> Self: ...
    def feed(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """Return the events that replace those of a decoder."""
    def finish(self, result: StreamResult) -> StreamResult:
        """Return the result of a decoder with its blocks split as their events were."""

@final
class ToolCallParser:
    """Finds tool calls in a text, wherever it is cut.

    The tags are `<tool>` by default. A closing tag in a JSON string, in CDATA or in a comment
    does not close a call. A call that is not closed, or longer than `max_call_bytes`, never runs. The id
    of a call is the prefix and a number; the default prefix is one that no other parser has.
    With `ignore_quoted` a call in a code block, inline code, a block quotation or a comment is text,
    and so is one that a text of `known_texts` contains, tags included.
    """

    def __new__(
        cls,
        tags: str | Sequence[str] | None = None,
        *,
        ignore_case: bool = False,
        allow_attributes: bool = False,
        max_call_bytes: int = 10_485_760,
        id_prefix: str | None = None,
        ignore_quoted: bool = False,
        known_texts: Sequence[str] = ...,
    ) -> Self: ...
    def feed(self, text: str) -> list[TagEvent]:
        """Take a piece of the text and return what it says, in its order."""
    def flush(self) -> list[TagEvent]:
        """Give up what is held back, and end an open call as incomplete."""
    def reset(self) -> None:
        """Forget everything but the settings."""
    def parse(self, chunk: str) -> tuple[ParsedContent | None, ParsedContent | None]:
        """Take a piece of the text and return its calls and its regular text."""
    @property
    def is_in_tool_call(self) -> bool:
        """Whether the text so far ends within a call."""
    @property
    def accumulated_tool_content(self) -> str:
        """What the open call holds so far, or else the last one held."""

@final
class ParsedCall:
    """A tool call; it may run exactly when it has `arguments`."""

    @property
    def index(self) -> int:
        """The number of the call."""
    @property
    def id(self) -> str | None:
        """The provider's id, or the one that the parser gave it."""
    @property
    def name(self) -> str:
        """The name of the tool; empty where none is known."""
    @property
    def server_name(self) -> str:
        """The server that has the tool, `local` by default."""
    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments as a new dict; None when the call must not run."""
    @property
    def is_textual(self) -> bool:
        """Whether the arguments come from XML, so that all their values are text."""
    @property
    def raw(self) -> str:
        """What was between the tags, or the arguments of a native call, as they came."""
    @property
    def is_native(self) -> bool:
        """Whether the provider reported the call itself, instead of tags in the text."""
    @property
    def is_complete(self) -> bool:
        """Whether the closing tag was there."""
    @property
    def error(self) -> str | None:
        """Why the call must not run."""
    @property
    def findings(self) -> list[dict[str, Any]]:
        """What was repaired, ignored or not understood: `type`, `message`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality without identity

@final
class StreamProcessor:
    """Turns the chunks of one answer into events, each the name of its class and its fields."""

    def __new__(cls, parser: ToolCallParser | None = None, max_calls: int = 128) -> Self: ...
    def feed(self, chunk: Any) -> list[tuple[Any, ...]]:
        """Take a chunk and return what it brings."""
    def finish(self) -> list[tuple[Any, ...]]:
        """End an answer whose chunks ended."""
    def fail(self, error: str) -> list[tuple[Any, ...]]:
        """End an answer whose source failed."""
    def cancel(self) -> list[tuple[Any, ...]]:
        """End an answer that is no longer awaited."""
    @property
    def is_over(self) -> bool:
        """Whether the answer has come to its end."""
    def result(self) -> dict[str, Any]:
        """Return what the answer amounts to; one that has not ended counts as given up."""

def coerce_arguments(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Read text in arguments as the numbers, truth values, lists and objects that a schema wants.

    An element with one kind of child, as in `<edits><edit>…</edit></edits>`, and a single value
    become lists where lists are wanted; what the schema says nothing about stays.

    Raises:
        ValueError: A value cannot be read as what the schema wants; the message names it.
    """

@final
class _UnfinishedText:
    """The text of the response that is being written, from the events of its blocks."""

    def __new__(cls) -> Self: ...
    def add(self, data: dict[str, Any]) -> None:
        """Add what `content_block:delta` says; there are many of these."""
    def end(self, data: dict[str, Any]) -> None:
        """Let go of a text that was taken back; keep one text of a block where there are two."""
    def clear(self, _data: object = None) -> None:
        """Forget it: the response is whole, or another one begins."""

def _copy_of(value: Any) -> Any:
    """Copy the dicts and lists of a value.

    Raises:
        ValueError: the value is nested too deeply.
    """

def _is_plain_plan(plan: dict[str, Any]) -> bool:
    """Whether a mount plan says nothing unusual; what is not plain may still be right."""

def _leave_to_this_thread() -> None:
    """Refuse all operations of the kernel from now on, except in this thread."""

def _claim_interpreter() -> None:
    """Take the extension for this interpreter.

    Raises:
        ImportError: Another interpreter of the process has it.
    """

def _round_trip(type_name: str, json: bytes) -> str:
    """Read a JSON text as the Rust type of this name and return the JSON that the type writes."""

def _shared_types() -> dict[str, tuple[str, list[str]]]:
    """Return the shared types by name: shape (`record`, `words` or `union`) and its parts.

    The names of the Claude dialect begin with `claude::`.
    """

def _json_schema(type_name: str, mode: str = "validation") -> str:
    """Return the JSON schema of the Rust type of this name, in the form of Pydantic's.

    Args:
        type_name: One of the shared types.
        mode: `validation` for what the type reads, `serialization` for what it writes.

    Raises:
        KeyError: No shared type has this name.
        ValueError: The mode is another one.
    """

def _read_json(text: bytes) -> object:
    """Read a JSON text into Python objects, as the engine reads it."""

def _write_json(value: object) -> str:
    """Write Python objects that are made of JSON types as the engine writes them."""

_ChangedPath: TypeAlias = tuple[
    str,
    Literal["created", "modified", "deleted"],
    Literal["file", "folder", "link"],
    str | None,
    str | None,
    int,
]
_ChangeOutcome: TypeAlias = tuple[
    list[_ChangedPath], list[tuple[str, str | None, str]], list[tuple[str, str]]
]

if sys.platform == "linux":
    @final
    class Change:
        """One change of a project, which can be taken back; outcomes are tuples of their fields."""

        def __new__(
            cls, project: _StrPath, folder: _StrPath, later: Sequence[_StrPath] = ...
        ) -> Self: ...
        @staticmethod
        def begin(project: _StrPath, folder: _StrPath) -> Change:
            """Make the folder of a new change, and what is in it."""
        @property
        def state(self) -> Literal["open", "committed", "undone", "half"]:
            """Where the change is."""
        @property
        def layer(self) -> str:
            """The upper layer of an overlay; later the versions from before."""
        @property
        def work(self) -> str:
            """The work folder of an overlay."""
        def list_paths(self) -> list[_ChangedPath]:
            """Return what a commit would do, or what it did."""
        def commit(self, chosen: Sequence[str] | None = None) -> _ChangeOutcome:
            """Put what the layer has into the project: `chosen` paths and what they need, or all."""
        def undo(self, *, preview: bool = False) -> _ChangeOutcome:
            """Put the versions from before into the project."""
        def redo(self, *, preview: bool = False) -> _ChangeOutcome:
            """Put the versions of the change into the project again."""
        def recover(self) -> None:
            """Finish or take back what a crash interrupted."""
        def remove(self) -> None:
            """Delete the folder of the change, whatever modes are in it."""
        def record_before(self, paths: Sequence[str], after: Sequence[bytes | None]) -> None:
            """Keep what a file tool is about to write over, and a digest of what it will write."""
        def record_after(self) -> _ChangeOutcome:
            """Record what the file tool wrote."""
