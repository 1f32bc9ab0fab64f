"""The log of the broker itself."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class LogSettings:
    log_requests: str = setting(
        "log.requests",
        STRING,
        "errors",
        "Which requests are logged: all, slow (and failed) ones, failed ones (errors), or none "
        "(off). Of failed and slow ones 100 a second for each host; with all, each one.",
        choices=("all", "slow", "errors", "off"),
    )
    log_requests_sample: int = setting(
        "log.requests.sample",
        INT,
        1,
        "With log.requests=all, one of this many requests is logged; slow and failed ones always.",
        minimum=1,
    )
    log_requests_slow_ms: int = setting(
        "log.requests.slow.ms",
        INT,
        500,
        "A request that takes this long is slow; the wait for data does not count.",
        minimum=0,
        unit="ms",
    )
    requests_recent_max: int = setting(
        "requests.recent.max",
        INT,
        10000,
        "How many recent requests are available over HTTP, and as many that failed or were slow; "
        "about 400 bytes each. 0: none.",
        minimum=0,
    )
    log_format: str | None = setting(
        "log.format",
        STRING,
        None,
        "The format of log lines; not set: console on a terminal, else json. console has local "
        "time with its UTC offset, json has UTC.",
        choices=("console", "json"),
    )
