"""The modules of single services: `provider-openai-chat` with a preset, under a name of its own."""
