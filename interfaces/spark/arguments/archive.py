"""ottla spark archive ... and ottla spark restore ..."""

from __future__ import annotations

from interfaces.spark.arguments.common import add_result, command
from interfaces.terminal.values import at_least_one, seconds
from interfaces.terminal.words import Commands, add_broker


def add(commands: Commands) -> None:
    archive = command(
        commands,
        "archive",
        "jobs.archive:run",
        "topics to Parquet, each record exactly once",
        "Continues where the last run ended, also after a kill; folders are "
        "topic=NAME/date=YYYY-MM-DD.",
    )
    archive.add_argument("topics", nargs="*", metavar="TOPIC")
    archive.add_argument(
        "--pattern", metavar="REGEX", help="topics by an RE2 expression, new ones too"
    )
    archive.add_argument("--to", required=True, metavar="FOLDER", help="folder of the archive")
    archive.add_argument(
        "--checkpoint", metavar="FOLDER", help="checkpoint of the query (TO/_checkpoint)"
    )
    archive.add_argument(
        "--every",
        type=seconds,
        metavar="TIME",
        help="run until Ctrl-C, with new files each TIME (default: archive records and exit)",
    )
    archive.add_argument(
        "--max-records", type=at_least_one, metavar="N", help="records of a batch (200000)"
    )
    archive.add_argument(
        "--fewer-files",
        action="store_true",
        help="one file for each topic and day of a batch, not for each partition; needs a shuffle",
    )
    archive.add_argument(
        "--json-schema",
        metavar="COLUMNS",
        help="parse JSON values into a column `json`, like 'id BIGINT, name STRING'",
    )
    archive.add_argument(
        "--allow-loss",
        action="store_true",
        help="continue if records were deleted before they were archived",
    )
    add_broker(archive)
    add_result(archive)

    restore = command(
        commands,
        "restore",
        "jobs.restore:run",
        "an archive back to topics",
        "Restores keys, values, headers, timestamps, partitions and their order; offsets start at "
        "0. Creates missing topics.",
    )
    restore.add_argument("archive", metavar="FOLDER", help="the folder of `archive --to`")
    restore.add_argument("--topic", action="append", metavar="NAME", help="only these")
    restore.add_argument("--from", dest="first", metavar="DATE", help="first day, like 2026-11-22")
    restore.add_argument("--until", dest="last", metavar="DATE", help="last day, inclusive")
    restore.add_argument("--prefix", default="", help="prefix of the restored topics' names")
    restore.add_argument(
        "--append", action="store_true", help="also restore to topics that have records"
    )
    add_broker(restore)
    add_result(restore)
