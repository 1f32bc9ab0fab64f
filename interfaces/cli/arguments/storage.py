"""ottla storage ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_output, partition_numbers
from interfaces.terminal.values import at_least_one, not_negative
from interfaces.terminal.words import Commands, Parser, command, family

_STORE = "a data folder, or the URL of a store"
_READS = (
    "The store stays as it is; but after a power cut under flush=interval it goes back to its "
    "newest flush, as at a start of the broker."
)


def add(commands: Commands) -> None:
    storage = family(
        commands, "storage", "look at, check, copy and shrink a data folder; no broker may have it"
    )
    info = command(
        storage, "info", "storage.info:info", "what a store holds, and how large it is", _READS
    )
    _add_store(info)
    add_output(info)

    verify = command(
        storage,
        "verify",
        "storage.verify:verify",
        "check all of a store",
        "Pages, checksums, offsets, the index by time, snapshots of producers, committed offsets; "
        "and what a power cut could have done. The exit code is 1 if something is wrong. " + _READS,
    )
    _add_store(verify)
    add_output(verify)

    dump = command(
        storage, "dump", "storage.dump:dump", "print batches, or the records in them", _READS
    )
    _add_store(dump)
    dump.add_argument("-t", "--topic", metavar="TOPIC", help="only this topic")
    dump.add_argument(
        *("-p", "--partitions"), type=partition_numbers, metavar="0,2-3", help="only these"
    )
    dump.add_argument(
        "--offset", type=not_negative, default=0, metavar="N", help="from this offset on (0)"
    )
    dump.add_argument("-n", "--number", type=at_least_one, metavar="N", help="so many batches")
    dump.add_argument("--records", action="store_true", help="also the records of each batch")
    dump.add_argument(*("-o", "--output"), choices=("text", "json"), default="text", help="(text)")

    copy = command(
        storage,
        "copy",
        "storage.copy:copy",
        "copy a store into a new one, maybe of another engine",
        "It is made in TARGET.partial and takes its name when it is whole. What a copy that was "
        "killed has left there goes with the next one. " + _READS,
    )
    _add_store(copy)
    copy.add_argument("target", metavar="TARGET", help="where to; it must not be there yet")

    compact = command(
        storage,
        "compact",
        "storage.copy:compact",
        "give the pages that are free back to the file system",
        "Needs room for a copy while it works; killed at any moment, it leaves the old store or "
        "the new one.",
    )
    _add_store(compact)


def _add_store(parser: Parser) -> None:
    parser.add_argument("store", metavar="STORE", help=_STORE)
