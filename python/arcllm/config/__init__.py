"""The configuration: TOML files, the environment and the vault."""
