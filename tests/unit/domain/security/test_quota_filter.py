from __future__ import annotations

from domain.security.quota import DEFAULT, QuotaEntity
from domain.security.quota_filter import QuotaFilter

USER = QuotaEntity("ann")


def test_a_filter_without_components_fits_all_or_strictly_none() -> None:
    assert QuotaFilter([], strict=False).fits(USER)
    assert not QuotaFilter([], strict=True).fits(USER)


def test_an_exact_filter_does_not_fit_the_default() -> None:
    exactly = QuotaFilter([("user", 0, "ann")], strict=False)
    default = QuotaFilter([("user", 1, None)], strict=False)
    entities = [USER, QuotaEntity(DEFAULT), QuotaEntity("ann", DEFAULT), QuotaEntity(None, "ann")]
    assert [exactly.fits(one) for one in entities] == [True, False, True, False]
    assert [default.fits(one) for one in entities] == [False, True, False, False]
