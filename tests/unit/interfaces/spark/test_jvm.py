"""What the JVM says: it never waits for a reader, and only its reason is told."""

from __future__ import annotations

import os

import pytest

from interfaces.spark.jvm import Said, reason_in


def test_no_writer_waits_and_the_end_is_kept() -> None:
    said = Said()
    for number in range(3_000):
        os.write(said.writes, b"%04d" % number + b"x" * 1000)  # far more than a pipe holds
    said.written()
    told = said.all()
    assert len(told) == 64 * 1024
    assert "2999xxx" in told


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "WARNING: Using incubator modules: jdk.incubator.vector\n"
            "Error: Invalid maximum heap size: -Xmxabc\n"
            "Could not create the Java Virtual Machine.\n",
            "Invalid maximum heap size: -Xmxabc",
        ),
        (
            'Exception in thread "main" org.apache.spark.SparkException: no such master\n'
            "\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)\n",
            "no such master",
        ),
        ("", ""),
    ],
)
def test_why_a_jvm_did_not_start(said: str, reason: str) -> None:
    assert reason_in(said) == reason
