"""`amplifier-core tool`: which tools a session has, and a call of one without a model."""
