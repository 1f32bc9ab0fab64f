from __future__ import annotations

import pytest

from interfaces.main.settings.environment import setting_name, settings_from_environment


@pytest.mark.parametrize(
    "variable, name",
    [("ABC_DEF", "abc.def"), ("ABC__DEF", "abc_def"), ("ABC___DEF", "abc-def")],
)
def test_names_are_spelled_as_in_kafkas_image(variable: str, name: str) -> None:
    assert setting_name(variable) == name


def test_our_prefix_wins_over_kafkas() -> None:
    found = settings_from_environment({"KAFKA_NUM_PARTITIONS": "2", "OTTLA_NUM_PARTITIONS": "3"})
    given = found["num.partitions"]
    assert (given.text, given.origin) == ("3", "environment OTTLA_NUM_PARTITIONS")


def test_jvm_variables_of_kafkas_image_are_ignored() -> None:
    assert settings_from_environment({"KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_OPTS": "x"}) == {}


def test_an_empty_variable_is_not_set() -> None:
    assert settings_from_environment({"OTTLA_NUM_PARTITIONS": "", "HOME": "/x"}) == {}


def test_the_cluster_id_of_kafkas_image_is_taken() -> None:
    found = settings_from_environment({"CLUSTER_ID": "abc", "OTTLA_CLUSTER_ID": "def"})
    assert found["cluster.id"].text == "def"
    assert settings_from_environment({"CLUSTER_ID": "abc"})["cluster.id"].text == "abc"
