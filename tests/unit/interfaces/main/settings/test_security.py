from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import SecurityProtocol
from interfaces.main.settings.origin import Given, SettingsError
from interfaces.main.settings.security import PrefixedSettings, protocol_of
from interfaces.main.settings.sources import load_settings

MAP = "listener.security.protocol.map"


def given(**values: str) -> dict[str, Given]:
    return {name.replace("_", "."): Given(text, "file x") for name, text in values.items()}


def test_a_listener_has_the_protocol_of_the_map_or_of_its_name() -> None:
    mapped = BrokerConfig({MAP: "in:ssl, PLAINTEXT:SASL_SSL"})
    assert protocol_of("IN", mapped) is SecurityProtocol.SSL
    assert protocol_of("PLAINTEXT", mapped) is SecurityProtocol.SASL_SSL
    assert protocol_of("SASL_PLAINTEXT", mapped) is SecurityProtocol.SASL_PLAINTEXT
    assert protocol_of("ANY", BrokerConfig()) is SecurityProtocol.PLAINTEXT
    with pytest.raises(ValueError, match="that of ANY is missing"):
        protocol_of("ANY", mapped)


@pytest.mark.parametrize("prefix", ["", "listener.name.any."])
@pytest.mark.parametrize("name", ["ssl.client.auth=required", "sasl.enabled.mechanisms=PLAIN"])
def test_with_tls_or_sasl_settings_no_listener_is_plaintext_by_its_name(
    prefix: str, name: str
) -> None:
    key, _, value = f"{prefix}{name}".partition("=")
    settings = {"listeners": Given("ANY://localhost:0", "file x"), key: Given(value, "file x")}
    with pytest.raises(SettingsError, match=r"listener.security.protocol.map .*that of ANY is"):
        load_settings(settings, {})


def test_each_listener_gets_its_settings() -> None:
    values = given(
        listener_name_a_ssl_keystore_type="PEM",
        **{"listener_name_a.b_ssl_keystore_type": "PKCS12"},
    )
    prefixed = PrefixedSettings(values, ["A", "A.B"])
    config = BrokerConfig({MAP: "A:SSL,A.B:SSL"})
    types = [prefixed.security_of(name, config).value("ssl.keystore.type") for name in ("A", "A.B")]
    assert types == ["PEM", "PKCS12"]


def test_prefixed_settings_without_effect_have_the_reason() -> None:
    file = {
        "listener.name.plaintext.num.partitions": "3",
        "listener.name.plaintext.ssl.provider": "x",
        "listener.name.other.ssl.client.auth": "none",
        "listener.name.plaintext.ssl.nope": "1",
    }
    settings = load_settings({name: Given(text, "file x") for name, text in file.items()}, {})
    assert settings.warnings == [
        (
            "settings with no effect here: listener.name.other.ssl.client.auth (no listener of "
            "clients has this name); listener.name.plaintext.num.partitions (it is the same for "
            "all listeners); listener.name.plaintext.ssl.provider (OpenSSL decides)"
        ),
        "unknown settings: listener.name.plaintext.ssl.nope",
    ]


def test_client_certificates_of_all_listeners_are_not_for_those_with_sasl() -> None:
    values = {
        "listeners": "A://:1,B://:2,C://:3",
        MAP: "A:SASL_SSL,B:SSL,C:SASL_SSL",
        "ssl.client.auth": "required",
        "listener.name.c.ssl.client.auth": "requested",
    }
    settings = load_settings({name: Given(text, "file x") for name, text in values.items()}, {})
    assert settings.warnings == [
        "ssl.client.auth is not for listeners with SASL, as A: set listener.name.a.ssl.client.auth"
    ]


def test_no_message_has_a_password() -> None:
    secret = Given("hush", "command line --set")
    assert "hush" not in repr(secret)
    with pytest.raises(SettingsError) as failure:
        PrefixedSettings({"listener.name.a.ssl.client.auth": secret}, ["A"])
    assert "listener.name.a.ssl.client.auth" in str(failure.value)
