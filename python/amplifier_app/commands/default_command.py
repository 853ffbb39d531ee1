"""The command line with the name of its command: a prompt alone means `run`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from amplifier_app.commands.meant_commands import is_of_others

_ABOUT_ITSELF = ("-h", "--help", "--version")
"""Options of `amplifier-core` itself."""


class CommandLine:
    """The arguments of `amplifier-core`, cut into options and words.

    Args:
        arguments: The command line without the program.
        with_value: The options of `run` that take a value.
        with_optional: Those of them that need none.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        with_value: Collection[str],
        with_optional: Collection[str] = (),
    ) -> None:
        self._arguments = list(arguments)
        self._with_value = with_value
        self._with_optional = with_optional
        self.options: list[str] = []
        """The options, without values in arguments of their own."""
        self._words: list[int] = []
        """The places of the words: neither options nor values of them."""
        self._cut()

    def with_command(self, commands: Collection[str], default: str) -> list[str]:
        """Return the arguments, beginning with the name of a command.

        Options before a name are moved behind it. What is only about `amplifier-core` itself stays
        as it is; so does a misspelt name before another word, which is no prompt.
        """
        found = self._arguments
        if not found or found[0] in _ABOUT_ITSELF:
            return found
        first = self._words[0] if self._words else None
        if first is not None and "--" not in found[:first]:
            if found[first] in commands:
                return [found[first], *found[:first], *found[first + 1 :]]
            word = found[first]
            if len(self._words) > 1 and not is_of_others(word) and _is_misspelt(word, commands):
                return found[first:]
        return [default, *found]

    @property
    def first_word(self) -> str:
        """The first argument that is neither an option nor the value of one; empty without any."""
        return self._arguments[self._words[0]] if self._words else ""

    def names_any(self, commands: Collection[str]) -> bool:
        """Whether one of the words is one of these commands."""
        return any(self._arguments[each] in commands for each in self._words)

    def find_lone_word(self) -> str:
        """Return the prompt where it is one word that nothing says is one; empty otherwise."""
        if len(self._words) != 1:
            return ""
        [place] = self._words
        word = self._arguments[place]
        return "" if "--" in self._arguments[:place] or not word.isascii() else word

    def _cut(self) -> None:
        is_value = False
        for place, each in enumerate(self._arguments):
            if is_value:
                is_value = False
            elif each == "--":
                self._words.extend(range(place + 1, len(self._arguments)))
                return
            elif not each.startswith("-") or each == "-":
                self._words.append(place)
            else:
                self.options.append(each)
                is_value = self._takes_next(each, self._arguments[place + 1 : place + 2])

    def _takes_next(self, option: str, after: Sequence[str]) -> bool:
        """Whether the value of an option is the argument after it."""
        if option in self._with_optional:
            return not any(each.startswith("-") and each != "-" for each in after)
        if option.startswith("--"):
            return option in self._with_value
        # Of letters in one argument, the first that takes a value takes the rest.
        taking = [
            place for place in range(1, len(option)) if f"-{option[place]}" in self._with_value
        ]
        return taking[:1] == [len(option) - 1]


def _is_misspelt(word: str, commands: Collection[str]) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(word, commands))
