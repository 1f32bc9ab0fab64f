from __future__ import annotations

from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import ListenerSecurity, SecurityProtocol, per_listener


def test_a_setting_of_the_listener_is_before_that_of_the_broker() -> None:
    config = BrokerConfig({"ssl.client.auth": "requested"})
    both = ListenerSecurity(
        "IN.SIDE", SecurityProtocol.SSL, config, {"ssl.client.auth": "required"}
    )
    other = ListenerSecurity("OUTSIDE", SecurityProtocol.SSL, config)
    assert both.value("ssl.client.auth") == "required"
    assert both.key_of("ssl.client.auth") == "listener.name.in.side.ssl.client.auth"
    assert other.value("ssl.client.auth") == "requested"
    assert other.key_of("ssl.client.auth") == "ssl.client.auth"
    assert other.value("ssl.keystore.type") == "JKS"


def test_client_certificates_are_requested_beside_sasl_by_the_setting_of_the_listener_only() -> (
    None
):
    """As in Kafka (KIP-684)."""
    config = BrokerConfig({"ssl.client.auth": "required"})
    own = {"ssl.client.auth": "requested"}
    inherits, both, admin = (
        ListenerSecurity("X", SecurityProtocol.SASL_SSL, config, *rest)
        for rest in ((), (own,), ({}, "admin."))
    )
    assert [one.value("ssl.client.auth") for one in (inherits, both, admin)] == [
        "none",
        "requested",
        "none",
    ]


def test_a_setting_of_a_mechanism_is_before_that_of_its_listener() -> None:
    own = {"scram-sha-256.ssl.client.auth": "required", "ssl.client.auth": "requested"}
    security = ListenerSecurity("X", SecurityProtocol.SASL_SSL, BrokerConfig(), own)
    assert security.value("ssl.client.auth", "SCRAM-SHA-256") == "required"
    assert security.value("ssl.client.auth", "PLAIN") == "requested"


def test_only_some_settings_have_a_prefix() -> None:
    assert per_listener("ssl.keystore.key") is per_listener("plain.ssl.keystore.key")
    assert per_listener("num.partitions") is None
    assert per_listener("ssl.nope") is None


def test_a_protocol_needs_tls_and_sasl_by_its_name() -> None:
    needs = {one.value: (one.needs_tls, one.needs_sasl) for one in SecurityProtocol}
    assert needs == {
        "PLAINTEXT": (False, False),
        "SSL": (True, False),
        "SASL_PLAINTEXT": (False, True),
        "SASL_SSL": (True, True),
    }
