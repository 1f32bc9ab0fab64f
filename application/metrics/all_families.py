"""Every metric there is, in the order of docs/metrics.md."""

from __future__ import annotations

from types import ModuleType

from application.metrics.families import jmx, kafka_exporter, others, own, process
from application.metrics.families.family import Family


def _families_of(table: ModuleType) -> tuple[Family, ...]:
    return tuple(each for each in vars(table).values() if isinstance(each, Family))


SECTIONS: dict[str, tuple[Family, ...]] = {
    "kafka_exporter's": _families_of(kafka_exporter),
    "Kafka's, as the JMX exporter has them": _families_of(jmx),
    "Redpanda's and kminion's": _families_of(others),
    "Ottla's own": _families_of(own),
    "The process": _families_of(process),
}

FAMILIES: tuple[Family, ...] = tuple(one for section in SECTIONS.values() for one in section)
