"""What is said in one request alone: it stands at the end, where no later request has it."""

EPHEMERAL = "ephemeral"
"""The key in the metadata of a message that the next request does not have, or not as it is."""
