"""compose.cluster.yaml, without an engine for containers: its brokers and its shell commands."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from infrastructure.storage.objects.address import parse_objects
from interfaces.main.settings.sources import load_settings

ROOT = Path(__file__).parents[4]
FILE: dict[str, Any] = yaml.safe_load((ROOT / "compose.cluster.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = FILE["services"]
BROKERS = {name: one for name, one in SERVICES.items() if name.startswith("broker-")}
SCRIPTS = [
    FILE["configs"]["primary"]["content"],
    *(SERVICES[name]["command"][0] for name in ("db-2", "s3")),
]


@pytest.mark.parametrize("name", BROKERS)
def test_a_broker_has_settings_of_its_own_without_a_warning(name: str) -> None:
    variables = {key: str(value) for key, value in BROKERS[name]["environment"].items()}
    settings = load_settings({}, variables)
    assert (settings.warnings, len(settings.listeners)) == ([], 2)
    node_id = int(name.removeprefix("broker-"))
    assert settings.broker.node_id == node_id
    inside, outside = variables["KAFKA_ADVERTISED_LISTENERS"].split(",")
    assert inside == f"INSIDE://{name}:9092"
    published, admin = BROKERS[name]["ports"]
    host, port = outside.removeprefix("OUTSIDE://").split(":")
    assert published == f"{host}:{port}:9094"
    assert admin == f"127.0.0.1:{8080 + node_id}:8082"


def test_the_store_is_on_both_servers_and_in_a_bucket_that_exists() -> None:
    [url] = {one["environment"]["KAFKA_STORAGE"] for one in BROKERS.values()}
    parts = urlsplit(url)
    assert parts.netloc.partition("@")[2].split(",") == ["db-1", "db-2"]
    bucket = parse_objects(parse_qs(parts.query)["objects"][0]).bucket
    assert f"/data/buckets/{bucket}\n" in SERVICES["s3"]["command"][0]


@pytest.mark.parametrize("script", SCRIPTS)
def test_shells_read_the_scripts(script: str) -> None:
    for shell in ("bash", "sh"):
        subprocess.run([shell, "-n"], input=script.replace("$$", "$"), text=True, check=True)


def test_what_a_service_waits_for_has_a_health_check() -> None:
    needed = {name for one in SERVICES.values() for name in one.get("depends_on", ())}
    assert needed == {"db-1", "db-2", "s3"}
    assert all("healthcheck" in SERVICES[name] for name in needed)


def test_the_image_is_built_once_and_never_pulled() -> None:
    assert [name for name, one in BROKERS.items() if "build" in one] == ["broker-1"]
    assert {(one["image"], one["pull_policy"]) for one in BROKERS.values()} == {("ottla", "never")}
