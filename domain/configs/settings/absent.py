"""Broker settings of Kafka that Ottla does not have, by the reason.

Files for Kafka have many of them. They are named in a warning with the reason; other unknown names
are named in another one, because they may be misspelt.
"""

from __future__ import annotations

NO_CONTROLLERS = "there are no KRaft controllers"
#: Names by reason; a dot at the end stands for all names that begin so.
ABSENT: dict[str, tuple[str, ...]] = {
    NO_CONTROLLERS: (
        "process.roles",
        "controller.listener.names",
        "controller.quorum.",
        "controller.socket.timeout.ms",
        "early.start.listeners",
        "sasl.mechanism.controller.protocol",
        "initial.broker.registration.timeout.ms",
        "metadata.",
    ),
    "brokers do not talk to each other": (
        "ssl.endpoint.identification.algorithm",
        "inter.broker.",
        "security.inter.broker.protocol",
        "sasl.mechanism.inter.broker.protocol",
        "sasl.login.",
        "sasl.oauthbearer.assertion.",
        "sasl.oauthbearer.client.credentials.",
        "sasl.oauthbearer.jwt.retriever.class",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "controlled.shutdown.enable",
        "replica.fetch.",
        "replica.high.watermark.checkpoint.interval.ms",
        "replica.lag.time.max.ms",
        "replica.socket.",
        "num.replica.fetchers",
        "replication.quota.",
        "request.timeout.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
    ),
    "there is one data folder": (
        "alter.log.dirs.",
        "num.replica.alter.log.dirs.threads",
        "log.dir.failure.timeout.ms",
    ),
    "there are no segment files": (
        "log.flush.offset.checkpoint.interval.ms",
        "log.flush.start.offset.checkpoint.interval.ms",
        "num.recovery.threads.per.data.dir",
    ),
    "one loop serves all requests": (
        "num.io.threads",
        "num.network.threads",
        "background.threads",
        "group.coordinator.threads",
        "queued.max.requests",
        "delete.records.purgatory.purge.interval.requests",
        "fetch.purgatory.purge.interval.requests",
        "producer.purgatory.purge.interval.requests",
    ),
    "records of __consumer_offsets are not compressed": ("offsets.topic.compression.codec",),
    "groups and committed offsets are not read from a topic": (
        "offsets.load.buffer.size",
        "offsets.commit.timeout.ms",
        "group.coordinator.append.linger.ms",
    ),
    "the operating system decides": (
        "socket.receive.buffer.bytes",
        "socket.send.buffer.bytes",
        "socket.listen.backlog.size",
    ),
    "OpenSSL decides": (
        "ssl.engine.factory.class",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
        "security.providers",
    ),
    "the names in renewed certificates are not compared": (
        "ssl.allow.dn.changes",
        "ssl.allow.san.changes",
    ),
    "there are no plugins of Kafka for principals": ("principal.builder.class",),
    "Kerberos is not built": ("sasl.kerberos.",),
    "delegation tokens are not built": ("delegation.token.",),
    "transactions are not read from a topic": ("transaction.state.log.load.buffer.size",),
    "partitions of a transaction are always verified": (
        "transaction.partition.verification.enable",
        "add.partitions.to.txn.retry.backoff.ms",
        "add.partitions.to.txn.retry.backoff.max.ms",
    ),
    "two-phase commit is not built": ("transaction.two.phase.commit.enable",),
    "share groups and streams groups are not built": (
        "group.share.",
        "share.",
        "group.streams.",
    ),
    "there is no tiered storage": ("remote.",),
    "there are no plugins": (
        "alter.config.policy.class.name",
        "create.topic.policy.class.name",
        "sasl.client.callback.handler.class",
        "sasl.oauthbearer.jwt.validator.class",
        "sasl.server.callback.handler.class",
        "client.quota.callback.class",
        "config.providers",
        "metric.reporters",
        "metrics.",
        "kafka.metrics.",
        "telemetry.max.bytes",
    ),
}


def why_absent(name: str) -> str | None:
    for reason, names in ABSENT.items():
        if any(name == one or (one.endswith(".") and name.startswith(one)) for one in names):
            return reason
    return None
