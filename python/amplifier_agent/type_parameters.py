"""The type parameter of agents: the type of `Result.output`, None where the answer is text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T_co = TypeVar("T_co", default=None, covariant=True)
else:
    # Without the default, which only type checkers read: importing its library takes a while.
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)
