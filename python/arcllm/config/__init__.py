"""The configuration: TOML files and the environment."""
