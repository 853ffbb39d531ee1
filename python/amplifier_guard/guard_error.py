"""The base of what the guard refuses."""


class GuardError(Exception):
    """Something that the guard does not let pass; each kind is an error of the standard library, too."""
