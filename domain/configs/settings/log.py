"""The log of the broker itself."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class LogSettings:
    log_requests: str = setting(
        "log.requests",
        STRING,
        "errors",
        "Requests that get a line in the log: all, slow (and failed) ones, failed ones "
        "(errors), or off.",
        choices=("all", "slow", "errors", "off"),
    )
    log_requests_sample: int = setting(
        "log.requests.sample",
        INT,
        1,
        "With log.requests=all, one in so many requests; slow and failed ones always.",
        minimum=1,
    )
    log_requests_slow_ms: int = setting(
        "log.requests.slow.ms",
        INT,
        500,
        "A request that takes this long, without its time of waiting for data, is slow.",
        minimum=0,
        unit="ms",
    )
    requests_recent_max: int = setting(
        "requests.recent.max",
        INT,
        10000,
        "The newest requests that are remembered, for those who ask over HTTP, and as many that "
        "failed or were slow, which stay for longer; about 400 bytes each. 0: none.",
        minimum=0,
    )
    log_format: str | None = setting(
        "log.format",
        STRING,
        None,
        "How log lines look; without it, console on a terminal and json elsewhere. console has "
        "local time with its UTC offset, json has UTC.",
        choices=("console", "json"),
    )
