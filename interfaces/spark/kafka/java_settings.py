"""What becomes of the settings of a Java client that are no numbers: lists, and nothing else."""

from __future__ import annotations

#: librdkafka's name for the same.
RENAMED = {
    "sasl.oauthbearer.assertion.template.file": "sasl.oauthbearer.assertion.jwt.template.file",
}
#: Of the Java client alone; without them, nothing is read or written differently.
PASSED_OVER = (
    "auto.include.jmx.reporter",
    "default.api.timeout.ms",
    "exclude.internal.topics",
    "max.block.ms",
    "max.poll.records",
    "metadata.max.idle.ms",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "partition.assignment.strategy",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.class",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    # Of who checks a token, which is the broker.
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.scope.claim.name",
    "security.providers",
    # Nobody is a member of a share group here, or writes in transactions.
    "share.acknowledgement.mode",
    "share.acquire.mode",
    "socket.connection.setup.timeout.max.ms",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
    "transaction.two.phase.commit.enable",
)
#: Names that begin so are no settings for users.
INTERNAL = "internal."
_IS_JAVA = "it is a class of Java"
_IN_CHECKPOINT = "offsets are kept in the checkpoint of the query, not in a group"
REFUSED = {
    "auto.offset.reset": "the options startingOffsets and failOnDataLoss say where reading starts",
    "bootstrap.controllers": "records are with brokers: kafka.bootstrap.servers",
    "config.providers": "values are taken as they are; what provides others is a class of Java",
    "enable.auto.commit": _IN_CHECKPOINT,
    "enable.auto.offset.store": _IN_CHECKPOINT,
    "interceptor.classes": "an interceptor could change keys and values, and is a class of Java",
    "key.deserializer": "keys are read as bytes; columns are cast in the query",
    "key.serializer": "keys are written as bytes or text; columns are cast in the query",
    "value.deserializer": "values are read as bytes; columns are cast in the query",
    "value.serializer": "values are written as bytes or text; columns are cast in the query",
    "sasl.client.callback.handler.class": _IS_JAVA,
    "sasl.login.callback.handler.class": _IS_JAVA,
    "sasl.login.class": _IS_JAVA,
    "sasl.oauthbearer.jwt.retriever.class": (
        f"{_IS_JAVA}; kafka.sasl.oauthbearer.method=oidc is how librdkafka gets a token"
    ),
    "sasl.oauthbearer.jwt.validator.class": f"{_IS_JAVA}; the broker checks tokens",
    "ssl.engine.factory.class": _IS_JAVA,
}
FLAGS = (
    "allow.auto.create.topics",
    "check.crcs",
    "enable.idempotence",
    "enable.metrics.push",
    "partitioner.ignore.keys",
    "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.header.urlencode",
)
#: In lower case, as librdkafka spells them.
CHOICES = {
    "acks": ("all", "-1", "0", "1"),
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "compression.type": ("none", "gzip", "snappy", "lz4", "zstd"),
    "group.protocol": ("classic", "consumer"),
    "isolation.level": ("read_uncommitted", "read_committed"),
    "security.protocol": ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
}
#: The same in both, and text: for suggestions only, as any other name goes to librdkafka.
SAME = (
    "bootstrap.servers",
    "client.id",
    "client.rack",
    "group.id",
    "group.instance.id",
    "group.remote.assignor",
    "sasl.jaas.config",
    "sasl.mechanism",
    "sasl.password",
    "sasl.username",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "transactional.id",
)
