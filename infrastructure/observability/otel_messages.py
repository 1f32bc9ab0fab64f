"""What is read becomes OTLP in protobuf, a reading at a time.

The whole message is one large one, and encoding it at once would hold the loop. But protobuf lets
parts of a message stand one behind the other: what is encoded of each reading is a further part of
the one ResourceMetrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    Gauge,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Histogram as HistogramMetric
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from application.metrics.families.family import Histogram, Kind, Reading, Sample

SCOPE = "ottla"
#: Field 1 of ExportMetricsServiceRequest, which has a length.
_RESOURCE_METRICS = b"\x0a"


class OtelMessages:
    """Of one export: `started_ns` is when counting began, both since 1970."""

    def __init__(self, started_ns: int, now_ns: int) -> None:
        self._started_ns = started_ns
        self._now_ns = now_ns

    def beginning(self, resource: Mapping[str, str]) -> bytes:
        of = Resource(attributes=_attributes(resource.items()))
        return bytes(ResourceMetrics(resource=of).SerializeToString())

    def of(self, reading: Reading) -> bytes:
        family, samples = reading
        if not samples:
            return b""
        metric = Metric(name=family.name, description=family.help)
        if family.kind is Kind.HISTOGRAM:
            histograms = [self._histogram(family.labels, sample) for sample in samples]
            metric.histogram.CopyFrom(
                HistogramMetric(
                    data_points=histograms,
                    aggregation_temporality=AGGREGATION_TEMPORALITY_CUMULATIVE,
                )
            )
        elif family.kind is Kind.COUNTER:
            numbers = [self._number(family.labels, sample) for sample in samples]
            metric.sum.CopyFrom(
                Sum(
                    data_points=numbers,
                    aggregation_temporality=AGGREGATION_TEMPORALITY_CUMULATIVE,
                    is_monotonic=True,
                )
            )
        else:
            numbers = [self._number(family.labels, sample) for sample in samples]
            metric.gauge.CopyFrom(Gauge(data_points=numbers))
        scope = ScopeMetrics(scope=InstrumentationScope(name=SCOPE), metrics=[metric])
        return bytes(ResourceMetrics(scope_metrics=[scope]).SerializeToString())

    def _number(self, labels: tuple[str, ...], sample: Sample) -> NumberDataPoint:
        values, value = sample
        point = NumberDataPoint(**self._facts(labels, values))
        if isinstance(value, int):
            point.as_int = value
        else:
            assert isinstance(value, float)
            point.as_double = value
        return point

    def _histogram(self, labels: tuple[str, ...], sample: Sample) -> HistogramDataPoint:
        values, value = sample
        assert isinstance(value, Histogram)
        return HistogramDataPoint(
            count=value.count,
            sum=value.sum,
            bucket_counts=value.counts,
            explicit_bounds=value.bounds,
            **self._facts(labels, values),
        )

    def _facts(self, labels: tuple[str, ...], values: tuple[str, ...]) -> dict[str, Any]:
        return {
            "attributes": _attributes(zip(labels, values, strict=True)),
            "start_time_unix_nano": self._started_ns,
            "time_unix_nano": self._now_ns,
        }


def _attributes(facts: Iterable[tuple[str, str]]) -> list[KeyValue]:
    return [KeyValue(key=name, value=AnyValue(string_value=text)) for name, text in facts]


def whole_request(parts: list[bytes]) -> bytes:
    """An ExportMetricsServiceRequest of all that was encoded."""
    length = sum(map(len, parts))
    size = bytearray()
    while length > 127:
        size.append(length & 127 | 128)
        length >>= 7
    size.append(length)
    return b"".join([_RESOURCE_METRICS, bytes(size), *parts])
