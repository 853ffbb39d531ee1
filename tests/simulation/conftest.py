"""Simulated sessions: whole agents on a virtual clock, in an order that a seed decides."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
