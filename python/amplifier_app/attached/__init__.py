"""Files and images that a person attaches to a prompt."""
