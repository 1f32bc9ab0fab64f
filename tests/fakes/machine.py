"""Simulates a reboot while a store is open: the kernel has another boot id."""

from __future__ import annotations

from pathlib import Path

from infrastructure.storage.lmdb.recovery_point import SLOT_BYTES, UNSYNCED_FILE, Slot, unpack_slot

ANOTHER_BOOT = b"00000000-0000-0000-0000-000000000000"


def restart_machine(folder: Path) -> None:
    """Dates the files of the folder before the reboot."""
    file = folder / UNSYNCED_FILE
    if not file.exists():
        return
    packed = file.read_bytes()
    slots = [unpack_slot(packed[at : at + SLOT_BYTES]) for at in (0, SLOT_BYTES)]
    file.write_bytes(
        b"".join(
            Slot(slot.number, ANOTHER_BOOT, slot.root).pack() if slot else bytes(SLOT_BYTES)
            for slot in slots
        )
    )
