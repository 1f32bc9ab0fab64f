"""Times as users write them, over REST and on the command line."""

from __future__ import annotations

from datetime import UTC, datetime


def milliseconds_of(text: str) -> int:
    """Of ISO 8601, since 1970. Without a zone it is UTC, as in kafka-consumer-groups --to-datetime.

    Raises ValueError.
    """
    try:
        time = datetime.fromisoformat(text)
        return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except OverflowError as overflow:
        raise ValueError(str(overflow)) from overflow
