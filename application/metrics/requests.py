"""What is read of requests: how many, how large, how long, and how they failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from application.metrics.families import jmx, own
from application.metrics.families.durations import quantile_ns, seconds
from application.metrics.families.family import Reading, Sample
from application.metrics.families.request_counts import PLACES, STAGES, RequestCounts

QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)

#: API, version, and what was counted of it.
Counted = tuple[str, int, RequestCounts]


class RequestReadings:
    def __init__(
        self, counted: Callable[[], Iterable[Counted]], error_names: Mapping[int, str]
    ) -> None:
        self._counted = counted
        self._error_names = error_names

    def read(self) -> Iterator[Reading]:
        known = list(self._counted())
        yield own.UNANSWERED, _unanswered(known)
        counted = sorted((one for one in known if one[2].requests), key=lambda one: one[:2])
        yield jmx.REQUESTS, [((api, str(v)), counts.requests) for api, v, counts in counted]
        of_api: dict[str, list[RequestCounts]] = {}
        for api, _, counts in counted:
            of_api.setdefault(api, []).append(counts)
        yield own.REQUEST_BYTES, _sums(of_api, "bytes_in")
        yield own.RESPONSE_BYTES, _sums(of_api, "bytes_out")
        yield jmx.REQUEST_ERRORS, list(self._errors(of_api))
        yield jmx.TOTAL_TIME_MS, list(_quantiles(of_api))
        for api, versions in of_api.items():
            yield own.REQUEST_TIME, [((api,), seconds(*_stage(versions, "total")))]
        yield own.REQUEST_TIME, []
        for api, versions in of_api.items():
            yield (
                own.STAGE_TIME,
                [((api, stage), seconds(*_stage(versions, stage))) for stage in STAGES],
            )
        yield own.STAGE_TIME, []

    def _errors(self, of_api: dict[str, list[RequestCounts]]) -> Iterator[Sample]:
        for api, versions in of_api.items():
            sums: dict[int, int] = {}
            for counts in versions:
                for code, count in counts.errors.items():
                    sums[code] = sums.get(code, 0) + count
            for code, count in sums.items():
                yield (api, self._error_names[code]), count


def _unanswered(known: Iterable[Counted]) -> list[Sample]:
    sums: dict[str, int] = {}
    for api, _, counts in known:
        sums[api] = sums.get(api, 0) + counts.unanswered
    return [((api,), count) for api, count in sorted(sums.items())]


def _sums(of_api: dict[str, list[RequestCounts]], field: str) -> list[Sample]:
    return [
        ((api,), sum(getattr(counts, field) for counts in versions))
        for api, versions in of_api.items()
    ]


def _stage(versions: list[RequestCounts], name: str) -> tuple[list[int], int]:
    places, total_ns = [0] * PLACES, 0
    for counts in versions:
        of_version, sum_ns = counts.stage(name)
        places = list(map(int.__add__, places, of_version))
        total_ns += sum_ns
    return places, total_ns


def _quantiles(of_api: dict[str, list[RequestCounts]]) -> Iterator[Sample]:
    for api, versions in of_api.items():
        places, _ = _stage(versions, "total")
        for quantile in QUANTILES:
            yield (api, str(quantile)), quantile_ns(places, quantile) / 1e6
