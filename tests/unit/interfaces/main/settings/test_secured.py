from __future__ import annotations

from pathlib import Path

import pytest

from domain.configs.listener_security import RAW, SecurityProtocol
from infrastructure.security.authority import BROKER, FOLDER
from interfaces.main.settings.origin import Given, SettingsError
from interfaces.main.settings.secured import write_secured
from interfaces.main.settings.sources import Settings, load_settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    write_secured(tmp_path)
    return tmp_path


def load(folder: Path, *, secure: bool = False, **given: str) -> Settings:
    named = {"log.dirs": str(folder)} | {name.replace("_", "."): given[name] for name in given}
    texts = {name: Given(text, "test") for name, text in named.items()}
    return load_settings(texts, {}, secure=secure)


def test_a_secured_folder_has_tls_sasl_and_acls(folder: Path) -> None:
    settings = load(folder)
    assert [str(one) for one in settings.listeners] == ["SASL_SSL://localhost:9092"]
    assert settings.security["SASL_SSL"].protocol is SecurityProtocol.SASL_SSL
    assert settings.broker.authorizer_class_name
    assert settings.broker.admin_authentication == "users"
    keystore = settings.security["SASL_SSL"].value("ssl.keystore.location")
    assert keystore == str(folder / FOLDER / BROKER)
    assert "broker.properties" in settings.origin("super.users")
    assert settings.warnings == []


def test_a_raw_listener_of_a_secured_folder_has_tls(folder: Path) -> None:
    raw = load(folder, raw_listeners="localhost:12000").all_security[RAW]
    assert raw.protocol is SecurityProtocol.SSL
    assert raw.value("ssl.keystore.location") == str(folder / FOLDER / BROKER)


def test_listeners_without_a_name_are_secured(folder: Path) -> None:
    settings = load(
        folder,
        listeners=":9093,PLAINTEXT://localhost:9092",
        advertised_listeners="broker.example:9093",
    )
    named = {one.name: settings.security[one.name].protocol.value for one in settings.listeners}
    assert named == {"SASL_SSL": "SASL_SSL", "PLAINTEXT": "PLAINTEXT"}
    assert settings.broker.advertised("SASL_SSL", 9093) == ("broker.example", 9093)


def test_a_folder_that_will_be_secured_has_the_same_settings(folder: Path) -> None:
    options = {"listeners": "localhost:9093,PLAINTEXT://localhost:9092", "admin_listeners": ":8082"}
    secured = load(folder, **options)
    (folder / FOLDER / "broker.properties").unlink()
    first = load(folder, secure=True, **options)
    assert {name: (one.text, one.origin) for name, one in first.given.items()} == {
        name: (one.text, one.origin) for name, one in secured.given.items()
    }
    assert first.listeners == secured.listeners


def test_other_sources_win(folder: Path) -> None:
    assert load(folder, super_users="User:ann").broker.super_users == "User:ann"


def test_settings_that_cannot_be_read_stop_the_start(folder: Path) -> None:
    file = folder / FOLDER / "broker.properties"
    file.unlink()
    file.mkdir()
    with pytest.raises(SettingsError, match="cannot read"):
        load(folder)
