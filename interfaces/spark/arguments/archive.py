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
        "Goes on where it ended, killed or not; folders are topic=NAME/date=YYYY-MM-DD.",
    )
    archive.add_argument("topics", nargs="*", metavar="TOPIC")
    archive.add_argument("--pattern", metavar="REGEX", help="topics by name, new ones too")
    archive.add_argument("--to", required=True, metavar="FOLDER", help="where the files go")
    archive.add_argument(
        "--checkpoint", metavar="FOLDER", help="where it notes how far it came (TO/_checkpoint)"
    )
    archive.add_argument(
        "--every",
        type=seconds,
        metavar="TIME",
        help="go on until Ctrl-C, with new files each TIME (without: what is there now, and end)",
    )
    archive.add_argument(
        "--max-records", type=at_least_one, metavar="N", help="at once, so that memory is bounded"
    )
    archive.add_argument(
        "--fewer-files",
        action="store_true",
        help="one file for each topic and day in a batch, and not for each partition: a shuffle",
    )
    archive.add_argument(
        "--json-schema",
        metavar="COLUMNS",
        help="of values that are JSON, like 'id BIGINT, name STRING': one more column, `json`",
    )
    archive.add_argument(
        "--allow-loss", action="store_true", help="go on where records are gone before they came"
    )
    add_broker(archive)
    add_result(archive)

    restore = command(
        commands,
        "restore",
        "jobs.restore:run",
        "an archive back to topics",
        "Keys, values, headers, times, partitions and the order in them come back; offsets begin "
        "anew. Topics that are not there are created.",
    )
    restore.add_argument("archive", metavar="FOLDER", help="what `archive --to` wrote")
    restore.add_argument("--topic", action="append", metavar="NAME", help="only these")
    restore.add_argument(
        "--from", dest="first", metavar="DATE", help="from this day, like 2026-11-22"
    )
    restore.add_argument("--until", dest="last", metavar="DATE", help="to that day, with it")
    restore.add_argument("--prefix", default="", help="put before the names of the topics")
    restore.add_argument("--append", action="store_true", help="to topics that have records, too")
    add_broker(restore)
    add_result(restore)
