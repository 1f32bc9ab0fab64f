"""Errors that librdkafka retries until message.timeout.ms, like KAFKA_STORAGE_ERROR.

The delivery report says only that the record timed out; the debug log names the error.
"""

from __future__ import annotations

import re
from typing import Any

_RETRIED = re.compile(r"encountered error: (.+?) \(actions ")


class RetriedErrors:
    """A logger for librdkafka that keeps the newest error in a response to Produce.

    Delivery reports of success clear `newest`, as do errors of the client itself.
    """

    def __init__(self) -> None:
        self.newest = ""

    @property
    def options(self) -> dict[str, Any]:
        return {"debug": "msg", "log_level": 7, "logger": self}

    def log(self, _level: int, _format: str, *facts: Any) -> None:
        if found := _RETRIED.search(str(facts[-1])):
            self.newest = found[1]
