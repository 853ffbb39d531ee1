"""The extension, where there is one."""

from __future__ import annotations

import warnings


def load_engine() -> None:
    """Load the extension, without the kernel's warning that it uses its Python engine instead.

    Raises:
        ImportError: It is missing or cannot be loaded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from amplifier_core.extension import load_extension

        load_extension()
