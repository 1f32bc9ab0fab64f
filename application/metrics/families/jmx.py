"""What the JMX exporter makes of Kafka's own metrics, with the rules that most boards expect."""

from __future__ import annotations

from application.metrics.families.family import Family, counter, gauge

_REQUESTS = "kafka_network_requestmetrics"


def _of_topic(name: str, text: str) -> Family:
    return counter(f"kafka_server_brokertopicmetrics_{name}_total", text, "topic")


MESSAGES_IN = _of_topic(
    "messagesin",
    "Records appended to the topic since its creation (MessagesInPerSec); to partitions that other "
    "brokers have led, while this one leads them.",
)
BYTES_IN = _of_topic(
    "bytesin", "Bytes of batches appended to the topic since the start (BytesInPerSec)."
)
BYTES_OUT = _of_topic(
    "bytesout", "Bytes of records of the topic in fetch responses (BytesOutPerSec)."
)
PRODUCE_REQUESTS = _of_topic(
    "totalproducerequests",
    "Batches produced to the topic, appended or refused (TotalProduceRequestsPerSec).",
)
FETCH_REQUESTS = _of_topic(
    "totalfetchrequests", "Partitions of the topic in fetch responses (TotalFetchRequestsPerSec)."
)
FAILED_PRODUCE = _of_topic(
    "failedproducerequests",
    "Batches for the topic that were refused (FailedProduceRequestsPerSec).",
)
FAILED_FETCH = _of_topic(
    "failedfetchrequests",
    "Partitions of the topic with an error in fetch responses (FailedFetchRequestsPerSec).",
)
REQUESTS = counter(f"{_REQUESTS}_requests_total", "Completed requests.", "request", "version")
TOTAL_TIME_MS = gauge(
    f"{_REQUESTS}_totaltimems",
    "Time from request to response since the start (TotalTimeMs).",
    "request",
    "quantile",
)
REQUEST_ERRORS = counter(
    f"{_REQUESTS}_errors_total",
    "Completed requests with the error in the response.",
    "request",
    "error",
)
PARTITION_COUNT = gauge(
    "kafka_server_replicamanager_partitioncount", "Partitions that have this broker as a replica."
)
LEADER_COUNT = gauge(
    "kafka_server_replicamanager_leadercount", "Partitions that this broker leads."
)
UNDER_REPLICATED = gauge(
    "kafka_server_replicamanager_underreplicatedpartitions",
    "Partitions that this broker leads, of which a replica is not alive.",
)
UNDER_MIN_ISR = gauge(
    "kafka_server_replicamanager_underminisrpartitioncount",
    "Partitions that this broker leads, of which the store has fewer copies than min.insync."
    "replicas (UnderMinIsrPartitionCount).",
)
LATE_TRANSACTIONS = gauge(
    "kafka_server_replicamanager_partitionswithlatetransactionscount",
    "Partitions with open transactions that the coordinator of this broker does not end "
    "(PartitionsWithLateTransactionsCount).",
)
ACTIVE_CONTROLLERS = gauge(
    "kafka_controller_kafkacontroller_activecontrollercount", "1: this broker is the controller."
)
ACTIVE_BROKERS = gauge(
    "kafka_controller_kafkacontroller_activebrokercount", "Brokers of the cluster that are alive."
)
FENCED_BROKERS = gauge(
    "kafka_controller_kafkacontroller_fencedbrokercount",
    "Registered brokers that are not alive.",
)
PREFERRED_IMBALANCE = gauge(
    "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
    "Partitions that their first replica does not lead; of the controller, else 0.",
)
OFFLINE_PARTITIONS = gauge(
    "kafka_controller_kafkacontroller_offlinepartitionscount",
    "Partitions of this broker in use whose log cannot be read; of the controller also those "
    "without a leader.",
)
LOG_SIZE = gauge(
    "kafka_log_log_size",
    "Bytes of batches in the log of the partition (Log, Size).",
    "topic",
    "partition",
)


def _of_client(quota: str, name: str, text: str) -> Family:
    return gauge(f"kafka_server_{quota}_{name}", text, "user", "client_id")


def _throttle_time(quota: str) -> Family:
    text = "Mean throttle time of throttled responses, in milliseconds (throttle-time)."
    return _of_client(quota, "throttle_time", text)


PRODUCE_BYTE_RATE = _of_client(
    "produce", "byte_rate", "Bytes per second of clients with a producer_byte_rate (byte-rate)."
)
PRODUCE_THROTTLE_TIME = _throttle_time("produce")
FETCH_BYTE_RATE = _of_client(
    "fetch", "byte_rate", "Bytes per second of clients with a consumer_byte_rate (byte-rate)."
)
FETCH_THROTTLE_TIME = _throttle_time("fetch")
REQUEST_TIME_PERCENT = _of_client(
    "request", "request_time", "Percent of the loop that clients with a request_percentage use."
)
REQUEST_THROTTLE_TIME = _throttle_time("request")
MUTATION_TOKENS = _of_client(
    "controllermutation", "tokens", "Partitions that clients may create and delete now (tokens)."
)
MUTATION_THROTTLE_TIME = _throttle_time("controllermutation")
_CLEANER = "kafka_log_logcleaner"
_MANAGER = "kafka_log_logcleanermanager"
RECOPY_PERCENT = gauge(
    f"{_CLEANER}_cleaner_recopy_percent",
    "Of the bytes that the last pass of compaction read, those that stay (cleaner-recopy-percent).",
)
MAX_CLEAN_TIME = gauge(
    f"{_CLEANER}_max_clean_time_secs",
    "Duration of the last pass of compaction (max-clean-time-secs).",
)
MAX_BUFFER_UTILIZATION = gauge(
    f"{_CLEANER}_max_buffer_utilization_percent",
    "How full the last pass left log.cleaner.dedupe.buffer.size (max-buffer-utilization-percent).",
)
MAX_COMPACTION_DELAY = gauge(
    f"{_CLEANER}_max_compaction_delay_secs",
    "The longest time beyond max.compaction.lag.ms that a log waited for the last run "
    "(max-compaction-delay-secs).",
)
MAX_DIRTY_PERCENT = gauge(
    f"{_MANAGER}_max_dirty_percent",
    "The dirty share of the log that was the dirtiest at the last look (max-dirty-percent).",
)
SINCE_LAST_RUN = gauge(
    f"{_MANAGER}_time_since_last_run_ms",
    "Time since the broker last looked for logs to compact (time-since-last-run-ms).",
)
UNCLEANABLE = gauge(
    f"{_MANAGER}_uncleanable_partitions_count",
    "Partitions whose compaction failed in the last run (uncleanable-partitions-count).",
)
UNCLEANABLE_BYTES = gauge(
    f"{_MANAGER}_uncleanable_bytes",
    "Bytes of these partitions that are not compacted (uncleanable-bytes).",
)
#: kafbat shows what broker and topics take in and give out when it finds these two.
BROKER_RATE = gauge(
    "kafka_server_BrokerTopicMetrics_FifteenMinuteRate",
    "Bytes a second of all topics, averaged over a quarter of an hour.",
    "name",
)
TOPIC_RATE = gauge(
    "kafka_server_BrokerTopicMetrics_Topic_FifteenMinuteRate",
    "Bytes a second of the topic, averaged over a quarter of an hour.",
    "name",
    "topic",
)
_LISTENER = "kafka_server_socket_server_metrics"


def _of_listener(name: str, text: str) -> Family:
    return counter(f"{_LISTENER}_{name}_total", text, "listener", "mechanism")


SUCCESSFUL_AUTHENTICATIONS = _of_listener(
    "successful_authentication",
    "Clients that authenticated by SASL (successful-authentication-total).",
)
FAILED_AUTHENTICATIONS = _of_listener(
    "failed_authentication", "Failed authentications by SASL (failed-authentication-total)."
)
SUCCESSFUL_REAUTHENTICATIONS = _of_listener(
    "successful_reauthentication",
    "Clients that authenticated again (successful-reauthentication-total).",
)
FAILED_REAUTHENTICATIONS = _of_listener(
    "failed_reauthentication",
    "Clients that failed to authenticate again (failed-reauthentication-total).",
)
EXPIRED_CONNECTIONS = counter(
    f"{_LISTENER}_expired_connections_killed_total",
    "Connections closed because the client did not authenticate again in time "
    "(expired-connections-killed-count).",
    "listener",
)
