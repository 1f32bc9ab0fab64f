"""Who may connect, and how: SASL."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind

SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


class SaslSettings:
    sasl_enabled_mechanisms: tuple[str, ...] = setting(
        "sasl.enabled.mechanisms",
        LIST,
        ("SCRAM-SHA-512", "SCRAM-SHA-256"),
        "The mechanisms of SASL_PLAINTEXT and SASL_SSL listeners. (Kafka's default is GSSAPI, "
        "which Ottla does not have.)",
        choices=SASL_MECHANISMS,
        per_listener=True,
    )
    sasl_jaas_config: str | None = setting(
        "sasl.jaas.config",
        PASSWORD,
        None,
        "The users of PLAIN, with the prefix of listener and mechanism: "
        "`listener.name.NAME.plain.sasl.jaas.config = "
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'user_ann="..." user_bob="...";`. Without user_ options, users with SCRAM credentials can '
        "authenticate by PLAIN. Other mechanisms ignore it.",
        per_listener=True,
    )
    sasl_server_max_receive_size: int = setting(
        "sasl.server.max.receive.size",
        INT,
        524288,
        "Size of a request before the client is authenticated; a larger one closes the connection.",
        minimum=1024,
        unit="bytes",
    )
    connection_authentication_timeout_ms: int = setting(
        "connection.authentication.timeout.ms",
        INT,
        30_000,
        "Time that a client has to authenticate by SASL; then its connection is closed.",
        minimum=1,
        unit="ms",
    )
    connection_failed_authentication_delay_ms: int = setting(
        "connection.failed.authentication.delay.ms",
        INT,
        100,
        "Delay of the response to a failed authentication; then the connection is closed.",
        minimum=0,
        unit="ms",
    )
    connections_max_reauth_ms: int = setting(
        "connections.max.reauth.ms",
        LONG,
        0,
        "Time after which clients must authenticate again (KIP-368): the first request after it "
        "closes the connection. 0: never.",
        minimum=0,
        unit="ms",
        per_listener=True,
    )
    sasl_oauthbearer_jwks_endpoint_url: str | None = setting(
        "sasl.oauthbearer.jwks.endpoint.url",
        STRING,
        None,
        "The keys that verify tokens of OAUTHBEARER, as a JSON Web Key Set: https://, http:// or "
        "file:///, without user and password.",
        per_listener=True,
    )
    sasl_oauthbearer_jwks_endpoint_refresh_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        LONG,
        3_600_000,
        "Age at which the keys are fetched again. A token with an unknown key does so earlier.",
        minimum=1,
        unit="ms",
        per_listener=True,
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        LONG,
        100,
        "Time between two attempts to fetch the keys; it doubles with each failure.",
        minimum=1,
        unit="ms",
        per_listener=True,
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        LONG,
        10_000,
        "The longest time between two attempts to fetch the keys.",
        minimum=1,
        unit="ms",
        per_listener=True,
    )
    sasl_oauthbearer_expected_audience: tuple[str, ...] = setting(
        "sasl.oauthbearer.expected.audience",
        LIST,
        (),
        "A token needs one of these audiences (aud); empty: they are not checked.",
        per_listener=True,
    )
    sasl_oauthbearer_expected_issuer: str | None = setting(
        "sasl.oauthbearer.expected.issuer",
        STRING,
        None,
        "A token needs this issuer (iss); not set: it is not checked.",
        per_listener=True,
    )
    sasl_oauthbearer_scope_claim_name: str = setting(
        "sasl.oauthbearer.scope.claim.name",
        STRING,
        "scope",
        "The claim with the scopes: text or a list, without empty and repeated ones.",
        per_listener=True,
    )
    sasl_oauthbearer_sub_claim_name: str = setting(
        "sasl.oauthbearer.sub.claim.name",
        STRING,
        "sub",
        "The claim with the user name.",
        per_listener=True,
    )
    sasl_oauthbearer_clock_skew_seconds: int = setting(
        "sasl.oauthbearer.clock.skew.seconds",
        INT,
        30,
        "Difference between the clocks of issuer and broker.",
        minimum=0,
        unit="s",
        per_listener=True,
    )
    sasl_oauthbearer_unsecured_tokens: bool = setting(
        "sasl.oauthbearer.unsecured.tokens",
        BOOLEAN,
        False,
        "Accept tokens without a signature, for tests: every client can claim every user name.",
        per_listener=True,
    )
