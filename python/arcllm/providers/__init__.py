"""The providers, on the wire code of `amplifier_providers`."""
