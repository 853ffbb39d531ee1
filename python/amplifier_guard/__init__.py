"""Decisions at the sinks: what a path may reach."""

try:
    from amplifier_guard.path import NotText, PathDenied, PathPolicy
except ModuleNotFoundError as error:
    if error.name != "amplifier_core._engine":
        raise
    message = (
        "`amplifier_guard` needs the extension `amplifier_core._engine`, which is missing here"
    )
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = ["NotText", "PathDenied", "PathPolicy"]
