"""Each of these faults is injected into the broker, and the simulation has to find it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from tests.simulation.compaction import has_compaction
from tests.simulation.faults.compaction import COMPACTION
from tests.simulation.faults.files import FILES
from tests.simulation.faults.groups import GROUPS
from tests.simulation.faults.log import LOG
from tests.simulation.faults.serving import SERVING
from tests.simulation.faults.starts import STARTS
from tests.simulation.faults.topics import TOPICS
from tests.simulation.faults.transactions import TRANSACTIONS
from tests.simulation.seeds import first_failure
from tests.simulation.stored_files import stores_files
from tests.simulation.transactions import FIRST_SEED, has_transactions
from tests.simulation.world import has_groups

#: One of these seeds has to find a fault.
SEEDS = 200
#: The fault itself fails: the code that it replaces has changed.
OUTDATED = re.compile("TypeError|AttributeError")

Patch = pytest.MonkeyPatch
FAULTS = SERVING + TOPICS + LOG + STARTS
#: Faults of groups need worlds with groups, and some are rare.
SEEDS_WITH_GROUPS = [seed for seed in range(300) if has_groups(seed)]
SEEDS_WITH_FILES = [seed for seed in range(3000) if stores_files(seed)]
SEEDS_WITH_COMPACTION = [seed for seed in range(300) if has_compaction(seed)]
SEEDS_WITH_TRANSACTIONS = [
    seed for seed in range(FIRST_SEED, FIRST_SEED + 300) if has_transactions(seed)
]
#: Seeds that found faults which the first ones do not find, tried first. When the simulation
#: changes, others find them, later: `pytest -s` prints which.
FIRST = {
    "abandoned_fetch_stays_in_purgatory": 10,
    "aborted_offsets_are_committed": 310,
    "aborted_records_survive_compaction": 355,
    "aborted_transactions_are_not_indexed": 306,
    "assignment_response_before_its_commit": 33,
    "batch_overtakes_a_lost_first_batch": 93,
    "changed_producer_is_not_in_the_snapshot": 14,
    "commit_becomes_an_abort": 388,
    "committed_offsets_are_lost": 305,
    "connection_stays_open_after_a_lost_batch_without_acks": 87,
    "decision_stays_after_a_failed_commit": 309,
    "deleted_offset_has_no_tombstone": 7,
    "deleted_records_are_found_by_time": 31,
    "dropping_that_waits_is_forgotten": 23,
    "duplicate_is_appended_twice": 12,
    "emptied_segments_come_back": 727,
    "epoch_is_not_persisted": 100,
    "expired_producers_stay_in_memory": 3,
    "expired_producers_stay_in_the_store": 3,
    "failed_passes_leave_their_files": 5663,
    "fenced_member_is_accepted": 29,
    "files_of_no_commit_stay": 255,
    "first_dirty_offset_is_not_persisted": 7,
    "folders_keep_their_names": 167,
    "generation_has_two_leaders": 51,
    "group_is_not_reloaded_after_a_failed_commit": 12,
    "index_keeps_transactions_without_marker": 367,
    "job_does_not_see_a_failed_commit": 23,
    "join_response_before_its_commit": 8,
    "last_sequence_of_a_producer_is_removed": 15,
    "live_records_are_removed": 10,
    "log_start_moves_only_once": 3,
    "markers_go_before_their_records": 367,
    "memory_of_a_lost_connection_is_not_released": 210,
    "offset_is_visible_before_its_commit": 24,
    "offsets_of_a_deleted_group_come_back": 21,
    "offsets_of_a_live_group_expire": 3,
    "offsets_of_a_topic_outlive_it": 27,
    "offsets_of_ended_transactions_stay_pending": 305,
    "older_records_of_a_key_stay": 10,
    "open_transactional_ids_expire": 315,
    "open_transactions_are_compacted": 355,
    "open_transactions_are_not_in_the_snapshot": 312,
    "open_transactions_do_not_time_out": 312,
    "parked_request_never_runs": 7,
    "partitions_are_visible_before_their_commit": 24,
    "pass_goes_on_after_a_failed_commit": 21,
    "pending_offsets_count_as_stable": 310,
    "pending_requests_do_not_fail": 8,
    "prepared_transactions_are_forgotten_at_start": 433,
    "producer_ids_are_not_reserved": 55,
    "producers_are_not_in_the_snapshot": 14,
    "producers_are_not_looked_up": 14,
    "recovery_loses_producers": 14,
    "replaced_batches_without_a_snapshot": 57,
    "replacement_that_waits_is_skipped": 64,
    "retention_does_not_see_deleted_records": 39,
    "retention_removes_the_batch_that_stays": 24,
    "revocation_is_not_requested": 2,
    "second_request_for_a_new_topic_gets_no_response": 34,
    "swaps_do_not_end": 7063,
    "timers_use_the_wall_clock": 18,
    "tombstones_go_before_their_delete_horizon": 99,
    "tombstones_have_no_retention": 19,
    "topic_exists_response_before_its_commit": 12,
    "transaction_index_is_cut_too_early": 306,
    "transaction_index_is_unknown_after_a_restart": 309,
    "unfinished_trimming_is_lost_at_a_restart": 14,
    "unreadable_partition_is_reset": 75,
    "unreadable_partition_is_returned_as_empty": 6,
    "unreadable_partition_raises_another_exception": 6,
    "validated_topic_exists_before_its_commit": 12,
    "waiting_fetch_is_not_woken": 41,
    "waiting_fetches_are_not_released_at_shutdown": 150,
}


# The rarest fault needs almost all seeds, which takes long on a busy machine.
@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_fault_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, range(SEEDS), monkeypatch)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", GROUPS, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_groups_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, SEEDS_WITH_GROUPS, monkeypatch)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", COMPACTION, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_compaction_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, SEEDS_WITH_COMPACTION, monkeypatch)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", TRANSACTIONS, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_transactions_is_found(
    fault: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    check_found(fault, SEEDS_WITH_TRANSACTIONS, monkeypatch)


@pytest.mark.parametrize("fault", FILES, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_files_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, SEEDS_WITH_FILES, monkeypatch)


def check_found(fault: Callable[[Patch], None], seeds: Sequence[int], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    name = fault.__name__
    found = first_failure([FIRST.get(name, seeds[0]), *seeds])
    assert found is not None
    assert not OUTDATED.search(repr(found.failure)), found.failure
    print(f"{name}: seed {found.seed}: {found.failure}")
