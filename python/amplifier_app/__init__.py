"""The application: the `amplifier-core` command, its live display and its demo model."""
