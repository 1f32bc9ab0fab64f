"""An archive of Spark's loaded classes, with which a JVM starts in half of the CPU time.

`python -m tests.e2e.prepare` makes it by a small run of Spark; other JVMs ignore it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.e2e.line_process import cache_folder

#: Tests are short: less compilation saves a quarter of the start and warm-up of a JVM.
_SHORT_RUNS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"


def java_options() -> str:
    archive = _archive()
    return _SHORT_RUNS + (f" -XX:SharedArchiveFile={archive}" if archive.exists() else "")


def make() -> None:
    archive = _archive()
    if archive.exists():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        new = Path(folder) / archive.name
        options = f"{_SHORT_RUNS} -XX:ArchiveClassesAtExit={new}"
        with suppress(subprocess.TimeoutExpired):
            # The JVM, which ends last, has the pipe too.
            subprocess.run(
                [sys.executable, "-m", __spec__.name, folder],
                env={**os.environ, "JDK_JAVA_OPTIONS": options},
                capture_output=True,
                timeout=300,
            )
        if new.exists():
            new.replace(archive)


def _archive() -> Path:
    try:
        spark = version("pyspark")
    except PackageNotFoundError:  # the tests skip
        spark = ""
    java = Path(os.environ.get("JAVA_HOME") or shutil.which("java") or "wheel").resolve()
    name = "-".join([spark, *java.parts[1:]])
    return cache_folder() / "spark-classes" / f"{name}.jsa"


def _use_spark(folder: Path) -> None:
    """Loads the classes of a data source in Python, of queries, Parquet and a stream."""
    from interfaces.main.arguments import parser
    from interfaces.spark.jobs.analyze.analysis import run
    from interfaces.spark.session import open_session
    from tests.unit.interfaces.spark.segments.folder import DataFolder

    data = DataFolder(folder / "data")
    data.path.mkdir()
    (partition,) = data.topic("t")
    data.append(partition, ["1", "2"])
    session = open_session("classes", "local[2]", [("spark.local.dir", str(folder / "local"))])
    run(parser().parse_args(["spark", "analyze", "--data", str(data.path)]))
    session.range(9).write.parquet(str(folder / "rows"))
    stream = session.readStream.schema("id BIGINT").parquet(str(folder / "rows"))
    written = stream.writeStream.trigger(availableNow=True).format("parquet")
    query = written.start(str(folder / "copy"), checkpointLocation=str(folder / "checkpoint"))
    query.awaitTermination(60)
    session.stop()


if __name__ == "__main__":
    _use_spark(Path(sys.argv[1]))
