"""What the first request of a process costs, against the same call by httpx2 alone.

Each measurement is a process of its own, in turns. `call` is the CPU time from the request, which is
there, to its answer, with everything that is imported for it; `process` is that of the whole process.
The certificates of authorities are loaded by neither side: the server speaks plain HTTP.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

from model_server import model_server

BARE = """
import asyncio, time

async def main():
    started = time.process_time()
    import ssl, httpx2
    async with httpx2.AsyncClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)) as client:
        async with client.stream("POST", {address!r} + {path!r}, json={{}}) as response:
            async for chunk in response.aiter_bytes():
                pass
    print(time.process_time() - started, time.process_time())

asyncio.run(main())
"""
OURS = """
import asyncio, time
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import {module} as module

class Place:
    hooks = None

    async def mount(self, point, provider, name=None):
        self.provider = provider

async def main():
    place = Place()
    config = {{"api_key": "none", "base_url": {address!r}, "default_model": "bench"}}
    await module.mount(place, config)
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    started = time.process_time()
    await place.provider.complete(request)
    print(time.process_time() - started, time.process_time())
    await place.provider.close()

asyncio.run(main())
"""
PROVIDERS = {
    "anthropic": ("", "/v1/messages"),
    "openai": ("/v1", "/responses"),
    "openai_chat": ("/v1", "/chat/completions"),
    "ollama": ("", "/api/chat"),
}
LIMIT_MILLISECONDS = 25


def milliseconds(program: str) -> list[float]:
    """The two times that a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [1e3 * float(part) for part in done.stdout.split()]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="not needed: httpx2 alone is in the same environment")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    print("| provider | httpx2 | ours | more | limit | |\n|---|---|---|---|---|---|")
    with model_server() as server:
        for module, (prefix, path) in PROVIDERS.items():
            address = f"{server}/text/5{prefix}"
            pairs = [
                (
                    milliseconds(BARE.format(address=address, path=path)),
                    milliseconds(OURS.format(address=address, module=module)),
                )
                for _ in range(rounds)
            ]
            for place, what in enumerate(("call", "process")):
                bare, own = (
                    statistics.median(pair[side][place] for pair in pairs) for side in (0, 1)
                )
                more = statistics.median(pair[1][place] - pair[0][place] for pair in pairs)
                verdict = "reached" if more <= LIMIT_MILLISECONDS else "MISSED"
                row = f"{bare:.1f} ms | {own:.1f} ms | {more:+.1f} ms | {LIMIT_MILLISECONDS} ms"
                print(f"| {module}, {what} | {row} | {verdict} |")


if __name__ == "__main__":
    main()
