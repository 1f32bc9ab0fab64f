from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.settings.origin import COMMAND_LINE, Given, SettingsError
from interfaces.main.settings.sources import Settings, load_settings


def load(
    set_: dict[str, str] | None = None,
    env: dict[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    values = {name: Given(text, f"{COMMAND_LINE} --set") for name, text in (set_ or {}).items()}
    return load_settings(values, env or {}, file)


def test_the_command_line_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "ottla.toml"
    file.write_text('num.partitions = 2\nfetch.max.bytes = 2048\nflush = "os"\n')
    settings = load(
        {"num.partitions": "4"},
        {"OTTLA_NUM_PARTITIONS": "3", "KAFKA_FETCH_MAX_BYTES": "4096"},
        file,
    )
    assert settings.broker.num_partitions == 4
    assert settings.origin("num.partitions") == "command line --set"
    assert settings.broker.fetch_max_bytes == 4096
    assert settings.origin("fetch.max.bytes") == "environment KAFKA_FETCH_MAX_BYTES"
    assert settings.broker.flush == "os"
    assert settings.origin("flush") == f"file {file}"
    assert settings.origin("node.id") == "default"


def test_an_invalid_value_names_setting_value_and_origin() -> None:
    with pytest.raises(SettingsError) as failure:
        load(env={"KAFKA_NUM_PARTITIONS": "many"})
    assert str(failure.value) == (
        "num.partitions = 'many' (environment KAFKA_NUM_PARTITIONS) is not allowed: "
        "expected a whole number between 1 and 2147483647"
    )


def test_warnings_name_settings_without_effect_with_the_reason_and_unknown_ones() -> None:
    settings = load(env={"KAFKA_PROCESS_ROLES": "broker", "OTTLA_X": "2"})
    assert settings.warnings == [
        "settings with no effect here: process.roles (there are no KRaft controllers)",
        "unknown settings: x",
    ]
    changed = {"log.preallocate": "true", "log.index.interval.bytes": "5"}
    defaults = {"log.segment.bytes": "1073741824", "log.retention.ms": "-1"}
    assert load(changed | defaults).warnings == [
        "settings with no effect here: log.index.interval.bytes, log.preallocate (there are no "
        "segment files)"
    ]


@pytest.mark.parametrize("name", ["ottla.toml", "server.properties"])
def test_a_misspelt_setting_gets_a_suggestion(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text('num.partition="3"')
    warning = "unknown settings: num.partition (did you mean num.partitions?)"
    assert load(file=file).warnings == [warning]
    assert load(env={"OTTLA_NUM_PARTITION": "3"}).warnings == [warning]
    assert load(env={"KAFKA_NUM_PARTITION": "3"}).warnings == [warning]
    assert load(env={"KAFKA_NUM_PARTITIONEN": "3"}).warnings == [
        "unknown settings: num.partitionen"
    ]


def test_a_topic_config_is_not_a_setting_and_the_setting_of_its_default_is_named() -> None:
    why = "retention.ms is a topic config; the setting for its default is log.retention.ms"
    assert load(env={"OTTLA_RETENTION_MS": "1"}).warnings == [why]
    with pytest.raises(SettingsError, match=f"^{why}$"):
        load({"retention.ms": "1"})


def test_a_setting_of_kafka_on_the_command_line_has_a_warning() -> None:
    assert load({"num.io.threads": "8"}).warnings == [
        "settings with no effect here: num.io.threads (one loop serves all requests)"
    ]


@pytest.mark.parametrize(
    ("name", "named"),
    [("num.partition", "num.partition (did you mean num.partitions?)"), ("nope", "nope")],
)
def test_an_unknown_setting_on_the_command_line_is_refused(name: str, named: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load({name: "3"})
    assert str(failure.value) == f"unknown setting {named}"


KRAFT = """
process.roles=broker,controller
node.id=7
controller.quorum.voters=7@localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
offsets.topic.replication.factor=1
log.retention.hours=168
"""


def test_kafkas_server_properties_work_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(KRAFT)
    settings = load(file=file)
    assert settings.broker.node_id == 7
    [listener] = settings.listeners
    assert (listener.name, listener.host, listener.port) == ("PLAINTEXT", "", 9092)
    assert settings.broker.advertised("PLAINTEXT", 1) == ("localhost", 9092)
    assert settings.storage.folder == Path("/tmp/kraft-combined-logs")
    assert settings.warnings == [
        (
            "settings with no effect here: controller.listener.names, controller.quorum.voters, "
            "process.roles, listener CONTROLLER (there are no KRaft controllers); "
            "inter.broker.listener.name (brokers do not talk to each other)"
        ),
    ]


def test_the_older_broker_id_is_the_node_id() -> None:
    settings = load({"broker.id": "3"})
    assert (settings.broker.node_id, settings.warnings) == (3, [])
    assert load({"broker.id": "-1"}).broker.node_id == 1


def test_without_advertised_listeners_no_address_is_fixed() -> None:
    settings = load()
    [listener] = settings.listeners
    assert (listener.host, listener.port) == ("localhost", 9092)
    assert settings.broker.advertised("PLAINTEXT", 9092) is None


def test_several_listeners_are_advertised_by_name() -> None:
    settings = load(
        {
            "listeners": "INSIDE://0.0.0.0:9092,OUTSIDE://[::1]:0",
            "advertised.listeners": "OUTSIDE://broker.example:0",
        }
    )
    inside, outside = settings.listeners
    assert (inside.everywhere, outside.host) == (True, "::1")
    assert settings.broker.advertised("INSIDE", 9092) is None
    assert settings.broker.advertised("OUTSIDE", 40001) == ("broker.example", 40001)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"listeners": "9092"}, r"listeners = '9092' .* expected \[NAME://\]HOST:PORT"),
        ({"listeners": ""}, "at least one listener"),
        ({"listeners": "CONTROLLER://:1"}, "at least one listener"),
        (
            {"listeners": "X://:1", "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"},
            "a protocol of each listener; that of X is missing",
        ),
        (
            {"listener.name.plaintext.ssl.client.auth": "maybe"},
            "listener.name.plaintext.ssl.client.auth = 'maybe' .* one of required, requested, none",
        ),
        ({"listener.name.plaintext.ssl.nope": "1"}, "unknown setting listener.name.plaintext.ssl"),
        ({"listener.security.protocol.map": "X:Y"}, "NAME:PROTOCOL"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "clients can connect to"),
        ({"advertised.listeners": "OTHER://h:1"}, "names that `listeners` has"),
        ({"storage": "sqlite:///x"}, "storage = 'sqlite:///x' .* expected memory://, lmdb://"),
        ({"storage": "memory://x"}, "expected memory://"),
        ({"storage": "lmdb://x"}, "lmdb:///a/folder"),
        ({"log.dirs": ""}, "expected a folder"),
        (
            {"group.consumer.session.timeout.ms": "6000"},
            "greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        ({"log.dirs": "/a", "storage": "lmdb:///b"}, "two data folders"),
        (
            {"offsets.topic": "on", "offsets": "sqlite://"},
            r"offsets.topic = on \(.*\) is not allowed with offsets = sqlite:///",
        ),
    ],
)
def test_invalid_settings_are_refused(values: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as failure:
        load(values)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    "values, folder",
    [
        ({"storage": "memory://"}, None),
        ({"storage": "lmdb:///var/x"}, "/var/x"),
        ({"storage": "lmdb://", "log.dirs": "/d"}, "/d"),
        ({"log.dir": "/data"}, "/data"),
        ({"log.dir": "/a", "log.dirs": "/b"}, "/b"),
    ],
)
def test_the_data_folder_comes_from_the_url_or_a_setting(
    values: dict[str, str], folder: str | None
) -> None:
    settings = load(values)
    assert settings.storage.folder == (Path(folder) if folder else None)
    assert settings.warnings == []
    # The command line wins over the environment.
    assert (
        load(values, {"OTTLA_STORAGE": "lmdb:///theirs"}).storage.folder == settings.storage.folder
    )


def test_only_the_first_data_folder_is_used_with_a_warning() -> None:
    settings = load({"log.dirs": "/a,/b"})
    assert settings.storage.folder == Path("/a")
    assert settings.warnings == ["of log.dirs only the first folder is used: /a"]
