"""The rows of the security inputs, the surfaces they go to and their judges lie beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
