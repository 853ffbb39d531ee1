"""The store that the commands use, opened for one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from amplifier_app.collected_warnings import collect_warnings
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice

if TYPE_CHECKING:
    from amplifier_modules.stores import Store

ResultT = TypeVar("ResultT")

USUAL = "store-sqlite"
"""The module of the store that sessions of the command are in, unless a plan names another."""


def run_on_store(
    work: Callable[[Store], Awaitable[ResultT]],
    entry: Mapping[str, Any] | None = None,
    warnings: list[str] | None = None,
) -> ResultT:
    """Do something with a store, on a loop of its own, and close the store.

    Args:
        work: What is done.
        entry: The module of the store and its config, as a plan has them; None for the usual one.
        warnings: Takes what the store warns of, such as a file that it cannot read; None to have
            it shown.

    Raises:
        Failure: The store cannot be used, or what is stored is damaged.
    """
    import asyncio

    from amplifier_modules.stores.opening import open_store

    async def run() -> ResultT:
        async with open_store(entry or {"module": USUAL}) as store:
            try:
                return await work(store)
            finally:
                await store.close()

    found: list[str] = [] if warnings is None else warnings
    try:
        with collect_warnings("amplifier_modules.stores", found), reporting_store_errors():
            return asyncio.run(run())
    finally:
        if warnings is None:
            for warning in found:
                show_notice(f"warning: {warning}")


@contextmanager
def reporting_store_errors() -> Generator[None]:
    """Raise what a store says as a failure of the command."""
    from amplifier_core.llm_errors import ConfigurationError
    from amplifier_modules.stores import StoreError

    try:
        yield
    except (StoreError, ConfigurationError) as error:
        raise Failure(str(error)) from error
