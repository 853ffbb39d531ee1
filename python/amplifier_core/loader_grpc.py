"""The gRPC transport of modules, which this package does not have: importing it says so."""

from amplifier_core._native.engine_names import explain_absence

raise ImportError(explain_absence("gRPC", f"`{__name__}`"), name=__name__)
