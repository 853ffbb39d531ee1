"""Generated gRPC messages, which this package does not have: importing them says so."""

from amplifier_core._native.engine_names import explain_absence

raise ImportError(explain_absence("gRPC", f"`{__name__}`"), name=__name__)
