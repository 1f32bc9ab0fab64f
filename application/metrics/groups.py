"""What is read of consumer groups, and how far behind they are, a slice at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from application.groups.lag import lag_behind, log_end_offset
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families import others, own
from application.metrics.families.family import Reading, Sample, in_readings
from application.state.catalog import Catalog

#: Committed offsets that are read before other jobs may run.
LOOKED_AT_ONCE = 50
#: As kafka_exporter, if the log cannot be read. Without a sample: other brokers lead the partition.
UNKNOWN_LAG = -1


class GroupReadings:
    def __init__(self, groups: Groups, offsets: Offsets, catalog: Catalog) -> None:
        self._groups = groups
        self._offsets = offsets
        self._catalog = catalog

    def read(self) -> Iterator[Reading]:
        yield from self._of_groups()
        yield from self._of_offsets()

    def _of_groups(self) -> Iterator[Reading]:
        states: Counter[tuple[str, ...]] = Counter()
        members: list[Sample] = []
        joining = 0
        for number, group in enumerate(list(self._groups)):
            states[group.kind.value, group.state_name] += 1
            members.append(((group.group_id,), len(group.members)))
            joining += group.joining
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield own.GROUPS, []
        yield own.GROUPS, list(states.items())
        yield own.WAITING_JOINS, [((), joining)]
        for family in (exporter.GROUP_MEMBERS, others.KMINION_GROUP_MEMBERS):
            yield from in_readings(family, iter(members))

    def _of_offsets(self) -> Iterator[Reading]:
        offsets: list[Sample] = []
        lags: list[Sample] = []
        sums: dict[tuple[str, ...], list[int]] = {}
        elsewhere: set[tuple[str, ...]] = set()
        for group_id in self._offsets.group_ids():
            for topic, partitions in list(self._offsets.of(group_id).items()):
                for partition, committed in list(partitions.items()):
                    place = group_id, topic, str(partition)
                    offsets.append((place, committed.offset))
                    of_topic = sums.setdefault((group_id, topic), [0, 0])
                    of_topic[0] += committed.offset
                    if self._catalog.is_elsewhere(topic, partition):
                        elsewhere.add((group_id, topic))
                    else:
                        lag = self._lag(topic, partition, committed.offset)
                        lags.append((place, lag))
                        of_topic[1] += max(lag, 0)
                    if len(offsets) % LOOKED_AT_ONCE == 0:
                        yield exporter.GROUP_OFFSET, []
            yield exporter.GROUP_OFFSET, []
        yield from in_readings(exporter.GROUP_OFFSET, iter(offsets))
        yield from in_readings(exporter.GROUP_LAG, iter(lags))
        yield from in_readings(
            exporter.GROUP_OFFSET_SUM, ((key, offset) for key, (offset, _) in sums.items())
        )
        for family in (exporter.GROUP_LAG_SUM, others.KMINION_GROUP_TOPIC_LAG):
            # A sum without those of other brokers would be too low, and an alert silent.
            known = ((key, lag) for key, (_, lag) in sums.items() if key not in elsewhere)
            yield from in_readings(family, known)

    def _lag(self, topic_name: str, index: int, offset: int) -> int:
        lag = lag_behind(log_end_offset(self._catalog, topic_name, index), offset)
        return UNKNOWN_LAG if lag is None else lag
