"""What the site does with classes of the extension: it shows the parameters of their `__new__`."""

from __future__ import annotations

from typing import Any

import griffe


class ConstructorParameters(griffe.Extension):
    """Give each class with a `__new__` alone an `__init__` with the same parameters.

    The signature of a class is taken from its `__init__`, which the classes of the extension lack.
    """

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the `__init__` of a class that was loaded, its stub included."""
        new = cls.members.get("__new__")
        if not isinstance(new, griffe.Function) or "__init__" in cls.members:
            return
        _, *parameters = new.parameters
        this = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        init = griffe.Function(
            "__init__",
            lineno=new.lineno,
            endlineno=new.endlineno,
            parameters=griffe.Parameters(this, *parameters),
            returns="None",
        )
        cls.set_member("__init__", init)
