"""Every metric there is, in the order of docs/metrics.md."""

from __future__ import annotations

from application.metrics.families import jmx, kafka_exporter, others, own, process
from application.metrics.families.family import Family

SECTIONS: dict[str, tuple[Family, ...]] = {
    "kafka_exporter's": kafka_exporter.FAMILIES,
    "Kafka's, as the JMX exporter has them": jmx.FAMILIES,
    "Redpanda's and kminion's": others.FAMILIES,
    "Ottla's own": own.FAMILIES,
    "The process": process.FAMILIES,
}

FAMILIES: tuple[Family, ...] = tuple(one for section in SECTIONS.values() for one in section)
