"""Opens a Spark session, on this machine unless another master is given."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from interfaces.spark.java import java_home
from interfaces.spark.jvm import hush, is_loud, start_jvm
from interfaces.spark.memory import for_the_jvm_mb
from interfaces.spark.query.failures import JobFailed, WrongOption, cause_of
from interfaces.terminal.addresses import addresses
from interfaces.terminal.reachable import BrokerUnreachable, first_reachable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_INSTALLED = "Spark is not installed; in a checkout of Ottla: pip install '.[spark]' (1 GB)"
DEFAULT_MASTER = "local[*]"
_MASTER = re.compile(
    r"local(\[([1-9]\d*|\*)(,[1-9]\d*)?\])?|local-cluster\[.*\]|yarn|(spark|k8s)://.+"
)
_STANDALONE = "spark://"
_LOGGING = Path(__file__).with_name("log4j2.properties")

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}


#: Set by Ctrl-C: a session that is starting stops.
ending = threading.Event()
#: Another thread stops them.
_opened: list[SparkSession] = []


def open_session(
    name: str, master: str = DEFAULT_MASTER, settings: Sequence[tuple[str, str]] = ()
) -> SparkSession:
    """The session of this process; `settings` of Spark win over the defaults here."""
    if not _MASTER.fullmatch(master):
        raise WrongOption(f"{master!r} is not a Spark master like local[2] or spark://host:7077")
    require_spark()
    _require_master(master)
    prepare_environment(os.environ)
    from pyspark.sql import SparkSession

    all_settings = {**_settings(master), **dict(settings)}
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in all_settings.items():
        builder = builder.config(key, value)
    try:
        start_jvm({"spark.master": master, "spark.app.name": name, **all_settings})
        session = builder.getOrCreate()
    except Exception as failure:  # py4j's classes are unknown before the JVM runs
        raise JobFailed(f"Spark did not start: {cause_of(failure)}") from failure
    hush(session.sparkContext)
    _opened.append(session)
    if ending.is_set():
        session.stop()
        raise KeyboardInterrupt
    return session


def _require_master(master: str) -> None:
    """Spark fails only after a minute, without the reason."""
    place = master.removeprefix(_STANDALONE)
    if place == master:
        return
    try:
        first_reachable(addresses(place), what="Spark master")
    except ValueError as wrong:
        raise WrongOption(f"{master!r} is not a Spark master: {wrong}") from None
    except BrokerUnreachable as why:
        raise JobFailed(str(why)) from None


def opened() -> SparkSession | None:
    """The last session that was opened here; it may be stopped."""
    return _opened[-1] if _opened else None


def is_running() -> bool:
    """Whether this process has a running session."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def require_spark() -> None:
    if any(find_spec(module) is None for module in ("pyspark", "pyarrow", "pandas")):
        raise JobFailed(NOT_INSTALLED)


def prepare_environment(environment: dict[str, str] | os._Environ[str]) -> None:
    """For the JVM and the worker processes: Java, this Python, and our modules."""
    environment["JAVA_HOME"] = str(java_home(environment, _cache(environment)))
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    path = [root(), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path))


def root() -> str:
    """The folder of our top-level package: a checkout, or site-packages."""
    return str(Path(__file__).resolve().parents[len(__name__.split(".")) - 1])


def _settings(master: str) -> dict[str, str]:
    settings = {
        **_SETTINGS,
        "spark.log.level": "ERROR" if is_loud() else "OFF",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        # Executors on other machines have the modules at the same path.
        "spark.executorEnv.PYTHONPATH": root(),
    }
    if master.startswith("local"):
        settings.update(_LOCAL_SETTINGS)
        settings["spark.driver.memory"] = f"{for_the_jvm_mb()}m"
        settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={_LOGGING}"
    return settings


def _cache(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ottla"
