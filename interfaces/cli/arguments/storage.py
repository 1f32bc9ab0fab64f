"""ottla storage ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_output, partition_numbers
from interfaces.terminal.values import at_least_one, not_negative
from interfaces.terminal.words import Commands, Parser, command, family

_STORE = "a data folder, of any engine, or the URL of a store"
_READS = (
    "Does not change the store; but after a power cut under flush=interval it is reset to the "
    "newest flush, as at a start of the broker."
)


def add(commands: Commands) -> None:
    storage = family(
        commands, "storage", "check, dump, copy and compact a data folder; stop its broker first"
    )
    info = command(
        storage, "info", "storage.info:info", "the contents and the size of a store", _READS
    )
    _add_store(info)
    add_output(info)

    verify = command(
        storage,
        "verify",
        "storage.verify:verify",
        "check all data of a store",
        "Checks pages, checksums, offsets, the timestamp index, snapshots and committed offsets; "
        "of files:// also segments, with both indexes of each; prints what a power cut could have "
        "caused. With a problem the exit code is 1. " + _READS,
    )
    _add_store(verify)
    add_output(verify)

    dump = command(storage, "dump", "storage.dump:dump", "print batches and records", _READS)
    _add_store(dump)
    dump.add_argument("-t", "--topic", metavar="TOPIC", help="this topic only")
    dump.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
    dump.add_argument(
        "--offset", type=not_negative, default=0, metavar="N", help="the first offset (0)"
    )
    dump.add_argument("-n", "--number", type=at_least_one, metavar="N", help="N batches")
    dump.add_argument("--records", action="store_true", help="print the records of each batch, too")
    dump.add_argument(*("-o", "--output"), choices=("text", "json"), default="text", help="(text)")

    copy = command(
        storage,
        "copy",
        "storage.copy:copy",
        "copy a store into a new one",
        "Writes TARGET.partial and renames it at the end; the next copy removes the rest of a "
        "killed one. From one engine into another, too: `files:///folder` as TARGET has segments "
        "as segment.bytes and segment.ms of each topic say. " + _READS,
    )
    _add_store(copy)
    copy.add_argument("target", metavar="TARGET", help="a folder (lmdb://) or URL; must not exist")

    compact = command(
        storage,
        "compact",
        "storage.copy:compact",
        "return free pages to the file system",
        "Needs disk space for a copy. If it is killed, either the old or the new store is there. "
        "Of files:// the rows only: segments have no free space.",
    )
    _add_store(compact)


def _add_store(parser: Parser) -> None:
    parser.add_argument("store", metavar="STORE", help=_STORE)
