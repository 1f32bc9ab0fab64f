"""A stream with `exactlyOnce=true` whose driver is killed, and its next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.broker_process import wait_until
from tests.e2e.conftest import Broker, new_topic
from tests.e2e.spark.kafka.topics import fill, read_committed
from tests.e2e.spark.sink import stopping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

ROWS = 50
PATIENCE_S = 60
RUN = "import sys; from tests.e2e.spark.sink.stopping import main; main(*sys.argv[1:])"


@pytest.mark.parametrize("point", stopping.POINTS)
def test_each_row_is_committed_once(
    spark: SparkSession, spark_broker: Broker, tmp_path: Path, checkpoint: str, point: str
) -> None:
    servers = spark_broker.bootstrap
    source, topic = new_topic(spark_broker, 2), new_topic(spark_broker, 2)
    rows = [{"value": b"%d" % n, "partition": n % 2} for n in range(2 * ROWS)]
    fill(servers, source, rows)
    arguments = (servers, source, topic, checkpoint)
    environment = os.environ | {"FOLDER": str(tmp_path), "POINT": point}
    driver = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], env=environment, start_new_session=True
    )
    stopped = tmp_path / "pid"
    # Task 0 has committed its rows, and task 1 those of the last point.
    before = 2 * ROWS if point == "commit_transaction" else ROWS
    try:
        wait_until(stopped.exists, PATIENCE_S)
        wait_until(lambda: len(read_committed(servers, topic)) == before, PATIENCE_S)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    os.kill(int(stopped.read_text("ascii")), signal.SIGKILL)

    stopping.copy(spark, "ottla", *arguments)
    assert sorted(read_committed(servers, topic)) == sorted(row["value"] for row in rows)
    fill(servers, source, [b"more"])
    stopping.copy(spark, "ottla", *arguments)
    assert sorted(read_committed(servers, topic)) == sorted(
        [*(row["value"] for row in rows), b"more"]
    )
