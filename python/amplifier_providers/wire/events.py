"""The events that providers emit in addition to those of the kernel."""

from __future__ import annotations

PROVIDER_CONCURRENCY = "provider:concurrency"
"""A call waits until another one is over."""
PROVIDER_FALLBACK = "provider:fallback"
"""A model is overloaded, and another one is asked in its place."""
PROVIDER_CLOUDFLARE_CHALLENGE = "provider:cloudflare_challenge"
"""A page that wants to see a person answered in the place of the service."""
PROVIDER_PULL_PROGRESS = "provider:pull_progress"
"""A model is being downloaded to the server."""
