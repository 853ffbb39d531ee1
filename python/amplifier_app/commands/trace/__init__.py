"""`amplifier-core trace`: a session as a page."""
