"""What the JMX exporter makes of Kafka's own metrics, with the rules that most boards expect."""

from __future__ import annotations

from application.metrics.families.family import Family, Kind

_COUNTER, _GAUGE = Kind.COUNTER, Kind.GAUGE
_OF_TOPIC = "kafka_server_brokertopicmetrics"
_REQUESTS = "kafka_network_requestmetrics"

MESSAGES_IN = Family(
    f"{_OF_TOPIC}_messagesin_total",
    _COUNTER,
    "Records that were ever appended to the topic (MessagesInPerSec).",
    ("topic",),
)
BYTES_IN = Family(
    f"{_OF_TOPIC}_bytesin_total",
    _COUNTER,
    "Bytes of batches appended to the topic since the start (BytesInPerSec).",
    ("topic",),
)
BYTES_OUT = Family(
    f"{_OF_TOPIC}_bytesout_total",
    _COUNTER,
    "Bytes of records of the topic in answers to fetches (BytesOutPerSec).",
    ("topic",),
)
PRODUCE_REQUESTS = Family(
    f"{_OF_TOPIC}_totalproducerequests_total",
    _COUNTER,
    "Batches that were to be appended to the topic (TotalProduceRequestsPerSec).",
    ("topic",),
)
FETCH_REQUESTS = Family(
    f"{_OF_TOPIC}_totalfetchrequests_total",
    _COUNTER,
    "Partitions of the topic in answered fetches (TotalFetchRequestsPerSec).",
    ("topic",),
)
FAILED_PRODUCE = Family(
    f"{_OF_TOPIC}_failedproducerequests_total",
    _COUNTER,
    "Batches for the topic that were refused (FailedProduceRequestsPerSec).",
    ("topic",),
)
FAILED_FETCH = Family(
    f"{_OF_TOPIC}_failedfetchrequests_total",
    _COUNTER,
    "Partitions of the topic in answered fetches that had an error (FailedFetchRequestsPerSec).",
    ("topic",),
)
REQUESTS = Family(
    f"{_REQUESTS}_requests_total", _COUNTER, "Answered requests.", ("request", "version")
)
TOTAL_TIME_MS = Family(
    f"{_REQUESTS}_totaltimems",
    _GAUGE,
    "How long requests took since the start, up to their answer (TotalTimeMs).",
    ("request", "quantile"),
)
REQUEST_ERRORS = Family(
    f"{_REQUESTS}_errors_total",
    _COUNTER,
    "Answered requests in whose answer the error occurs.",
    ("request", "error"),
)
PARTITION_COUNT = Family(
    "kafka_server_replicamanager_partitioncount", _GAUGE, "Partitions of all topics."
)
LEADER_COUNT = Family(
    "kafka_server_replicamanager_leadercount", _GAUGE, "Partitions of all topics: all are led here."
)
UNDER_REPLICATED = Family(
    "kafka_server_replicamanager_underreplicatedpartitions", _GAUGE, "Always 0."
)
ACTIVE_CONTROLLERS = Family(
    "kafka_controller_kafkacontroller_activecontrollercount", _GAUGE, "Always 1."
)
OFFLINE_PARTITIONS = Family(
    "kafka_controller_kafkacontroller_offlinepartitionscount",
    _GAUGE,
    "Partitions in use whose log cannot be read.",
)
LOG_SIZE = Family(
    "kafka_log_log_size",
    _GAUGE,
    "Bytes of batches that are kept of the partition (Log, Size).",
    ("topic", "partition"),
)
#: kafbat shows what broker and topics take in and give out when it finds these two.
BROKER_RATE = Family(
    "kafka_server_BrokerTopicMetrics_FifteenMinuteRate",
    _GAUGE,
    "Bytes a second of all topics, averaged over a quarter of an hour.",
    ("name",),
)
TOPIC_RATE = Family(
    "kafka_server_BrokerTopicMetrics_Topic_FifteenMinuteRate",
    _GAUGE,
    "Bytes a second of the topic, averaged over a quarter of an hour.",
    ("name", "topic"),
)

FAMILIES = (
    MESSAGES_IN, BYTES_IN, BYTES_OUT, PRODUCE_REQUESTS, FETCH_REQUESTS, FAILED_PRODUCE,
    FAILED_FETCH, REQUESTS, TOTAL_TIME_MS, REQUEST_ERRORS, PARTITION_COUNT, LEADER_COUNT,
    UNDER_REPLICATED, ACTIVE_CONTROLLERS, OFFLINE_PARTITIONS, LOG_SIZE, BROKER_RATE, TOPIC_RATE,
)  # fmt: skip
