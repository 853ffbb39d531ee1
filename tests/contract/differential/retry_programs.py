"""Programs over retries: configs, delays, calls and the classes of errors."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

ENGINE = "amplifier_core._engine"
RETRY = "amplifier_core.utils.retry"


def program(name: str, *steps: Step) -> Step:
    return {
        "id": f"retry: {name}",
        "steps": list(steps),
        "needs": [RETRY, f"{ENGINE}:compute_delay"],
    }


def config(**options: Any) -> Step:
    return {"do": "retry_config", **options}


def retry(*failures: Step, **more: Any) -> Step:
    return {"do": "retry", "failures": list(failures), **more}


def failure(type: str, **fields: Any) -> Step:
    return {"type": type, "text": f"a {type}", **fields}


NO_JITTER = {"jitter": False}
TEXTS = [
    "Rate Limit hit",
    "too many requests",
    "maximum context length",
    "too long",
    "token limit",
    "invalid API key",
    "unauthorized",
    "not found",
    "blocked by safety",
    "content filter",
    "timed out",
    "overloaded",
    "503",
    "429 rate_limit",
    "401",
    "404",
    "unavailable",
    "nothing special",
    "",
]


def programs(random: Random) -> list[Step]:
    made = [
        program(
            "the config",
            config(),
            config(arguments=[5, 2.0, 30.0, 3.0, False]),
            config(max_retries=0),
            config(honor_retry_after=False),
        ),
        *[
            program(f"jitter {jitter!r}", config(jitter=jitter))
            for jitter in (None, True, False, 0.2, 0, 1, 0.0, "yes")
        ],
        program(
            "older names",
            config(min_delay=4.0),
            config(backoff_multiplier=5.0),
            config(min_delay=4.0, initial_delay=2.0),
            *[
                {"do": "read", "of": "config", "name": name}
                for name in ("min_delay", "backoff_multiplier")
            ],
        ),
        program(
            "bad configs",
            config(max_retries=-1),
            config(max_retries="three"),
            config(initial_delay="x"),
            config(max_retries=1.5),
        ),
        program(
            "a config stays",
            config(),
            {"do": "write", "of": "config", "name": "max_retries", "value": 9},
            {"do": "read", "of": "config", "name": "max_retries"},
        ),
        program(
            "delays",
            config(**NO_JITTER),
            *[{"do": "delay", "attempt": n} for n in (0, 1, 2, 5, 6, 50)],
            {"do": "delay", "attempt": 0, "retry_after": 5.0},
            {"do": "delay", "attempt": 9, "retry_after": 5.0},
            {"do": "delay", "attempt": 0, "retry_after": 500.0},
            {"do": "delay", "attempt": 1, "delay_multiplier": 10.0},
            {"do": "delay", "attempt": 9, "delay_multiplier": 10.0},
            *[
                {"do": "delay", "attempt": 1, "delay_multiplier": value}
                for value in (0.0, -1.0, {"$": ["nan"]}, {"$": ["infinity"]})
            ],
            {"do": "delay", "attempt": 1, "retry_after": 3.0, "delay_multiplier": 2.0},
        ),
        program(
            "delays of many attempts",
            config(**NO_JITTER),
            *[{"do": "delay", "attempt": n} for n in (1000, 2**31 - 1)],
        ),
        program(
            "a delay of an attempt beyond 32 bits",
            config(**NO_JITTER),
            {"do": "delay", "attempt": 2**31},
        ),
        program(
            "delays that are not allowed",
            config(**NO_JITTER),
            {"do": "delay", "attempt": -1},
            {"do": "delay", "attempt": "x"},
        ),
        program(
            "jitter",
            config(jitter=True),
            {"do": "delay_range", "attempt": 2, "low": 2.0, "high": 6.0},
        ),
        program(
            "jitter and what the server asks",
            config(jitter=True),
            {"do": "delay_range", "attempt": 0, "retry_after": 10.0, "low": 10.0, "high": 15.0},
        ),
        program(
            "a server that is not honoured",
            config(jitter=False, honor_retry_after=False),
            {"do": "delay", "attempt": 0, "retry_after": 50.0},
        ),
        program(
            "retrying",
            config(**NO_JITTER),
            retry(),
            retry(failure("RateLimitError")),
            retry(failure("NetworkError"), failure("LLMTimeoutError"), failure("StreamError")),
            retry(*[failure("ProviderUnavailableError")] * 4),
        ),
        program(
            "not retrying",
            config(**NO_JITTER),
            retry(failure("AuthenticationError")),
            retry(failure("QuotaExceededError")),
            retry(failure("ValueError")),
            retry(failure("TimeoutError")),
            retry(failure("CancelledError")),
            retry(failure("RateLimitError"), failure("ValueError")),
        ),
        program(
            "told otherwise",
            config(**NO_JITTER),
            retry(failure("RateLimitError", retryable=False)),
            retry(failure("AuthenticationError", retryable=True)),
        ),
        program(
            "waiting as told",
            config(**NO_JITTER),
            retry(
                failure("RateLimitError", retry_after=7.0),
                failure("ProviderUnavailableError", delay_multiplier=10.0),
                failure("NetworkError", retry_after=100.0),
            ),
        ),
        program(
            "nobody watches",
            config(**NO_JITTER),
            retry(failure("RateLimitError"), watches=False),
            retry(failure("ValueError"), watches=False),
        ),
        program("one call", config(max_retries=0), retry(failure("RateLimitError"))),
        *[
            program(
                f"classes of {text!r}",
                {"do": "classify", "message": text},
                {"do": "classify", "message": text, "status_code": 400},
                {"do": "classify", "message": text, "provider": "p"},
            )
            for text in TEXTS
        ],
        program(
            "classes of codes",
            *[
                {"do": "classify", "message": "x", "status_code": code}
                for code in (
                    400,
                    401,
                    402,
                    403,
                    404,
                    408,
                    413,
                    422,
                    429,
                    500,
                    503,
                    529,
                    599,
                    600,
                    200,
                    0,
                )
            ],
        ),
        {
            "id": "retry: words of messages",
            "needs": [f"{ENGINE}:classify_error_message"],
            "steps": [{"do": "classify_word", "message": text} for text in TEXTS],
        },
        {
            "id": "retry: provider errors",
            "needs": [f"{ENGINE}:ProviderError"],
            "steps": [
                {"do": "provider_error", "message": "m", **options}
                for options in (
                    {},
                    {"provider": "p", "model": "mm", "retry_after": 1.5, "retryable": True},
                    {"delay_multiplier": 5.0, "error_type": "RateLimit"},
                    {"provider": 'a"b'},
                )
            ],
        },
    ]
    for number in range(6):
        options = {
            "initial_delay": random.choice([0.5, 1.0, 3.0]),
            "max_delay": random.choice([5.0, 60.0]),
            "backoff_factor": random.choice([1.0, 2.0, 3.5]),
            "max_retries": random.randint(0, 5),
            **NO_JITTER,
        }
        failures = [
            failure(
                random.choice(["RateLimitError", "NetworkError", "LLMTimeoutError"]),
                retry_after=random.choice([None, 2.0, 90.0]),
            )
            for _ in range(random.randint(0, 6))
        ]
        made.append(program(f"calls {number}", config(**options), retry(*failures)))
    return made
