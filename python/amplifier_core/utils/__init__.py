"""Small tools that modules share."""

from .truncate import SENSITIVE_KEYS, redact_secrets, truncate_values

__all__ = ["SENSITIVE_KEYS", "redact_secrets", "truncate_values"]
