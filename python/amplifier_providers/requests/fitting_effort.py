"""Which effort a model is asked for where it does not take the one that was named."""

from __future__ import annotations


def fitting_effort(asked: str, efforts: tuple[str, ...], order: tuple[str, ...]) -> str:
    """Return the effort nearest to the one asked, not above it where one is below.

    Only who asks for none gets none, and a word that nobody knows is left to the service.

    Args:
        asked: The effort.
        efforts: Those that a model takes; none where that is not known.
        order: All efforts, the least first.
    """
    if asked in frozenset(efforts) or not efforts or asked not in order:
        return asked
    some = [each for each in efforts if each != "none"]
    below = [each for each in some if order.index(each) <= order.index(asked)]
    return below[-1] if below else some[0]
