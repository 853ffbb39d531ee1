"""Where commands run: kept to the project by the operating system, as far as it can."""
