"""Lines that a person types in the terminal, also while a turn runs."""
