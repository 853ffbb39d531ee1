"""What the requests of a session say of its tools, once some are deferred: always the same."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from amplifier_core.message_models import ToolSpec
from amplifier_core.session_capabilities import TOOLS_OFFER

from .listing import choose_listed, describe_fully, list_lines
from .tools import CALL_TOOL, SEARCH_TOOLS, CallTool, SearchTools

STATE = "state:tools"
"""The kind of its rows in the journal."""
ANNOUNCED = "state:announced-tools"
"""The kind of the rows with the tools that were announced."""
Form: TypeAlias = Literal["own", "tagged", "native"]
"""How a model gets to know tools: by our own tools; the same for one that writes its calls as text, and so
calls any tool by its name; or as its service does it, which gets the deferred ones, too."""
NOTE_SOURCE = "deferred-tools"
"""The `source` of messages that announce tools."""
_BETWEEN = "\n\n"
_MAX_DESCRIBED = 8
"""As many tools that come later are announced with their schemas."""


class ToolOffer:
    """The tools that requests describe, and those that are only named.

    From the first request on the described ones are the same, byte for byte, whatever tools come, go
    or change: the beginning of a request is what a service finds in its cache. What is new is said
    in a message.
    """

    def __init__(self, specs: Sequence[ToolSpec], listed: Collection[str]) -> None:
        """Defer the tools that are not listed.

        Args:
            specs: All tools, in their order.
            listed: The names of those that requests describe.
        """
        names = {spec.name for spec in specs}
        self.wrapper = _choose_name(CALL_TOOL, names)
        """The name of the tool through which deferred ones are called."""
        self._search_name = _choose_name(SEARCH_TOOLS, names)
        deferred = [spec for spec in specs if spec.name not in listed]
        self._make_tools(_describe_search(deferred, self.wrapper))
        shown = [spec for spec in specs if spec.name in listed]
        self._take_sent([*shown, _spec_of(self._search), _spec_of(self._call)], deferred)
        self._announced = dict.fromkeys(names)
        self._specs = {spec.name: spec for spec in specs}

    @classmethod
    def restore(cls, body: Mapping[str, Any]) -> ToolOffer:
        """Return what `describe` has described in another process."""
        offer = cls.__new__(cls)
        sent = [ToolSpec.model_validate(each) for each in body["sent"]]
        offer._search_name, offer.wrapper = (spec.name for spec in sent[-2:])
        offer._make_tools(sent[-2].description or "")
        offer._take_sent(sent, [ToolSpec.model_validate(each) for each in body["deferred"]])
        offer._announced = dict.fromkeys(spec.name for spec in (*sent[:-2], *offer._deferred))
        offer._specs = {}
        return offer

    def _take_sent(self, sent: list[ToolSpec], deferred: list[ToolSpec]) -> None:
        self._sent = sent
        self._deferred = deferred
        self._said = {spec.name: spec for spec in sent[:-2]}
        """The tools as the model has read of them in full."""
        self._native: list[ToolSpec] | None = None
        self._body: dict[str, Any] | None = None
        self._late: list[str] = []

    def describe(self) -> dict[str, Any]:
        """Return what stays as JSON, always the same object."""
        if self._body is None:
            self._body = {
                "sent": [spec.model_dump(exclude_none=True) for spec in self._sent],
                "deferred": [spec.model_dump(exclude_none=True) for spec in self._deferred],
            }
        return self._body

    def list_late(self) -> list[str]:
        """Return the names of the tools that were announced, the same object while it is the same."""
        return self._late

    def note_late(self, names: Iterable[str]) -> None:
        """Announce these tools no more."""
        self._late = [*self._late, *names]
        self._announced |= dict.fromkeys(self._late)

    def list_sent(self, form: Form = "own") -> list[ToolSpec]:
        """Return what requests say of the tools; see `Form`."""
        if form == "tagged":
            return self._sent[:-1]
        if form == "own":
            return self._sent
        if self._native is None:
            *shown, search, call = self._sent
            finder = search.model_copy(update={"finds_tools": True})
            late = [each.model_copy(update={"defer_loading": True}) for each in self._deferred]
            self._native = [*shown, finder, call, *late]
        return self._native

    def extend(self, tools: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mounted tools and the two of the offer; later changes of them are seen."""
        return ChainMap(self.tools, tools)  # pyright: ignore[reportArgumentType] -- it is only read

    def take_specs(self, specs: Iterable[ToolSpec], form: Form) -> None:
        """Take note of the tools as they are now.

        Args:
            specs: The tools, with those of the offer.
            form: How the model gets to know them.
        """
        self._specs = {spec.name: spec for spec in specs if spec.name not in self.tools}
        self._search.how_to_call = self._say_how_to_call(form)

    def take_note(self) -> str | None:
        """Return what the model must hear of the tools, once; None for nothing."""
        new = [spec for name, spec in self._specs.items() if name not in self._announced]
        changed = list(self._take_changed())
        parts: list[str] = []
        if new:
            self.note_late(spec.name for spec in new)
            parts.append(f"There are further tools now:\n{self._describe_new(new)}")
        if changed:
            listed = "\n".join(map(describe_fully, changed))
            parts.append(f"These tools are described in another way now:\n{listed}")
        return f"(Note of the program.) {_BETWEEN.join(parts)}" if parts else None

    def _describe_new(self, new: Sequence[ToolSpec]) -> str:
        if len(new) > _MAX_DESCRIBED:
            return f"{list_lines(new)}\n`{self._search.name}` returns their schemas."
        self._said |= {spec.name: spec for spec in new}
        return "\n".join([*map(describe_fully, new), self._search.how_to_call])

    def _take_changed(self) -> Iterator[ToolSpec]:
        """Yield the tools that the model knows otherwise than they are now."""
        for name, known in list(self._said.items()):
            spec = self._specs.get(name)
            if spec is None or spec is known:
                continue
            self._said[name] = spec
            if spec != known:
                yield spec

    def _make_tools(self, description: str) -> None:
        find, note = self._list_deferred, self._note_revealed
        self._search = SearchTools(self._search_name, description, find, note)
        self._call = CallTool(self.wrapper)
        self.tools: dict[str, Any] = {each.name: each for each in (self._search, self._call)}
        """The two tools of the offer itself, by name."""

    def _list_deferred(self) -> dict[str, ToolSpec]:
        sent = {spec.name for spec in self._sent}
        return {name: spec for name, spec in self._specs.items() if name not in sent}

    def _note_revealed(self, specs: Sequence[ToolSpec]) -> None:
        self._said |= {spec.name: spec for spec in specs}

    def _say_how_to_call(self, form: Form) -> str:
        if form == "tagged":
            return "Call them by their names."
        return f'Call them with `{self.wrapper}`: {{"name": …, "arguments": …}}'


def begin_offer(
    tools: Mapping[str, Any],
    make_specs: Callable[[], Sequence[ToolSpec]],
    most: int | None,
    always: Collection[str],
    *,
    awaits_tools: bool,
) -> ToolOffer | None:
    """Return the offer of a session whose tools are too many, or not all there; None for others.

    Args:
        tools: The tools by name.
        make_specs: Returns what models read of them.
        most: How many tools requests describe without an offer; None for any number.
        always: The names of tools that are never deferred.
        awaits_tools: Whether tools come later, of servers that are not connected.
    """
    if most is None or (len(tools) <= most and not awaits_tools):
        return None
    return ToolOffer(make_specs(), choose_listed(tools, most, always))


class KeptOffer:
    """What stays of the offer of a session, kept for another process; see `KeptState`."""

    kind: ClassVar[str] = STATE

    __slots__ = ("_coordinator",)

    def __init__(self, coordinator: Any) -> None:
        """Keep that of the session of this coordinator."""
        self._coordinator = coordinator

    def describe(self) -> dict[str, Any] | None:
        """Return it as JSON; None if no tools are deferred."""
        offer = self._coordinator.get_capability(TOOLS_OFFER)
        return offer.describe() if isinstance(offer, ToolOffer) else None

    def restore(self, body: dict[str, Any]) -> None:
        """Take over the offer of another process."""
        self._coordinator.register_capability(TOOLS_OFFER, ToolOffer.restore(body))


class KeptAnnouncements:
    """The tools that were announced in a session; see `KeptState`. Restored after the offer."""

    kind: ClassVar[str] = ANNOUNCED

    __slots__ = ("_coordinator",)

    def __init__(self, coordinator: Any) -> None:
        """Keep those of the session of this coordinator."""
        self._coordinator = coordinator

    def describe(self) -> list[str] | None:
        """Return their names; None if there are none."""
        offer = self._coordinator.get_capability(TOOLS_OFFER)
        return (offer.list_late() or None) if isinstance(offer, ToolOffer) else None

    def restore(self, body: list[str]) -> None:
        """Announce none of them again."""
        offer = self._coordinator.get_capability(TOOLS_OFFER)
        if isinstance(offer, ToolOffer):
            offer.note_late(body)


def _describe_search(deferred: Sequence[ToolSpec], wrapper: str) -> str:
    how = (
        "Returns the schemas of tools that are not among your functions, by their names or by words"
        f" about what is to be done. Then call them with `{wrapper}`."
    )
    if not deferred:
        return f"{how} Tools that come later are announced."
    return f"{how} These tools are there, and others may come later:\n{list_lines(deferred)}"


def _spec_of(tool: Any) -> ToolSpec:
    return ToolSpec(name=tool.name, parameters=tool.input_schema, description=tool.description)


def _choose_name(wanted: str, taken: Collection[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
