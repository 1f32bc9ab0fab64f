from __future__ import annotations

import configparser
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from application.metrics.all_families import FAMILIES
from application.metrics.families.family import Kind
from interfaces.cli.generate import MAKE
from interfaces.cli.generate_services import systemd_unit
from interfaces.main.__main__ import main
from interfaces.main.arguments import parser, settings_given
from interfaces.main.settings.sources import load_settings

ROOT = Path(__file__).parents[4]
ADMIN = "192.0.2.9:8082"
#: As they stand in a query: a histogram only by its parts.
TOLD = {
    name
    for family in FAMILIES
    for name in (
        [f"{family.name}_{part}" for part in ("bucket", "sum", "count")]
        if family.kind is Kind.HISTOGRAM
        else [family.name]
    )
}
#: What a query is made of besides: functions, labels, words.
NAME = re.compile(r"\b((?:ottla|kafka|redpanda|kminion|process|python)_\w+)\b")


def queries() -> list[str]:
    board = json.loads(MAKE["grafana"](ADMIN))
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    return found + [one["query"] for one in board["templating"]["list"][1:]]


def alerts() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(MAKE["alerts"](ADMIN))["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


@pytest.mark.parametrize("query", queries())
def test_every_metric_that_the_dashboard_asks_for_is_told(query: str) -> None:
    asked = NAME.findall(query)
    assert asked and set(asked) <= TOLD


def test_panels_do_not_lie_over_each_other() -> None:
    board = json.loads(MAKE["grafana"](ADMIN))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_is_told(rule: dict[str, Any]) -> None:
    asked = set(NAME.findall(rule["expr"]))
    assert asked <= TOLD and (asked or rule["alert"] == "OttlaDown")
    assert rule["expr"].count("(") == rule["expr"].count(")")
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"]


def test_the_lag_is_the_value_of_the_alert_about_it() -> None:
    [rule] = [rule for rule in alerts() if rule["alert"] == "OttlaGroupFallsBehind"]
    # `and` keeps the value of its left side.
    value, _, _ = rule["expr"].partition(" and ")
    assert "kafka_consumergroup_lag_sum" in value and "deriv" not in value
    assert "deriv" in rule["expr"]


def test_prometheus_is_told_where_the_broker_is() -> None:
    config = yaml.safe_load(MAKE["prometheus"](ADMIN))
    [job] = config["scrape_configs"]
    assert job["static_configs"] == [{"targets": [ADMIN]}]
    assert config["rule_files"] == ["ottla-alerts.yml"]


@pytest.mark.parametrize("every", ["0.0.0.0", "[::]"])
def test_every_address_is_none_to_ask(every: str) -> None:
    text = MAKE["prometheus"](f"{every}:8082")
    [job] = yaml.safe_load(text)["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["localhost:8082"]}]
    assert f"# {every.strip('[]')} is every address" in text


def test_the_unit_runs_a_command_that_is_understood() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read_string(MAKE["systemd"](ADMIN))
    command, *words = unit["Service"]["ExecStart"].split()
    assert command.startswith("/") and words[0] == "serve"
    assert unit["Service"]["Type"] == "notify"
    _understood(words[1:], ADMIN)


@pytest.mark.parametrize("in_a_home", [False, True])
def test_the_unit_runs_the_command_of_this_venv_wherever_it_is(
    tmp_path: Path, in_a_home: bool
) -> None:
    (tmp_path / "my venv 100%").mkdir()
    (tmp_path / "my venv 100%/ottla").touch()
    homes = [tmp_path] if in_a_home else []
    unit = systemd_unit(ADMIN, tmp_path / "my venv 100%/python", homes).splitlines()
    assert f'ExecStart="{tmp_path}/my venv 100%%/ottla" serve ' in "\n".join(unit)
    assert ("DynamicUser=yes" in unit) is not in_a_home
    assert (f"User={os.getuid()}" in unit) is in_a_home
    assert f"ProtectHome={'read-only' if in_a_home else 'yes'}" in unit


def test_the_compose_file_publishes_the_ports_of_the_readme() -> None:
    service = yaml.safe_load(MAKE["compose"](ADMIN))["services"]["ottla"]
    ports = ("9092:9094", "8082:8082")
    assert service["ports"] == [f"{host}:{one}" for one in ports for host in ("127.0.0.1", "[::1]")]
    [advertised] = [word for word in service["command"] if "advertised.listeners" in word]
    assert advertised.endswith("INSIDE://ottla:9092,OUTSIDE://localhost:9092")


def test_the_image_is_built_from_what_the_wheel_needs_and_nothing_else() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    sources = needed["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    # What hatchling adds by itself.
    sources += ["LICENSE", "README.md", "pyproject.toml"]
    first, *rest = [
        line
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert (first, sorted(rest)) == ("*", sorted(["**/__pycache__", *(f"!{s}" for s in sources)]))


def test_the_compose_file_runs_a_command_that_is_understood() -> None:
    service = yaml.safe_load(MAKE["compose"](ADMIN))["services"]["ottla"]
    assert service["command"][0] == "serve"
    _understood(service["command"][1:], "0.0.0.0:8082")


def _understood(words: list[str], admin: str) -> None:
    settings = load_settings(settings_given(parser().parse_args(["serve", *words])), {}, None)
    assert settings.warnings == []
    assert settings.broker.admin_listeners == (admin,)


@pytest.mark.parametrize("what", MAKE)
def test_it_is_printed(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", what, "--admin", ADMIN]) == 0
    assert capsys.readouterr().out.rstrip("\n") == MAKE[what](ADMIN).rstrip("\n")
