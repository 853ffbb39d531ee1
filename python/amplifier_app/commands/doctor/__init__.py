"""`amplifier-core doctor`: what is set up, what is missing, and what to do."""
