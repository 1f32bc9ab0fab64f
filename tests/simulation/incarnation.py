from __future__ import annotations


class Incarnation:
    """A topic from its creation to its deletion, by commit numbers; it may be extended."""

    def __init__(self, name: str, topic_id: bytes, born: int) -> None:
        self.name = name
        self.topic_id = topic_id
        self.born = born
        self.dead: int | None = None
        self.partition_ids: list[int] = []
        #: The commit that created each partition.
        self.since: list[int] = []

    def had(self, index: int, first: int, last: int) -> bool:
        """Returns True if the partition existed all the time between the two commits."""
        return (
            index < len(self.since)
            and self.since[index] <= first
            and (self.dead is None or self.dead > last)
        )
