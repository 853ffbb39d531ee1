"""`amplifier-core config`: the settings that count, and the user's file."""
