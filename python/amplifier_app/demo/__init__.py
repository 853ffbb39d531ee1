"""The demo model: a server that speaks the Anthropic Messages wire and answers by program."""
