from __future__ import annotations

import configparser
import json
import os
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from application.metrics.all_families import FAMILIES
from application.metrics.families.family import Kind
from interfaces.cli.generate import MAKE
from interfaces.cli.generate_lag import group_lag
from interfaces.cli.generate_services import systemd_unit
from interfaces.main.__main__ import main
from interfaces.main.arguments import parser, settings_given
from interfaces.main.settings.sources import load_settings

ROOT = Path(__file__).parents[4]
ADMIN = "192.0.2.9:8082"
#: All metrics as they are in queries: of a histogram the parts.
EXPOSED = {
    name
    for family in FAMILIES
    for name in (
        [f"{family.name}_{part}" for part in ("bucket", "sum", "count")]
        if family.kind is Kind.HISTOGRAM
        else [family.name]
    )
}
NAME = re.compile(r"\b((?:ottla|kafka|redpanda|kminion|process|python)_\w+)\b")


def queries() -> list[str]:
    board = json.loads(MAKE["grafana"](ADMIN))
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    return found + [one["query"] for one in board["templating"]["list"][1:]]


def alerts() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(MAKE["alerts"](ADMIN))["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def test_every_query_of_the_dashboard_has_only_exposed_metrics() -> None:
    for query in queries():
        names = NAME.findall(query)
        assert names and set(names) <= EXPOSED, query


def test_panels_do_not_overlap() -> None:
    board = json.loads(MAKE["grafana"](ADMIN))
    used: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        x, y, width, height = (panel["gridPos"][one] for one in "xywh")
        cells = {(x + right, y + down) for right in range(width) for down in range(height)}
        assert not cells & used and x + width <= 24, panel["title"]
        used |= cells
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_alert_has_only_exposed_metrics_a_severity_and_a_summary() -> None:
    for rule in alerts():
        names = set(NAME.findall(rule["expr"]))
        assert names <= EXPOSED and (names or rule["alert"] == "OttlaDown"), rule
        assert rule["expr"].count("(") == rule["expr"].count(")"), rule
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"]


def test_the_alert_about_lag_has_the_lag_as_its_value() -> None:
    [rule] = [rule for rule in alerts() if rule["alert"] == "OttlaGroupFallsBehind"]
    # `and` keeps the value of its left side.
    value, _, _ = rule["expr"].partition(" and ")
    assert value == f"{group_lag()} > 10000"
    assert rule["expr"] == f"{value} and deriv({group_lag()}[15m:1m]) > 0"


def test_the_dashboard_has_the_lag_of_all_selected_instances() -> None:
    lag = group_lag('{instance=~"$instance"}')
    assert {lag, f"sum({lag})"} <= set(queries())
    assert not any("lag_sum" in query for query in queries())


@pytest.mark.parametrize(
    ("admin", "target"),
    [(ADMIN, ADMIN), ("0.0.0.0:8082", "localhost:8082"), ("[::]:8082", "localhost:8082")],
)
def test_prometheus_gets_an_address_that_it_can_connect_to(admin: str, target: str) -> None:
    text = MAKE["prometheus"](admin)
    config = yaml.safe_load(text)
    [job] = config["scrape_configs"]
    assert job["static_configs"] == [{"targets": [target]}]
    assert config["rule_files"] == ["ottla-alerts.yml"]
    assert ("is every address" in text) is (admin != target)


def test_the_unit_runs_a_valid_command() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read_string(MAKE["systemd"](ADMIN))
    command, *words = unit["Service"]["ExecStart"].split()
    assert command.startswith("/") and words[0] == "serve"
    assert unit["Service"]["Type"] == "notify"
    check_command(words[1:], ADMIN)


@pytest.mark.parametrize("in_a_home", [False, True])
@pytest.mark.parametrize("private", [False, True])
def test_the_unit_runs_the_command_of_this_venv(private: bool, in_a_home: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700 if private else 0o755)
        if os.getuid() == 0:
            os.chown(folder, 12345, -1)  # root often generates the unit of another user
        venv = Path(folder, "my venv 100%")
        venv.mkdir()
        (venv / "ottla").touch()
        homes = [Path(folder)] if in_a_home else []
        unit = systemd_unit(ADMIN, venv / "python", homes).splitlines()
        assert f'ExecStart="{folder}/my venv 100%%/ottla" serve ' in "\n".join(unit)
        assert ("DynamicUser=yes" in unit) is not private
        assert (f"User={os.stat(folder).st_uid}" in unit) is private
        assert f"ProtectHome={'read-only' if in_a_home else 'yes'}" in unit


def test_the_compose_file_runs_a_valid_command_and_publishes_the_ports_of_the_readme() -> None:
    service = yaml.safe_load(MAKE["compose"](ADMIN))["services"]["ottla"]
    ports = ("9092:9094", "8082:8082")
    assert service["ports"] == [f"{host}:{one}" for one in ports for host in ("127.0.0.1", "[::1]")]
    environment = service["environment"]
    assert (
        environment["KAFKA_ADVERTISED_LISTENERS"] == "INSIDE://ottla:9092,OUTSIDE://localhost:9092"
    )
    settings = load_settings({}, environment)
    assert (settings.warnings, len(settings.listeners)) == ([], 2)


def test_the_image_has_the_files_of_the_wheel_and_no_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    sources = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    # Added by hatchling.
    sources += ["LICENSE", "README.md", "pyproject.toml"]
    sources.append("scripts/locks/image.txt")
    first, *rest = [
        line
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert (first, sorted(rest)) == ("*", sorted(["**/__pycache__", *(f"!{s}" for s in sources)]))


def check_command(words: list[str], admin: str) -> None:
    settings = load_settings(settings_given(parser().parse_args(["serve", *words])), {}, None)
    assert settings.warnings == []
    assert settings.broker.admin_listeners == (admin,)


@pytest.mark.parametrize("what", MAKE)
def test_the_file_is_printed(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", what, "--admin", ADMIN]) == 0
    assert capsys.readouterr().out.rstrip("\n") == MAKE[what](ADMIN).rstrip("\n")
