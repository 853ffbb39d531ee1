"""`amplifier-core worker` and `amplifier-core serve`: agents as a service."""
