"""The progress of a model that is downloaded."""

from __future__ import annotations

from collections.abc import Iterator

from ..serving.reading import Json

_DIGEST = "sha256:3e4cb14174460404e7a233e531675303b2fbf7749c02f91864fe311ab6344e4f"
_BYTES = 5_225_374_720
_STEPS = 200


def pull_lines(*, is_known: bool) -> Iterator[Json]:
    """Yield what `/api/pull` says, for a model that can be pulled or for one that nobody knows."""
    yield {"status": "pulling manifest"}
    if not is_known:
        yield {"error": "pull model manifest: file does not exist"}
        return
    layer: Json = {"status": "pulling 3e4cb1417446", "digest": _DIGEST, "total": _BYTES}
    yield layer
    for step in range(_STEPS + 1):
        yield {**layer, "completed": _BYTES * step // _STEPS}
    yield {"status": "verifying sha256 digest"}
    yield {"status": "writing manifest"}
    yield {"status": "success"}
