"""Who may connect, and how: TLS."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind

STORE_TYPES = ("JKS", "PKCS12", "PEM")


class SecuritySettings:
    ssl_keystore_type: str = setting(
        "ssl.keystore.type",
        STRING,
        "JKS",
        "The format of the file with the private key and the certificates of the broker: PEM or "
        "PKCS12. JKS reads PKCS12 as Java does; a real JKS file is refused, with the command that "
        "converts it.",
        choices=STORE_TYPES,
        per_listener=True,
    )
    ssl_keystore_location: str | None = setting(
        "ssl.keystore.location",
        STRING,
        None,
        "The file with the private key and the certificates of the broker. A changed file is read "
        "within seconds, or at SIGHUP; existing connections stay.",
        per_listener=True,
    )
    ssl_keystore_password: str | None = setting(
        "ssl.keystore.password",
        PASSWORD,
        None,
        "The password of a PKCS12 file; PEM files have none.",
        per_listener=True,
    )
    ssl_key_password: str | None = setting(
        "ssl.key.password",
        PASSWORD,
        None,
        "The password of the private key in a PEM file or text; of a PKCS12 file, if it is not "
        "`ssl.keystore.password`.",
        per_listener=True,
    )
    ssl_keystore_key: str | None = setting(
        "ssl.keystore.key",
        PASSWORD,
        None,
        "The private key itself, as PEM (PKCS#8), instead of a file.",
        per_listener=True,
    )
    ssl_keystore_certificate_chain: str | None = setting(
        "ssl.keystore.certificate.chain",
        PASSWORD,
        None,
        "The certificates of `ssl.keystore.key` as PEM, that of the broker first.",
        per_listener=True,
    )
    ssl_truststore_type: str = setting(
        "ssl.truststore.type",
        STRING,
        "JKS",
        "The format of the file with trusted authorities, as for `ssl.keystore.type`.",
        choices=STORE_TYPES,
        per_listener=True,
    )
    ssl_truststore_location: str | None = setting(
        "ssl.truststore.location",
        STRING,
        None,
        "The file with the authorities that sign client certificates. Not set: those of the "
        "operating system. A changed file is read as a changed keystore is.",
        per_listener=True,
    )
    ssl_truststore_password: str | None = setting(
        "ssl.truststore.password",
        PASSWORD,
        None,
        "The password of a PKCS12 truststore; PEM files have none.",
        per_listener=True,
    )
    ssl_truststore_certificates: str | None = setting(
        "ssl.truststore.certificates",
        PASSWORD,
        None,
        "Trusted certificates themselves, as PEM, instead of a file.",
        per_listener=True,
    )
    ssl_client_auth: str = setting(
        "ssl.client.auth",
        STRING,
        "none",
        "Whether clients need a certificate. A client with one gets the principal of its name, "
        "another one User:ANONYMOUS. For SASL_SSL with the prefix of the listener only.",
        choices=("required", "requested", "none"),
        per_listener=True,
    )
    ssl_enabled_protocols: tuple[str, ...] = setting(
        "ssl.enabled.protocols",
        LIST,
        ("TLSv1.2", "TLSv1.3"),
        "Versions of TLS.",
        choices=("TLSv1.2", "TLSv1.3"),
        per_listener=True,
    )
    ssl_cipher_suites: tuple[str, ...] = setting(
        "ssl.cipher.suites",
        LIST,
        (),
        "Cipher suites by their IANA names, as in Kafka; empty: OpenSSL's defaults. Those of "
        "TLS 1.3 are all on, or all off if none is named.",
        per_listener=True,
    )
    ssl_handshake_timeout_ms: int = setting(
        "ssl.handshake.timeout.ms",
        INT,
        10000,
        "A connection whose TLS handshake is not complete after this time is closed.",
        minimum=1,
        unit="ms",
    )
    ssl_handshakes_max: int = setting(
        "ssl.handshakes.max",
        INT,
        1000,
        "The most TLS handshakes in progress, for Kafka and REST; further connections wait in "
        "turn, unread.",
        minimum=1,
    )
    ssl_handshakes_max_per_ip: int = setting(
        "ssl.handshakes.max.per.ip",
        INT,
        250,
        "The most TLS handshakes in progress from one address.",
        minimum=1,
    )
    ssl_principal_mapping_rules: str = setting(
        "ssl.principal.mapping.rules",
        STRING,
        "DEFAULT",
        "Rules that make the user name of the distinguished name of a client certificate, "
        "separated by commas: RULE:pattern/replacement/, with L or U at its end for lower or upper "
        "case; or DEFAULT, the whole name. The first that matches counts.",
        per_listener=True,
    )
