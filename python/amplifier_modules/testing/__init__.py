"""For the tests of people who write modules."""

from __future__ import annotations
