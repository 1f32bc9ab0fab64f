from __future__ import annotations

import pytest

from domain.errors import InvalidRecord
from domain.groups.consumer.metadata_record import read_epoch, read_group_id

#: As Kafka 4.2 wrote them: a group epoch with and without a hash of topics, a member.
GROUP_KEY = bytes.fromhex("0003000e") + b"consumer-group"
EPOCH, EPOCH_AND_HASH = (
    bytes.fromhex("00000000000200"),
    bytes.fromhex("000000000001010008123e18a82f5b0f2a"),
)
MEMBER_KEY = bytes.fromhex("0005000e") + b"consumer-group" + bytes.fromhex("0002") + b"m1"


def test_the_group_of_a_key() -> None:
    assert read_group_id(GROUP_KEY) == read_group_id(MEMBER_KEY) == "consumer-group"


def test_the_epoch_of_a_group() -> None:
    assert (read_epoch(EPOCH), read_epoch(EPOCH_AND_HASH)) == (2, 1)


@pytest.mark.parametrize("length", range(len(EPOCH_AND_HASH)))
def test_an_epoch_that_is_cut_off_is_refused(length: int) -> None:
    with pytest.raises(InvalidRecord):
        read_epoch(EPOCH_AND_HASH[:length])


@pytest.mark.parametrize(
    "raw", ["00010000000200", "0000000000020000", "000000000002ffffffffffff00"]
)
def test_another_version_or_length_is_refused(raw: str) -> None:
    with pytest.raises(InvalidRecord):
        read_epoch(bytes.fromhex(raw))
