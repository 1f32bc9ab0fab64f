"""What a producer has to send: batches, in order for each partition."""

from __future__ import annotations


class Batch:
    def __init__(self, lane: Lane, values: tuple[str, ...], sequence: int) -> None:
        self.lane = lane
        self.values = values
        self.sequence = sequence
        self.data = b""
        self.tries = 0
        self.in_flight = False
        #: A try of it was committed before the latest try arrived.
        self.was_stored = False
        #: Its latest try did not arrive as it was sent.
        self.spoiled = False


class Lane:
    """What is to go to one partition, in order."""

    def __init__(self, topic: str, index: int) -> None:
        self.topic = topic
        self.index = index
        self.sequence = 0
        self.unacked: list[Batch] = []
        #: After a failure nothing is sent until all that was in flight has come back.
        self.recovering = False
        #: Something of this producer is in the log.
        self.stored = False
        #: How often the topic had been deleted when the producer last looked before it began.
        self.deletions: int | None = None
