from __future__ import annotations

import stat
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from interfaces.terminal.profiles import (
    Profile,
    Profiles,
    admin_address,
    connection,
    profiles_file,
    read_profiles,
    write_profiles,
)

PROD = Profile("p:1", "p:2", {"acks": "1", "client.id": "ours"})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder of settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("OTTLA_BOOTSTRAP", raising=False)


def given(
    *options: tuple[str, str],
    b: str | None = None,
    profile: str | None = None,
    config: Path | None = None,
) -> Any:
    return Namespace(
        bootstrap_server=b,
        client_options=list(options),
        profile=profile,
        admin=None,
        command_config=config,
    )


def test_servers_come_from_options_a_profile_the_environment_or_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_profiles(Profiles({"prod": PROD}))
    assert connection(given())[0] == "localhost:9092"
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "c:3")
    assert connection(given())[0] == "c:3"
    assert connection(given(profile="prod"))[0] == "p:1"
    option = ("bootstrap.servers", "b:2")
    assert connection(given(option, profile="prod"))[0] == "b:2"
    assert connection(given(option, b="a:1"))[0] == "a:1"


@pytest.mark.parametrize("key", ["bootstrap.servers", "metadata.broker.list", "brokers"])
def test_servers_may_be_an_option_of_a_profile(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVERS", "p:1")
    write_profiles(Profiles({"prod": Profile(options={key: "${env:SERVERS}"})}, "prod"))
    assert connection(given()) == ("p:1", {})
    assert connection(given(b="a:1", profile="prod")) == ("a:1", {})


def test_options_replace_those_of_a_profile() -> None:
    write_profiles(Profiles({"prod": PROD}, "prod"))
    assert connection(given(("acks", "all"))) == ("p:1", {"acks": "all", "client.id": "ours"})


def test_rest_is_that_of_the_profile_unless_other_servers_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert admin_address(given()) is None
    write_profiles(Profiles({"prod": PROD}, "prod"))
    assert admin_address(given()) == "p:2"
    assert admin_address(given(b="a:1", profile="prod")) is None
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "c:3")
    assert admin_address(given()) is None
    assert admin_address(given(profile="prod")) == "p:2"


def test_options_of_the_profile_in_use_are_not_for_other_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_profiles(Profiles({"prod": PROD}, "prod"))
    assert connection(given(b="a:1")) == ("a:1", {})
    assert connection(given(b="a:1", profile="prod")) == ("a:1", PROD.options)
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "c:3")
    assert connection(given()) == ("c:3", {})


def test_profiles_are_readable_for_their_owner_only() -> None:
    odd = {"sasl.password": 'a"\\\n\x7f\x01é\U0001f511', "x": ""}
    profiles = Profiles({"prod": PROD, "a.b c": Profile(None, None, odd)}, "a.b c")
    write_profiles(Profiles({}))
    write_profiles(profiles)
    assert read_profiles() == profiles
    assert stat.S_IMODE(profiles_file().stat().st_mode) == 0o600


def test_a_text_that_is_not_unicode_is_refused() -> None:
    write_profiles(Profiles({"prod": PROD}))
    with pytest.raises(ValueError, match="not UTF-8"):
        write_profiles(Profiles({"prod": Profile("\udcff:1")}))
    assert read_profiles() == Profiles({"prod": PROD})


def test_a_value_may_be_in_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("first line\n")
    monkeypatch.setenv("SECRET", "second")
    options = (("a", f"${{file:{secret}}}"), ("b", "${env:SECRET}"), ("c", "x${env:SECRET}"))
    found = {"a": "first line", "b": "second", "c": "x${env:SECRET}"}
    assert connection(given(*options))[1] == found
    for missing in ("${env:NO_SUCH}", "${file:/no/such}"):
        with pytest.raises(ValueError, match=r"^a: "):
            connection(given(("a", missing)))


@pytest.mark.parametrize(
    "text",
    [
        "current =",
        "profiles = 7",
        "[profiles]\nprod = 7",
        "[profiles.prod]\nbootstrap = 9092",
        "[profiles.prod]\nboot = 'a:1'",
        "[profiles.prod]\noptions = 7",
        "current = 7",
        "current = ['prod']",
        "current = 'prod'",
    ],
)
def test_an_invalid_file_is_refused(text: str) -> None:
    write_profiles(Profiles({}))
    profiles_file().write_text(text)
    with pytest.raises(ValueError, match="prof"):
        connection(given())


def test_a_file_of_a_java_client_replaces_the_profile_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profiles(Profiles({"prod": PROD}, "prod"))
    monkeypatch.setenv("SECRET", "PaSs-7301")
    file = tmp_path / "client.properties"
    file.write_text(
        "bootstrap.servers = a:1\nsecurity.protocol=SASL_SSL\nssl.truststore.type=PEM\n"
        "ssl.truststore.location=/ca.pem\nsasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        '  username="ann" password="${env:SECRET}";\n'
    )
    options = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "/ca.pem",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "ann",
        "sasl.password": "PaSs-7301",
    }
    assert connection(given(config=file)) == ("a:1", options)
    assert admin_address(given(config=file)) is None
    assert connection(given(("sasl.username", "bob"), b="b:2", config=file)) == (
        "b:2",
        options | {"sasl.username": "bob"},
    )
    named = connection(given(profile="prod", config=file))
    assert named == ("a:1", {**PROD.options, **options})


@pytest.mark.parametrize(
    "content, message",
    [
        ("sasl.jaas.config=PaSs-7301", "expected PlainLoginModule or ScramLoginModule"),
        ("ssl.truststore.location=my.jks", "export the certificates to a PEM file"),
        ("sasl.login.callback.handler.class=x.Y", "librdkafka does not load Java classes"),
        (None, "No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_its_values(
    tmp_path: Path, content: str | None, message: str
) -> None:
    file = tmp_path / "client.properties"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError, match=message) as refused:
        connection(given(config=file))
    assert str(file) in str(refused.value)
    assert "PaSs-7301" not in str(refused.value)
